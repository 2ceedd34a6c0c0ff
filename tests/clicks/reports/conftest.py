"""Reports on every engine, over rollups that a test writes."""

from collections.abc import Awaitable, Callable

import pytest

from laconic.clicks.reports.store import ReportStore
from laconic.storage.database import Database
from tests.clicks.rollups import Counted, count

Click = Callable[..., Awaitable[None]]


@pytest.fixture
def count_clicks(clicks_database: Database) -> Callable[..., Awaitable[None]]:
    """Writes clicks into the rollups, once in a test."""

    async def counted(*clicks: Counted, workspace_id: int = 1) -> None:
        await count(clicks_database, clicks, workspace_id)

    return counted


@pytest.fixture
def store(database: Database) -> ReportStore:
    """As a web worker opens it."""
    return ReportStore(database)
