"""Clicks that happened elsewhere are added once, however they come."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from laconic.clicks.enrich import Enricher
from laconic.clicks.moved import store
from laconic.clicks.moved.add import Added, MovedClicks
from laconic.clicks.moved.model import Claim, Portion, RecordedClick
from laconic.clicks.sketches import add_visitors
from laconic.clock import DAY, HOUR, now
from laconic.errors import Unavailable
from laconic.storage.database import Database
from laconic.storage.engines import open_database
from laconic.storage.months import begin_of, month_of

WORKSPACE, LINK = 1, 77
TODAY = now() // DAY


@pytest.fixture
async def clicks_database(migrated_url: str) -> AsyncIterator[Database]:
    database = await open_database(migrated_url, writes="clicks")
    yield database
    await database.close()


def moved(database: Database, name: str = "there", **options: Any) -> MovedClicks:
    return MovedClicks(
        database,
        WORKSPACE,
        name,
        lambda: Enricher.from_settings("truncate", ""),
        retention=30 * DAY,
        **options,
    )


def portion(position: int, clicks: int, day: int = TODAY - 1, bots: int = 0) -> Portion:
    pair = (clicks, bots)
    sketch, _ = add_visitors(None, range(clicks))
    return Portion(LINK, position, day, {day * DAY + HOUR: pair}, {"country": {"DE": pair}}, sketch)


async def value(database: Database, sql: str) -> int:
    row = await database.fetch_one(sql)
    return int(row[0] or 0) if row else 0


async def numbers(database: Database) -> tuple[int, int, int]:
    """Total, dated, visitors."""
    return (
        await value(database, f"SELECT clicks FROM link_total WHERE link_id = {LINK}"),
        await value(database, f"SELECT sum(clicks) FROM click_quarter WHERE link_id = {LINK}"),
        await value(
            database, f"SELECT sum(visitors) FROM click_unique WHERE scope = 'link' AND scope_id = {LINK}"
        ),
    )


async def test_what_a_source_claims_holds_its_dated_clicks_whichever_comes_first(
    clicks_database: Database,
) -> None:
    """Nine claimed and four with a time are nine; six more with a time are ten."""
    clicks = moved(clicks_database)
    assert await clicks.claim([Claim(LINK, 9, 0, None)]) == Added(9, 0)
    assert await clicks.add_portions([portion(1, 4)]) == Added(0, 4)
    assert await numbers(clicks_database) == (9, 4, 4)
    assert await clicks.add_portions([portion(2, 6)]) == Added(1, 6)
    assert await clicks.claim([Claim(LINK, 8, 0, None)]) == Added(0, 0)
    assert await numbers(clicks_database) == (10, 10, 6)


async def test_a_portion_that_comes_again_adds_what_it_has_more(clicks_database: Database) -> None:
    """By another process too, and an older one adds nothing."""
    assert await moved(clicks_database).add_portions([portion(1, 4), portion(2, 5)]) == Added(9, 9)
    again = moved(clicks_database)
    assert await again.add_portions([portion(1, 4), portion(2, 7), portion(3, 1)]) == Added(3, 3)
    assert await again.add_portions([portion(1, 40), portion(3, 1)]) == Added(0, 0)
    assert (await numbers(clicks_database))[:2] == (12, 12)
    assert await value(clicks_database, "SELECT sum(clicks) FROM workspace_daily") == 12


async def test_two_sources_add_up(clicks_database: Database) -> None:
    """They are different clicks, whatever their positions."""
    for name in ("one", "two"):
        await moved(clicks_database, name).add_portions([portion(1, 4)])
    assert (await numbers(clicks_database))[:2] == (8, 8)


async def test_a_dry_run_tells_and_writes_nothing(clicks_database: Database) -> None:
    """Of a source that was never seen, and of one that was."""
    dry = moved(clicks_database, dry_run=True)
    assert await dry.add_portions([portion(1, 4)]) == Added(4, 4)
    assert await numbers(clicks_database) == (0, 0, 0)
    await moved(clicks_database).add_portions([portion(1, 4)])
    assert await moved(clicks_database, dry_run=True).add_portions([portion(1, 5)]) == Added(1, 1)
    assert (await numbers(clicks_database))[0] == 4


async def test_a_batch_that_fails_before_its_commit_is_added_once_by_the_next_try(
    clicks_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Single clicks may be in their month's file already: they are known by their ids."""

    log = [
        RecordedClick(LINK, number, now() - number * HOUR, b"1.1.1.1", country="AU") for number in range(1, 5)
    ]

    async def fail(*_: Any) -> None:
        raise Unavailable("cut off")

    with monkeypatch.context() as patch:
        patch.setattr(store, "write_entries", fail)
        with pytest.raises(Unavailable):
            await moved(clicks_database).add_recorded(log)
    assert (await numbers(clicks_database))[:2] == (0, 0)
    for _ in range(2):
        await moved(clicks_database).add_recorded(log)
    assert (await numbers(clicks_database))[:2] == (4, 4)
    assert await events(clicks_database) == 4


async def test_old_single_clicks_are_counted_and_not_kept(clicks_database: Database) -> None:
    """As those that happened here, which are dropped by then."""
    log = [RecordedClick(LINK, 1, now() - 40 * DAY), RecordedClick(LINK, 2, now() - DAY)]
    assert await moved(clicks_database).add_recorded(log) == Added(2, 2)
    assert await events(clicks_database) == 1


async def test_what_the_source_knows_of_a_click_goes_before_what_we_find_out(
    clicks_database: Database,
) -> None:
    """Country and bot are as it had them."""
    agent = b"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
    click = RecordedClick(LINK, 1, now() - DAY, b"1.1.1.1", agent, country="FR", is_bot=False)
    await moved(clicks_database).add_recorded([click, replace_position(click, 2, is_bot=None)])
    assert await value(clicks_database, "SELECT bot_clicks FROM link_total") == 1
    rows = await clicks_database.fetch_all("SELECT value FROM click_daily WHERE dimension = 'country'")
    assert [row[0] for row in rows] == ["FR"]


def replace_position(click: RecordedClick, position: int, **fields: Any) -> RecordedClick:
    return click._replace(position=position, **fields)


async def events(database: Database) -> int:

    count = 0
    for month in range(month_of(now()) - 3, month_of(now()) + 1):
        rows = await database.fetch_events(
            month,
            "SELECT count(*) FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2",
            begin_of(month),
            begin_of(month + 1),
        )
        count += int(rows[0][0]) if rows else 0
    return count


def test_a_portion_beyond_itself_is_nothing() -> None:
    """The text of a portion is all that is compared."""
    one = portion(1, 4, bots=1)
    assert one.beyond(one.text()).counts() == (0, 0)
    assert replace(one, quarters={HOUR: (9, 2)}).beyond(one.text()).counts() == (9, 2)
