"""A whole Laconic without a socket: real database, real application, HTTP as a client speaks it."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

from laconic.clicks.journal import Journal
from laconic.settings import Settings
from laconic.web.app import App
from laconic.wiring import Services, open_services

BASE_URL = "http://localhost:8000"
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@dataclass(frozen=True)
class Site:
    client: httpx.AsyncClient
    services: Services
    journal_folder: Path

    async def make_link(self, **fields: Any) -> str:
        """Makes a link over the API and gives its code."""
        answer = await self.client.post(
            "/api/v1/urls", json={"original_url": "https://example.com/", **fields}
        )
        assert answer.status_code == 201, answer.text
        return str(answer.json()["short_code"])

    def journal_bytes(self) -> bytes:
        """All that the click journal holds at this moment, without the unwritten rest of its segments."""
        return b"".join(
            path.read_bytes().rstrip(b"\0") for path in sorted(self.journal_folder.glob("*.segment"))
        )


@asynccontextmanager
async def open_site(database_url: str, folder: Path, **options: Any) -> AsyncIterator[Site]:
    settings = Settings(
        **{"data": str(folder), "database_url": database_url, "base_url": BASE_URL, **options}
    )
    async with open_services(settings) as services:
        journal = Journal(settings.journal_folder)
        try:
            transport = httpx.ASGITransport(App(services, journal))
            async with httpx.AsyncClient(transport=transport, base_url=BASE_URL) as client:
                yield Site(client, services, settings.journal_folder)
        finally:
            journal.close()


def form_token(page: str) -> str:
    found = re.search(r'name="token" value="([0-9a-f]+)"', page)
    assert found, "the page has no form with a token"
    return found[1]


class _Outline(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))


def outline(page: str) -> list[tuple[str, ...]]:
    """Every tag of a page with the names of its attributes: what text from outside must never change."""
    parser = _Outline()
    parser.feed(page)
    parser.close()
    return parser.tags
