"""The maker of clicks: what it puts into the tables adds up, and its journals are read."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.click_maker import Shape, fill, write_journal
from laconic.clicks.events.browse import EventBrowser
from laconic.clicks.events.store import EventStore
from laconic.clicks.reports.periods import read_period
from laconic.clicks.reports.report import Question, Reports
from laconic.clicks.reports.store import ReportStore
from laconic.clock import DAY, now
from laconic.storage.database import Database
from laconic.storage.engines import open_database
from tests.clicks.records import clicks_of

SHAPE = Shape(clicks=3_000, days=4, links=5)


@pytest.fixture
async def database(migrated_url: str) -> AsyncIterator[Database]:
    database = await open_database(migrated_url)
    for number in range(1, 6):
        await database.execute(
            "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, created_at, updated_at)"
            " VALUES ($1, 1, 1, $2, 'https://example.com/', $3, $3)",
            number,
            f"made{number}",
            now(),
        )
    yield database
    await database.close()


async def test_tables_add_up(database: Database, migrated_url: str) -> None:
    """Every view has the clicks that were asked for, as after ingest."""
    await fill(migrated_url, SHAPE)
    moment = now() + DAY
    period = read_period(None, None, None, "Asia/Kathmandu", moment)
    reports = Reports(ReportStore(database), now=lambda: moment)
    workspace = await reports.of_workspace(1, Question(period))
    links = [await reports.of_link(1, number, Question(period)) for number in range(1, 6)]
    assert workspace.totals.counts.clicks == 3_000
    assert sum(link.totals.counts.clicks for link in links) == 3_000
    assert [one.link.link_id for one in workspace.top_links or ()] == [1, 2, 3, 4, 5]
    for report in (workspace, links[0]):
        assert report.totals.visitors
        for name, group in report.groups.items():
            listed = sum(counts.clicks for _, counts in group.values) + group.other.clicks
            assert listed == (0 if name == "city" else report.totals.counts.clicks), name
    exported = [
        len(batch) async for batch in EventBrowser(EventStore(database)).export(1, 1, 0, moment + DAY)
    ]
    assert sum(exported) == links[0].totals.counts.clicks
    row = await database.fetch_one("SELECT CAST(sum(clicks) AS bigint) FROM link_total")
    assert row is not None
    assert row[0] == 3_000


def test_journals_hold_every_click(tmp_path: Path) -> None:
    """Sound records, of the links that were given."""
    assert write_journal(tmp_path, [7, 8, 9], SHAPE) == 3_000
    clicks = clicks_of(tmp_path)
    assert len(clicks) == 3_000
    assert {click.link_id for click in clicks} == {7, 8, 9}
