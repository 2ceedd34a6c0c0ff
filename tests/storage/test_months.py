"""Raw clicks by month, and merging into rollups: what every engine holds."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from laconic.storage.database import Database, Merge, Statements
from laconic.storage.engines import open_database
from laconic.storage.months import begin_of, month_from_name, month_name, month_of

pytestmark = pytest.mark.anyio

DECEMBER = month_from_name("2025-12")
JANUARY = DECEMBER + 1
COLUMNS = ("id", "short_link_id", "workspace_id", "clicked_at", "device_type")
IDS = "SELECT id FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2 ORDER BY id"


@pytest.fixture
async def clicks(migrated_url: str) -> AsyncIterator[Database]:
    """As ingest opens it."""
    database = await open_database(migrated_url, writes="clicks")
    yield database
    await database.close()


def _columns(month: int, ids: range) -> list[list[Any]]:
    moments = [begin_of(month) + number for number in ids]
    return [list(ids), [7] * len(ids), [1] * len(ids), moments, ["desktop"] * len(ids)]


async def _append(database: Database, month: int, journal: str, ids: range) -> None:
    await database.append_events(month, journal, list(ids), COLUMNS, _columns(month, ids))


async def _ids(database: Database, month: int) -> list[int]:
    rows = await database.fetch_events(month, IDS, begin_of(month), begin_of(month + 1))
    return [row[0] for row in rows]


def test_a_month_has_a_number_a_name_and_bounds() -> None:
    """The last microsecond of a year belongs to December, the next one to January."""
    assert month_name(DECEMBER) == "2025-12"
    assert month_of(begin_of(JANUARY) - 1) == DECEMBER
    assert month_of(begin_of(JANUARY)) == JANUARY


async def test_events_are_found_in_their_month(clicks: Database) -> None:
    """Months without a file or partition of their own take clicks too, at the turn of a year as well."""
    await _append(clicks, DECEMBER, "a", range(1, 4))
    await _append(clicks, JANUARY, "a", range(4, 6))
    assert await _ids(clicks, DECEMBER) == [1, 2, 3]
    assert await _ids(clicks, JANUARY) == [4, 5]
    assert {DECEMBER, JANUARY} <= set(await clicks.event_months())


async def test_making_room_later_keeps_what_is_there(clicks: Database) -> None:
    """A month that is prepared after its first clicks came has them still, and may be prepared again."""
    await _append(clicks, DECEMBER, "a", range(1, 4))
    await clicks.prepare_months(DECEMBER, 2)
    await clicks.prepare_months(DECEMBER, 2)
    await _append(clicks, DECEMBER, "a", range(4, 5))
    assert await _ids(clicks, DECEMBER) == [1, 2, 3, 4]


async def test_events_of_an_undone_transaction_are_there_once_after_the_next_try(clicks: Database) -> None:
    """Whatever the engine commits by itself, a repeated batch adds each event once, also with other bounds."""

    async def failing(statements: Statements) -> None:
        await statements.append_events(DECEMBER, "a", [1, 2, 3], COLUMNS, _columns(DECEMBER, range(1, 4)))
        raise ValueError("killed before the commit")

    async def repeated(statements: Statements) -> None:
        await statements.append_events(DECEMBER, "a", [1, 2, 3, 4], COLUMNS, _columns(DECEMBER, range(1, 5)))

    with pytest.raises(ValueError, match="killed"):
        await clicks.transaction(failing)
    await clicks.transaction(repeated)
    assert await _ids(clicks, DECEMBER) == [1, 2, 3, 4]


async def test_a_repeated_batch_adds_what_is_new_whatever_the_order_of_its_events(clicks: Database) -> None:
    """Ingest orders them by link: the largest number of a journal may come first."""

    async def append(statements: Statements, ids: list[int]) -> None:
        columns = [[column[place - 1] for place in ids] for column in _columns(DECEMBER, range(1, 7))]
        await statements.append_events(DECEMBER, "a", ids, COLUMNS, columns)

    async def failing(statements: Statements) -> None:
        await append(statements, [4, 1, 3, 2])
        raise ValueError("killed before the commit")

    with pytest.raises(ValueError, match="killed"):
        await clicks.transaction(failing)
    await clicks.transaction(lambda statements: append(statements, [5, 4, 1, 6, 3, 2]))
    assert await _ids(clicks, DECEMBER) == [1, 2, 3, 4, 5, 6]


async def test_another_journal_starts_from_its_own_beginning(clicks: Database) -> None:
    """Sequences of one journal say nothing about those of another."""
    await _append(clicks, DECEMBER, "a", range(100, 103))
    await clicks.append_events(DECEMBER, "b", [1, 2], COLUMNS, _columns(DECEMBER, range(200, 202)))
    assert await _ids(clicks, DECEMBER) == [100, 101, 102, 200, 201]


async def test_events_can_be_changed(clicks: Database) -> None:
    """Erasing some leaves the others."""
    await _append(clicks, DECEMBER, "a", range(1, 4))
    erase = "DELETE FROM click_event WHERE id = $1 AND clicked_at >= $2 AND clicked_at < $3"
    assert await clicks.change_events(DECEMBER, erase, 2, begin_of(DECEMBER), begin_of(JANUARY)) == 1
    assert await _ids(clicks, DECEMBER) == [1, 3]
    assert await clicks.change_events(DECEMBER - 5, erase, 2, 0, 1) == 0


@pytest.mark.parametrize("is_prepared", [False, True])
async def test_a_dropped_month_is_gone_and_can_come_again(clicks: Database, is_prepared: bool) -> None:
    """Its neighbours stay; a late click of it is kept until the next drop."""
    if is_prepared:
        await clicks.prepare_months(DECEMBER, 2)
    await _append(clicks, DECEMBER, "a", range(1, 4))
    await _append(clicks, JANUARY, "a", range(4, 6))
    await clicks.drop_events(DECEMBER)
    assert DECEMBER not in await clicks.event_months()
    assert await _ids(clicks, DECEMBER) == []
    assert await _ids(clicks, JANUARY) == [4, 5]
    await _append(clicks, DECEMBER, "a", range(6, 8))
    assert await _ids(clicks, DECEMBER) == [6, 7]


TOTALS = Merge(
    keys=("link_id",), once=("workspace_id",), adds=("clicks", "bot_clicks"), largest=("last_clicked_at",)
)
SELECT_TOTALS = (
    "SELECT link_id, workspace_id, clicks, bot_clicks, last_clicked_at FROM link_total ORDER BY link_id"
)


async def test_merging_adds_to_what_is_there(clicks: Database) -> None:
    """New rows are made, old ones grow; the largest moment stays."""
    await clicks.merge("link_total", TOTALS, [[1, 2], [1, 1], [5, 7], [1, 0], [1000, 1000]])
    await clicks.merge("link_total", TOTALS, [[2, 3], [9, 1], [3, 1], [2, 1], [500, 2000]])
    await clicks.merge("link_total", TOTALS, [[], [], [], [], []])
    rows = [tuple(row) for row in await clicks.fetch_all(SELECT_TOTALS)]
    assert rows == [(1, 1, 5, 1, 1000), (2, 1, 10, 2, 1000), (3, 1, 1, 1, 2000)]


async def test_merging_many_rows_merges_all(clicks: Database) -> None:
    """However many statements it takes."""
    ids = list(range(1, 1_001))
    columns = [ids, [1] * 1_000, [1] * 1_000, [0] * 1_000, ids]
    await clicks.merge("link_total", TOTALS, columns)
    await clicks.merge("link_total", TOTALS, columns)
    found = await clicks.fetch_one("SELECT count(*), sum(clicks) FROM link_total")
    assert found is not None
    assert tuple(found) == (1_000, 2_000)
