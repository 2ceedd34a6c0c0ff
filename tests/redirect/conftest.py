"""A site for many tests, and one of its own for a test that stops it or turns its clock."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.redirect.raw_http import Client
from tests.redirect.serving import Site, open_site


@pytest.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """Shared by the tests of a module: each uses codes of its own."""
    async with open_site(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture
async def own_site(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path / "own") as site:
        yield site


@pytest.fixture
async def client(site: Site) -> AsyncIterator[Client]:
    async with await site.connect() as client:
        yield client
