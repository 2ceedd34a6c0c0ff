"""The application without a socket, for callers from any address."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from laconic.clicks.journal import Journal
from laconic.settings import Rate, Settings
from laconic.web.app import App
from laconic.wiring import Services, open_services
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID

BASE_URL = "http://localhost:8000"
# Whoever tests something else is not to meet the rate limit.
UNHURRIED = Rate(per_second=10_000, burst=10_000)


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


def opener(database_url: str, folder: Path) -> OpenApi:
    """Opens the application on this database with whatever settings it is called with."""

    @asynccontextmanager
    async def opened(**options: Any) -> AsyncIterator[Api]:
        given = {"data": str(folder), "database_url": database_url, "base_url": BASE_URL}
        values = {**given, "rate_api": UNHURRIED, **options}
        settings = Settings(**values)
        async with open_services(settings) as services:
            journal = Journal(settings.journal_folder)
            try:
                yield Api(App(services, journal), services)
            finally:
                journal.close()

    return opened
