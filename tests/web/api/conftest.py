"""The application without a socket, for callers from any address: on the fast engine, or on every one."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from laconic.clicks.journal import Journal
from laconic.settings import Settings
from laconic.web.app import App
from laconic.wiring import Services, open_services
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID

BASE_URL = "http://localhost:8000"


@dataclass(frozen=True)
class Api:
    app: App
    services: Services

    def client(self, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
        """A program at this address that sends these headers; `x_api_key="…"` is X-API-Key."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(self.app, client=(address, 50_000))
        return httpx.AsyncClient(transport=transport, base_url=BASE_URL, headers=named)

    async def key(self, *scopes: str, workspace_id: int = DEFAULT_WORKSPACE_ID, **options: Any) -> str:
        """A new API key's secret."""
        secret, _ = await self.services.api_keys.create(workspace_id, "test", frozenset(scopes), **options)
        return secret


OpenApi = Callable[..., AbstractAsyncContextManager[Api]]


@pytest.fixture
def open_api(empty_database: str, tmp_path: Path) -> OpenApi:
    """Opens the application with these settings; by default as on a laptop, in open mode."""
    return _opener(empty_database, tmp_path / "data")


@pytest.fixture
def open_every_api(migrated_url: str, tmp_path: Path) -> OpenApi:
    """The same on every engine."""
    return _opener(migrated_url, tmp_path / "data")


def _opener(database_url: str, folder: Path) -> OpenApi:
    @asynccontextmanager
    async def opened(**options: Any) -> AsyncIterator[Api]:
        values = {"data": str(folder), "database_url": database_url, "base_url": BASE_URL, **options}
        settings = Settings(**values)
        async with open_services(settings) as services:
            journal = Journal(settings.journal_folder)
            try:
                yield Api(App(services, journal), services)
            finally:
                journal.close()

    return opened


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
