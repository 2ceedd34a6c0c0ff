"""What a workspace has chosen about its clicks, before anything of them is stored; on every engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from laconic.clicks.choices import Choice, Choices
from laconic.clicks.click import Visitor
from laconic.clicks.enrich import Enricher
from laconic.clicks.ingest import Ingest
from laconic.clicks.journal import Journal
from laconic.clicks.keeping import shorter, stricter
from laconic.clicks.store import ClickStore
from laconic.clock import DAY
from laconic.storage.database import Database
from laconic.storage.months import begin_of, month_of
from tests.clicks.records import MOMENT, VISITOR, open_ingest

pytestmark = pytest.mark.anyio

OTHER, OTHERS_LINK = 2, 201


async def choose(database: Database, workspace_id: int, **settings: Any) -> None:
    await database.execute(
        "UPDATE workspace SET settings = $2 WHERE id = $1", workspace_id, json.dumps(settings)
    )


@pytest.fixture
async def other(database: Database, links: tuple[int, ...]) -> int:
    """A second workspace with a link."""
    await database.execute(
        "INSERT INTO workspace (id, name, slug, settings, created_at, updated_at)"
        " VALUES ($1, 'Other', 'other', '{}', $2, $2)",
        OTHER,
        MOMENT,
    )
    await database.execute(
        "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, created_at, updated_at)"
        " VALUES ($1, $2, 1, 'theirs', 'https://example.com/', $3, $3)",
        OTHERS_LINK,
        OTHER,
        MOMENT,
    )
    return OTHERS_LINK


async def stored(database: Database, moment: int = MOMENT) -> list[tuple[Any, ...]]:
    month = month_of(moment)
    rows = await database.fetch_events(
        month,
        "SELECT short_link_id, ip_address FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2"
        " ORDER BY clicked_at, short_link_id",
        begin_of(month),
        begin_of(month + 1),
    )
    return [tuple(row) for row in rows]


def click(journal: Journal, moment: int, *links: int, visitor: Visitor = VISITOR) -> None:
    journal.write([(moment, link, visitor) for link in links])


def test_the_less_of_two_is_kept() -> None:
    """A workspace may be stricter than its installation, never laxer."""
    assert stricter("truncate", None) == "truncate"
    assert stricter("truncate", "none") == "none"
    assert stricter("truncate", "full") == "truncate"
    assert stricter("none", "full") == "none"
    assert stricter("full", "truncate") == "truncate"
    assert shorter(30 * DAY, None) == shorter(30 * DAY, 90) == 30 * DAY
    assert shorter(30 * DAY, 7) == 7 * DAY


def test_columns_are_left_alone_where_nobody_has_chosen() -> None:
    """The very same column: a default costs nothing."""
    networks = ["203.0.113.0/24", None]
    nobody = Choices("truncate", [Choice(3, "full", None), Choice(4, None, 5)])
    assert nobody.networks([1, 2], networks) is networks
    assert Choices("truncate", [Choice(3, "none", 1)]).networks([1, 2], networks) is networks
    assert Choices("truncate", [Choice(3, None, 1)]).too_old([1, 2], [0, 0], MOMENT) is None


async def test_a_strict_workspace_keeps_no_address(
    folder: Path, store: ClickStore, database: Database, other: int
) -> None:
    """Nothing of the address is stored for it; its neighbour has its networks as before."""
    await choose(database, OTHER, privacy="none")
    click(Journal(folder), MOMENT, 101, other)
    await open_ingest(folder, store, now=lambda: MOMENT).drain_once()
    assert await stored(database) == [(101, "203.0.113.0/24"), (other, None)]


async def test_an_address_is_cut_where_the_installation_keeps_it_whole(
    folder: Path, store: ClickStore, database: Database, other: int
) -> None:
    """IPv4 and IPv6."""
    await choose(database, OTHER, privacy="truncate")
    journal = Journal(folder)
    click(journal, MOMENT, 101, other)
    click(journal, MOMENT + 1, other, visitor=Visitor(b"2001:db8:1:2::3", b"Mozilla/5.0", b"", b""))
    enricher = Enricher.from_settings("full", "")
    await Ingest(folder, store, enricher, now=lambda: MOMENT + 1).drain_once()
    assert await stored(database) == [
        (101, "203.0.113.9"),
        (other, "203.0.113.0/24"),
        (other, "2001:db8:1::/48"),
    ]


async def test_a_choice_is_in_effect_within_a_second(
    folder: Path, store: ClickStore, database: Database, other: int
) -> None:
    """A batch soon after the last one need not ask; one a second later does."""
    seconds = 0.0
    ingest = open_ingest(folder, store, now=lambda: MOMENT + 9, monotonic=lambda: seconds)
    journal = Journal(folder)
    click(journal, MOMENT, other)
    await ingest.drain_once()
    await choose(database, OTHER, privacy="none")
    seconds = 1.0
    click(journal, MOMENT + 1, other)
    await ingest.drain_once()
    assert await stored(database) == [(other, "203.0.113.0/24"), (other, None)]


async def test_a_click_that_comes_too_late_is_counted_and_not_kept(
    folder: Path, store: ClickStore, database: Database, other: int
) -> None:
    """From a machine that was away for longer than the workspace keeps clicks."""
    await choose(database, OTHER, click_retention_days=3)
    journal = Journal(folder)
    click(journal, MOMENT, 101, other)
    click(journal, MOMENT + 2 * DAY, other)
    ingest = open_ingest(folder, store, now=lambda: MOMENT + 4 * DAY)
    assert await ingest.drain_once() == 3
    assert [link for link, _ in await stored(database)] == [101, other]
    row = await database.fetch_one("SELECT clicks FROM link_total WHERE link_id = $1", other)
    assert row is not None
    assert row[0] == 2


async def test_a_batch_of_clicks_that_are_all_too_late_is_applied(
    folder: Path, store: ClickStore, database: Database, other: int
) -> None:
    """Nothing is stored of it, and the journal is behind it."""
    await choose(database, OTHER, click_retention_days=1)
    journal = Journal(folder)
    click(journal, MOMENT, other)
    click(journal, MOMENT + DAY, other)
    ingest = open_ingest(folder, store, now=lambda: MOMENT + 9 * DAY)
    assert await ingest.drain_once() == 2
    assert await ingest.drain_once() == 0
    assert await stored(database) == []
