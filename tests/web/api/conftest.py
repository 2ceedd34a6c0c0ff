"""The API on the fast engine, or on every one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.api.opened import Api, OpenApi, opener


@pytest.fixture
def open_api(empty_database: str, tmp_path: Path) -> OpenApi:
    """Opens the application with these settings; by default as on a laptop, in open mode."""
    return opener(empty_database, tmp_path / "data")


@pytest.fixture
def open_every_api(migrated_url: str, tmp_path: Path) -> OpenApi:
    """The same on every engine."""
    return opener(migrated_url, tmp_path / "data")


@pytest.fixture
async def api(open_api: OpenApi) -> AsyncIterator[Api]:
    """In open mode."""
    async with open_api() as api:
        yield api


@pytest.fixture
async def closed_api(open_api: OpenApi) -> AsyncIterator[Api]:
    """On an address that others can reach: a key is needed."""
    async with open_api(host="0.0.0.0") as api:
        yield api


@pytest.fixture
async def closed_every_api(open_every_api: OpenApi) -> AsyncIterator[Api]:
    """The same on every engine."""
    async with open_every_api(host="0.0.0.0") as api:
        yield api
