"""A folder for journals, links to click on, and a store as ingest opens it; on every engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from laconic.clicks.store import ClickStore
from laconic.storage.database import Database
from laconic.storage.engines import open_database

LINKS = (101, 102, 103)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
async def links(database: Database) -> tuple[int, ...]:
    """Three links of the default workspace."""
    for link_id in LINKS:
        await database.execute(
            "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, created_at, updated_at)"
            " VALUES ($1, 1, 1, $2, 'https://example.com/', $3, $3)",
            link_id,
            f"code{link_id}",
            1_700_000_000_000_000,
        )
    return LINKS


@pytest.fixture
async def clicks_database(migrated_url: str, links: tuple[int, ...]) -> AsyncIterator[Database]:
    """As the ingest process opens it: it writes clicks and only reads links."""
    database = await open_database(migrated_url, writes="clicks")
    yield database
    await database.close()


@pytest.fixture
async def store(clicks_database: Database) -> ClickStore:
    return ClickStore(clicks_database)
