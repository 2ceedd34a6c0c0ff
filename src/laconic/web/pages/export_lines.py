"""All links of a workspace as a stream, oldest first: NDJSON or CSV that an import takes again."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic_core import to_json

from laconic.clicks.csv_text import csv_lines
from laconic.links.browse import LARGEST_PAGE, LinkBrowser, Query
from laconic.links.model import Link
from laconic.web.api.links import ShortUrl, link_json

ExportForm = Literal["ndjson", "csv"]
MEDIA_TYPES: Final[dict[ExportForm, str]] = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
}
_COLUMNS = (
    "short_url short_code domain original_url title description created_at expires_at is_active redirect_status"
    " click_count metadata"
).split()

HostOf = Callable[[int], str]
Pages = AsyncIterator[list[dict[str, Any]]]


class LinkExport:
    def __init__(self, browser: LinkBrowser, short_url: ShortUrl, host_of: HostOf) -> None:
        self._browser = browser
        self._short_url = short_url
        self._host_of = host_of

    async def lines(self, workspace_id: int, query: Query, form: ExportForm) -> AsyncIterator[bytes]:
        if form == "csv":
            yield csv_lines([_COLUMNS]).encode()
        async for page in self._pages(workspace_id, query):
            if form == "csv":
                yield csv_lines([[_cell(link[name]) for name in _COLUMNS] for link in page]).encode()
            else:
                yield b"".join(to_json(link) + b"\n" for link in page)

    async def _pages(self, workspace_id: int, query: Query) -> Pages:
        """Page by page: each read is short, whatever the reader's speed."""
        cursor: str | None = None
        while True:
            asked = replace(query, sort="created_at", cursor=cursor, limit=LARGEST_PAGE)
            page = await self._browser.page(workspace_id, asked)
            if page.links:
                yield [self._shown(link) for link in page.links]
            if page.next_cursor is None:
                return
            cursor = page.next_cursor

    def _shown(self, link: Link) -> dict[str, Any]:
        return {**link_json(link, self._short_url), "domain": self._host_of(link.domain_id)}


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return "" if value is None else value
