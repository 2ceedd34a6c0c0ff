"""What ingest makes of clicks: totals, rollups, sketches and raw events, on every engine."""

from pathlib import Path
from typing import Any

import pytest

from laconic.clicks.click import Visitor
from laconic.clicks.ingest import Ingest
from laconic.clicks.journal import SEGMENT_HEAD, Journal
from laconic.clicks.store import ClickStore
from laconic.clock import DAY, HOUR, MINUTE
from laconic.storage.database import Database
from laconic.storage.months import begin_of, month_from_name, month_of
from tests.clicks.records import MOMENT, click_on, files, flip_byte, open_ingest, segments

pytestmark = pytest.mark.anyio

FIREFOX = b"Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
IPHONE = (
    b"Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    b" Version/18.1 Mobile/15E148 Safari/604.1"
)
GOOGLEBOT = b"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
ANNA = Visitor(b"193.99.144.80", FIREFOX, b"https://news.example/a?b=c", b"de-DE,de;q=0.9")
BERT = Visitor(b"193.99.144.81", IPHONE, b"", b"fr")
BOT = Visitor(b"66.249.66.1", GOOGLEBOT, b"", b"")


def write(journal: Journal, *clicks: tuple[int, int, Visitor]) -> None:
    journal.write(clicks)


async def rows(database: Database, sql: str, *args: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in await database.fetch_all(sql, *args)]


async def events(database: Database, month: int, columns: str) -> list[tuple[Any, ...]]:
    found = await database.fetch_events(
        month,
        f"SELECT {columns} FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2 ORDER BY clicked_at, id",
        begin_of(month),
        begin_of(month + 1),
    )
    return [tuple(row) for row in found]


def present(folder: Path, store: ClickStore, moment: int = MOMENT + HOUR) -> Ingest:
    """An ingest that believes that it is an hour after the first click."""
    return open_ingest(folder, store, now=lambda: moment)


async def test_totals_tell_bots_apart(folder: Path, store: ClickStore, database: Database) -> None:
    """A bot's click counts, and counts as a bot's; the workspace has the sum of its links."""
    journal = Journal(folder)
    write(journal, (MOMENT, 101, ANNA), (MOMENT + 1, 101, BOT), (MOMENT + 2, 102, BERT))
    await present(folder, store).drain_once()
    assert await rows(database, "SELECT link_id, clicks, bot_clicks FROM link_total ORDER BY link_id") == [
        (101, 2, 1),
        (102, 1, 0),
    ]
    workspace = await rows(
        database, "SELECT workspace_id, clicks, bot_clicks, last_clicked_at FROM workspace_total"
    )
    assert workspace == [(1, 3, 1, MOMENT + 2)]
    journal.close()


async def test_quarters_add_up_over_batches(folder: Path, store: ClickStore, database: Database) -> None:
    """A quarter that was there grows; a new one is made."""
    journal = Journal(folder)
    ingest = present(folder, store)
    quarter = MOMENT - MOMENT % (15 * MINUTE)
    write(journal, (quarter, 101, ANNA), (quarter + 15 * MINUTE - 1, 101, BERT))
    await ingest.drain_once()
    write(journal, (quarter + MINUTE, 101, BOT), (quarter + 15 * MINUTE, 102, ANNA))
    await ingest.drain_once()
    assert await rows(
        database, "SELECT link_id, quarter, clicks, bot_clicks FROM click_quarter ORDER BY 1, 2"
    ) == [
        (101, quarter, 3, 1),
        (102, quarter + 15 * MINUTE, 1, 0),
    ]
    assert await rows(database, "SELECT quarter, clicks, bot_clicks FROM workspace_quarter ORDER BY 1") == [
        (quarter, 3, 1),
        (quarter + 15 * MINUTE, 1, 0),
    ]
    journal.close()


async def test_days_know_where_clicks_came_from(folder: Path, store: ClickStore, database: Database) -> None:
    """Each dimension has a row for each value, the unknown one too."""
    journal = Journal(folder)
    write(
        journal, (MOMENT, 101, ANNA), (MOMENT + 1, 101, ANNA), (MOMENT + 2, 101, BERT), (MOMENT + 3, 101, BOT)
    )
    await present(folder, store).drain_once()
    for table in ("click_daily WHERE link_id = 101", "workspace_daily WHERE workspace_id = 1"):
        found = await rows(database, f"SELECT dimension, value, day, clicks, bot_clicks FROM {table}")
        assert {row[2] for row in found} == {MOMENT // DAY}
        daily = {(row[0], row[1]): row[3:] for row in found}
        assert daily["browser", "Firefox"] == (2, 0)
        assert daily["country", "DE"] == (3, 0)
        assert daily["device_type", "mobile"] == (1, 0)
        assert daily["device_type", "bot"] == (1, 1)
        assert daily["referer", "news.example"] == (2, 0)
        assert daily["referer", ""] == (2, 1)
        assert daily["language", "fr"] == (1, 0)
        for dimension in {key[0] for key in daily}:
            assert sum(row[0] for key, row in daily.items() if key[0] == dimension) == 4
    journal.close()


async def test_visitors_are_counted_once_a_day(folder: Path, store: ClickStore, database: Database) -> None:
    """Over batches and links; bots are no visitors; the next day everybody is new."""
    journal = Journal(folder)
    ingest = present(folder, store, MOMENT + 2 * DAY)
    write(journal, (MOMENT, 101, ANNA), (MOMENT, 101, BERT), (MOMENT, 101, BOT), (MOMENT, 102, ANNA))
    await ingest.drain_once()
    write(journal, (MOMENT + 1, 101, ANNA), (MOMENT + DAY, 101, ANNA))
    await ingest.drain_once()
    found = await rows(database, "SELECT scope, scope_id, day, visitors FROM click_unique ORDER BY 1, 2, 3")
    day = MOMENT // DAY
    assert sorted(found) == [
        ("link", 101, day, 2),
        ("link", 101, day + 1, 1),
        ("link", 102, day, 1),
        ("workspace", 1, day, 2),
        ("workspace", 1, day + 1, 1),
    ]
    journal.close()


async def test_raw_events_hold_what_may_be_kept(folder: Path, store: ClickStore, database: Database) -> None:
    """One row a click: the address is cut, what is unknown is null."""
    journal = Journal(folder)
    write(journal, (MOMENT, 101, ANNA), (MOMENT + 1, 102, BOT))
    await present(folder, store).drain_once()
    columns = "short_link_id, workspace_id, clicked_at, ip_address, user_agent, country, device_type, browser, language"
    anna, bot = await events(database, month_of(MOMENT), columns)
    assert anna[:6] == (101, 1, MOMENT, "193.99.144.0/24", FIREFOX.decode(), "DE")
    assert anna[6:8] == ("desktop", "Firefox")
    assert bot[6] == "bot"
    assert bot[8] is None
    hashes = await events(database, month_of(MOMENT), "visitor_hash")
    assert len({bytes(row[0]) for row in hashes}) == 2
    journal.close()


async def test_the_turn_of_the_year_parts_a_batch(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """One batch, two months, and a clock that goes back between them: every click lands in its own month once."""
    december = month_from_name("2025-12")
    turn = begin_of(december + 1)
    journal = Journal(folder)
    write(journal, (turn - 1, 101, ANNA), (turn, 101, ANNA), (turn - 2, 101, BERT), (turn + 1, 102, BOT))
    await present(folder, store, turn + HOUR).drain_once()
    assert await events(database, december, "clicked_at") == [(turn - 2,), (turn - 1,)]
    assert await events(database, december + 1, "clicked_at") == [(turn,), (turn + 1,)]
    journal.close()


async def test_a_time_ahead_of_the_clock_is_clamped(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """A clock that was wrong and is right again: the click counts now, and somebody can see that it happened."""
    journal = Journal(folder)
    write(journal, (MOMENT + 40 * DAY, 101, ANNA), (MOMENT, 101, BERT))
    ingest = present(folder, store, MOMENT + 5)
    assert await ingest.drain_once() == 2
    assert ingest.numbers.clamped == 1
    assert await events(database, month_of(MOMENT), "clicked_at") == [(MOMENT,), (MOMENT + 5,)]
    journal.close()


async def test_clicks_of_unknown_links_are_told(folder: Path, store: ClickStore) -> None:
    """As after a restore: they are in no report, and a number says how many."""
    journal = Journal(folder)
    click_on(journal, 999, count=5)
    ingest = open_ingest(folder, store)
    await ingest.drain_once()
    assert ingest.numbers.unknown_links == 5
    journal.close()


async def test_a_segment_of_another_format_is_set_aside(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """Nothing of it is counted or deleted; what follows in the next segment is counted."""
    journal = Journal(folder, segment_bytes=4_096)
    click_on(journal, 101, count=30)
    click_on(journal, 102, count=20)
    first, *_ = segments(folder)
    flip_byte(first, 0)
    journal.close()
    ingest = open_ingest(folder, store)
    while await ingest.drain_once():
        pass
    assert ingest.numbers.foreign_segments == 1
    assert [name for name in files(folder) if name.endswith(".foreign")] == [
        first.with_suffix(".foreign").name
    ]
    found = dict(await rows(database, "SELECT link_id, clicks FROM link_total"))
    assert found.get(102) == 20
    assert SEGMENT_HEAD.size < first.with_suffix(".foreign").stat().st_size


async def test_salts_are_forgotten(folder: Path, store: ClickStore, database: Database) -> None:
    """Two days later nothing is left that could tell who was who."""
    journal = Journal(folder)
    now = [MOMENT + HOUR]
    ingest = open_ingest(folder, store, now=lambda: now[0])
    write(journal, (MOMENT, 101, ANNA))
    await ingest.drain_once()
    assert await rows(database, "SELECT day FROM visitor_salt") == [(MOMENT // DAY,)]
    now[0] += 3 * DAY
    await ingest.drain_once()
    assert await rows(database, "SELECT day FROM visitor_salt") == []
    journal.close()
