"""Months of raw clicks: prepared ahead, archived, dropped; whatever is counted stays."""

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from laconic.clock import DAY
from laconic.storage.database import Database, Statements
from laconic.storage.months import begin_of, month_from_name, month_name
from laconic.upkeep.lease import Lease
from laconic.upkeep.months import JOB, Months
from tests.clicks.raw_events import event, store_events
from tests.clicks.rollups import Counted, count

RETENTION = 396 * DAY
OCTOBER = month_from_name("2025-10")
# The first moment at which all of October 2025 is older than the retention.
DUE = begin_of(OCTOBER + 1) + RETENTION


async def store_month(database: Database, link_id: int, *months: int) -> None:
    """The first and the last moment of each."""
    moments = [moment for month in months for moment in (begin_of(month), begin_of(month + 1) - 1)]
    await store_events(database, [event(link_id, moment) for moment in moments])


async def raw_clicks(database: Database, month: int) -> int:
    rows = await database.fetch_events(
        month,
        "SELECT count(*) FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2",
        begin_of(month),
        begin_of(month + 1),
    )
    return int(rows[0][0]) if rows else 0


async def counted(database: Database) -> dict[str, Any]:
    tables = ("link_total", "click_quarter", "click_daily", "click_unique", "workspace_quarter")
    return {
        table: sorted(map(tuple, await database.fetch_all(f"SELECT * FROM {table}")), key=str)
        for table in tables
    }


async def test_drops_a_month_when_all_of_it_is_too_old(
    database: Database, clicks_database: Database, links: tuple[int, ...]
) -> None:
    """Not a microsecond before; those behind it stay."""
    await store_month(clicks_database, links[0], OCTOBER - 1, OCTOBER, OCTOBER + 1)
    assert await Months(database, RETENTION, None, now=lambda: DUE - 1).run() == [OCTOBER - 1]
    assert await raw_clicks(database, OCTOBER) == 2
    assert await Months(database, RETENTION, None, now=lambda: DUE).run() == [OCTOBER]
    assert [await raw_clicks(database, OCTOBER + number) for number in (-1, 0, 1)] == [0, 0, 2]


async def test_counts_stay(database: Database, clicks_database: Database, links: tuple[int, ...]) -> None:
    """Totals, rollups and sketches are those from before, to the last row."""
    await store_month(clicks_database, links[0], OCTOBER)
    await count(clicks_database, [Counted(links[0], begin_of(OCTOBER), times=2)])
    before = await counted(database)
    assert before["link_total"]
    assert await Months(database, RETENTION, None, now=lambda: DUE).run() == [OCTOBER]
    assert await counted(database) == before


async def test_makes_room_across_the_turn_of_a_year(
    database: Database, clicks_database: Database, links: tuple[int, ...]
) -> None:
    """In November: for November, December and January, and clicks of all of them are kept."""
    november = month_from_name("2026-11")
    months = Months(database, RETENTION, None, now=lambda: begin_of(november) + 12 * DAY)
    assert await months.run() == []
    assert await months.run() == []
    await store_month(clicks_database, links[0], november, november + 1, november + 2)
    assert [await raw_clicks(database, november + number) for number in range(3)] == [2, 2, 2]


async def test_drops_clicks_of_a_month_without_room(
    database: Database, clicks_database: Database, links: tuple[int, ...], tmp_path: Path
) -> None:
    """Late ones, of a month that was dropped before: they are archived and dropped like the others."""
    months = Months(database, RETENTION, tmp_path / "archive", now=lambda: DUE)
    await clicks_database.prepare_months(OCTOBER, 1)
    for _ in range(2):
        await store_month(clicks_database, links[0], OCTOBER)
        assert await months.run() == [OCTOBER]
    assert await raw_clicks(database, OCTOBER) == 0
    assert sorted(path.name for path in (tmp_path / "archive").iterdir()) == [
        "clicks-2025-10-2.ndjson.gz",
        "clicks-2025-10.ndjson.gz",
    ]


@pytest.mark.parametrize("obstacle", ["a file", "no such folder above it"])
async def test_keeps_what_it_cannot_archive(
    database: Database, clicks_database: Database, links: tuple[int, ...], tmp_path: Path, obstacle: str
) -> None:
    """Nothing is dropped, one line says so, and the next run does it."""
    folder = tmp_path / "above" / "archive"
    if obstacle == "a file":
        folder.parent.mkdir()
        folder.touch()
    await store_month(clicks_database, links[0], OCTOBER - 1, OCTOBER)
    months = Months(database, RETENTION, folder, now=lambda: DUE)
    with capture_logs() as lines:
        assert await months.run() == []
    assert [line["log_level"] for line in lines] == ["warning"]
    assert [await raw_clicks(database, OCTOBER + number) for number in (-1, 0)] == [2, 2]
    folder.unlink(missing_ok=True)
    folder.parent.mkdir(exist_ok=True)
    assert await months.run() == [OCTOBER - 1, OCTOBER]
    assert sorted(path.name for path in folder.iterdir()) == [
        f"clicks-{month_name(month)}.ndjson.gz" for month in (OCTOBER - 1, OCTOBER)
    ]


async def test_one_process_does_it_at_a_time(
    database: Database, clicks_database: Database, links: tuple[int, ...]
) -> None:
    """The others leave it alone, and have it again when it is done."""
    await store_month(clicks_database, links[0], OCTOBER)
    other = Lease(database, JOB)
    assert await other.hold()
    months = Months(database, RETENTION, None, now=lambda: DUE)
    assert await months.run() is None
    assert await raw_clicks(database, OCTOBER) == 2
    await other.release()
    assert await months.run() == [OCTOBER]
    assert await other.hold()


async def test_a_process_that_lost_the_job_drops_nothing(
    database: Database, clicks_database: Database, links: tuple[int, ...], tmp_path: Path
) -> None:
    """Whoever was stopped while he archived finds another at it."""
    await store_month(clicks_database, links[0], OCTOBER)
    thief = Lease(database, JOB)

    async def rob(statements: Statements) -> None:
        await statements.execute("UPDATE job_lease SET expires_at = $2 WHERE name = $1", JOB, 0)

    class Robbed(Months):
        async def _drop(self, month: int) -> None:
            await database.transaction(rob)
            assert await thief.hold()
            self._lease._held_until = 0.0
            await super()._drop(month)

    months = Robbed(database, RETENTION, tmp_path / "archive", now=lambda: DUE)
    with capture_logs() as lines:
        assert await months.run() == []
    assert "taken the job over" in lines[0]["error"]
    assert await raw_clicks(database, OCTOBER) == 2
