"""Raw clicks on every engine."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from laconic.clicks.events.store import EventStore
from laconic.storage.database import Database
from tests.clicks.raw_events import store_events


@pytest.fixture
def event_store(database: Database) -> EventStore:
    """As a web worker opens it."""
    return EventStore(database)


@pytest.fixture
def keep(clicks_database: Database) -> Callable[..., Awaitable[None]]:
    """Stores clicks as ingest does."""

    async def kept(*events: dict[str, Any]) -> None:
        await store_events(clicks_database, events)

    return kept
