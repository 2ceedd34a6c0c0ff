"""Everything of a workspace as records, in an order that is always the same: links by age, each with its days, then
single clicks by time. A page at a time: whatever their number, only one is in memory."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from laconic.clicks.events.model import BEFORE_ALL, Place
from laconic.clicks.events.store import EventStore
from laconic.clicks.moved import store as clicks_of
from laconic.clock import now
from laconic.errors import ChoiceRefused
from laconic.links.adopted.store import AdoptedStore
from laconic.links.model import Link
from laconic.moving.lines import day_record, head_record, link_record, written
from laconic.moving.resume import Beginning, Written
from laconic.storage.database import Database
from laconic.storage.months import begin_of
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.model import Workspace

_PAGE = 500
# A click makes at most one quarter and seven values: so links with so many clicks together stay within bounds.
_MOST_CLICKS = 20_000
_WINDOW_DAYS = 31
# Days since 1970 that both engines can write: the end of the year 9999.
_MOST_DAYS = 2_932_896


@dataclass(frozen=True, slots=True)
class Choice:
    """What is exported besides the links."""

    days: bool = True
    clicks: bool = True


class Exporter:
    """The verb "export"."""

    def __init__(self, database: Database, directory: Directory, *, source: str, version: str) -> None:
        """`source` names this installation, so that whoever imports its clicks twice adds them once."""
        self._database = database
        self._directory = directory
        self._links = AdoptedStore(database)
        self._events = EventStore(database)
        self._source = source
        self._version = version

    async def lines(
        self, workspace: Workspace, choice: Choice, so_far: Written, beginning: Beginning | None = None
    ) -> AsyncIterator[str]:
        """The file, some lines at a time; of one that was cut off only what is missing."""
        if beginning is None:
            yield written(self._head(workspace, choice))
        if beginning is None or beginning.click is None:
            after = -1 if beginning is None else await self._last_whole(workspace.id, beginning)
            async for text in self._link_lines(workspace.id, choice, so_far, after):
                yield text
        if choice.clicks:
            behind = None if beginning is None else beginning.click
            async for text in self._click_lines(workspace.id, so_far, behind or BEFORE_ALL):
                yield text
        counts = {"links": so_far.links, "days": so_far.days, "clicks": so_far.clicks}
        yield written({"record": "end", **counts})

    def _head(self, workspace: Workspace, choice: Choice) -> dict[str, Any]:
        source = f"{self._source}/{workspace.slug}"
        head = head_record(source, workspace.slug, self._version, now())
        return {**head, "days": choice.days, "clicks": choice.clicks}

    async def check(self, workspace: Workspace, choice: Choice, beginning: Beginning) -> None:
        """Refuses a file that another export has begun, before anything is done to it."""
        wanted = self._head(workspace, choice)
        for name in wanted.keys() - {"exported_at"}:
            if beginning.head.get(name) != wanted[name]:
                detail = f"Its {name} is {beginning.head.get(name)!r}, and would be {wanted[name]!r} now."
                raise ChoiceRefused("resume", f"The file was begun by another export. {detail}")
        await self._last_whole(workspace.id, beginning)

    async def _last_whole(self, workspace_id: int, beginning: Beginning) -> int:
        """Links behind this id are missing. A code is never given twice and its row never removed, so that it leads
        back to the place where the file ends."""
        if beginning.link is None:
            return -1
        host, code = beginning.link
        domains = self._directory.ids_of(workspace_id)
        keys = [(one, code) for one in domains if self._directory.own_host_of(one) == host]
        links = await self._links.find(workspace_id, keys)
        if not links:
            raise ChoiceRefused("resume", f"The file's last link, {code!r}, is not known here.")
        return min(link.id for link in links.values()) - 1

    async def _link_lines(
        self, workspace_id: int, choice: Choice, so_far: Written, after: int
    ) -> AsyncIterator[str]:
        while page := await self._links.page(workspace_id, after, _PAGE):
            after = page[-1][0].id
            for some in _bounded(page):
                days = await self._days(workspace_id, some) if choice.days else {}
                for link, bot_clicks in some:
                    domain = self._directory.own_host_of(link.domain_id)
                    so_far.links += 1
                    yield written(link_record(domain, link, bot_clicks))
                    if days:
                        so_far.days += len(days.get(link.id, []))
                        yield "".join(days.get(link.id, []))
                if choice.days and len(some) == 1 and some[0][0].click_count > _MOST_CLICKS:
                    async for text in self._busy_days(some[0][0], so_far):
                        yield text

    async def _days(self, workspace_id: int, links: Sequence[tuple[Link, int]]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        clicked = {link.id: link for link, _ in links if 0 < link.click_count <= _MOST_CLICKS}
        if not clicked:
            return found
        for portion in await clicks_of.read_days(
            self._database, workspace_id, sorted(clicked), 0, _MOST_DAYS
        ):
            link = clicked[portion.link_id]
            record = day_record(self._directory.own_host_of(link.domain_id), link.short_code, portion)
            found.setdefault(link.id, []).append(written(record))
        return found

    async def _busy_days(self, link: Link, so_far: Written) -> AsyncIterator[str]:
        """Of a link with so many clicks that its days are read a month at a time."""
        bounds = await clicks_of.read_bounds(self._database, link.workspace_id, link.id)
        if bounds is None:
            return
        domain = self._directory.own_host_of(link.domain_id)
        for first in range(bounds[0], bounds[1] + 1, _WINDOW_DAYS):
            end = min(first + _WINDOW_DAYS, bounds[1] + 1)
            portions = await clicks_of.read_days(self._database, link.workspace_id, [link.id], first, end)
            so_far.days += len(portions)
            yield "".join(written(day_record(domain, link.short_code, portion)) for portion in portions)

    async def _click_lines(self, workspace_id: int, so_far: Written, behind: Place) -> AsyncIterator[str]:
        for month in await self._events.months():
            if begin_of(month + 1) <= behind.clicked_at:
                continue
            behind = max(behind, Place(begin_of(month), -1))
            while page := await self._events.page_of_workspace(workspace_id, month, behind, 4 * _PAGE):
                behind = page[-1].place
                keys = await self._links.keys_of(
                    workspace_id, sorted({event.short_link_id for event in page})
                )
                lines = []
                for event in page:
                    if event.short_link_id in keys:
                        domain_id, code = keys[event.short_link_id]
                        domain = {"record": "click", "domain": self._directory.own_host_of(domain_id)}
                        lines.append(written({**domain, **event.document(code)}))
                so_far.clicks += len(lines)
                yield "".join(lines)


def _bounded(page: Sequence[tuple[Link, int]]) -> list[list[tuple[Link, int]]]:
    """Links whose clicks together stay within bounds; one that has more stands alone."""
    parts: list[list[tuple[Link, int]]] = []
    clicks = 0
    for link, bot_clicks in page:
        clicks += link.click_count
        if not parts or clicks > _MOST_CLICKS:
            parts.append([])
            clicks = link.click_count
        parts[-1].append((link, bot_clicks))
    return parts
