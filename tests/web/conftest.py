"""A site for each test."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.web.site import Site, open_site


@pytest.fixture
def empty_database(_sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of an empty database on the fast engine: pages are the same on all of them."""
    shutil.copytree(_sqlite_template, tmp_path / "data")
    return f"sqlite:///{tmp_path}/data/laconic.db"


@pytest.fixture
async def site(empty_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    """An installation in open mode, as `laconic serve` starts it the first time."""
    async with open_site(empty_database, tmp_path / "data") as site:
        yield site


@pytest.fixture
async def closed_site(empty_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    """An installation that other machines can reach: a key is needed."""
    async with open_site(empty_database, tmp_path / "data", host="0.0.0.0") as site:
        yield site


@pytest.fixture
def client(site: Site) -> httpx.AsyncClient:
    return site.client
