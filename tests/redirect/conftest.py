"""A site for many tests, one of its own for a test that stops it or turns its clock, and an empty shared store."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from laconic.storage.redis import RedisStore, open_redis
from tests.redirect.gated import Gated
from tests.redirect.links import Clock, Rows, link
from tests.redirect.raw_http import Client
from tests.redirect.serving import Site, open_site


@pytest.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory, _sqlite_template: Path) -> AsyncIterator[Site]:
    """Shared by the tests of a module: each uses codes of its own."""
    folder = tmp_path_factory.mktemp("site") / "data"
    shutil.copytree(_sqlite_template, folder)
    async with open_site(folder) as site:
        yield site


@pytest.fixture
async def own_site(tmp_path: Path, _sqlite_template: Path) -> AsyncIterator[Site]:
    shutil.copytree(_sqlite_template, tmp_path / "own")
    async with open_site(tmp_path / "own") as site:
        yield site


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def rows() -> Rows:
    """A database with one link, turned by hand."""
    rows = Rows()
    rows.rows[1, "abc"] = link()
    return rows


@pytest.fixture
async def gated() -> Gated:
    return Gated()


@pytest.fixture
async def slow_site(tmp_path: Path, gated: Gated) -> AsyncIterator[Site]:
    """The lane in front of an application that takes its time."""
    async with open_site(tmp_path / "slow", app=gated) as site:
        yield site
        gated.gate.set()


@pytest.fixture
async def client(site: Site) -> AsyncIterator[Client]:
    async with await site.connect() as client:
        yield client


@pytest.fixture
def redis(redis_url: str) -> Any:
    client = Redis.from_url(redis_url)
    client.flushall()
    return client


@pytest.fixture
async def store(redis: Any, redis_url: str) -> AsyncIterator[RedisStore]:
    store = open_redis(redis_url)
    yield store
    await store.close()
