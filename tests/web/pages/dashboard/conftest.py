"""An office for each test: on the fast engine, or on every one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.api.opened import opener
from tests.web.pages.dashboard.office import Office, open_office


@pytest.fixture
async def office(empty_database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with opener(empty_database, tmp_path / "data")(host="0.0.0.0") as api, open_office(api) as office:
        yield office


@pytest.fixture
async def every_office(migrated_url: str, tmp_path: Path) -> AsyncIterator[Office]:
    """The same on every engine."""
    async with opener(migrated_url, tmp_path / "data")(host="0.0.0.0") as api, open_office(api) as office:
        yield office
