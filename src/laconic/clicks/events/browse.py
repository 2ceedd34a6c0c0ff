"""Reading raw clicks: the newest by page, all of a time one after the other."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

from laconic.clicks.events.model import BEHIND_ALL, ClickEvent, Place
from laconic.clicks.events.store import EventStore
from laconic.clock import DAY
from laconic.errors import ChoiceRefused
from laconic.storage.months import month_of

LARGEST_PAGE = 1_000
_EXPORT_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Page:
    events: list[ClickEvent]
    next_cursor: str | None


class EventBrowser:
    """The verbs "recent" and "export"."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    async def recent(
        self, workspace_id: int, link_id: int, made_at: int, cursor: str | None, limit: int
    ) -> Page:
        """Newest first. A link has no clicks from before it was made, so months before are not asked."""
        before = _read_cursor(cursor)
        # A clock may be set back, but not by a day.
        oldest = month_of(max(made_at - DAY, 0))
        events: list[ClickEvent] = []
        for month in reversed(await self._store.months()):
            if oldest <= month <= month_of(before.clicked_at):
                wanted = limit + 1 - len(events)
                events += await self._store.page_before(workspace_id, link_id, month, before, wanted)
                if len(events) > limit:
                    break
        shown = events[:limit]
        return Page(shown, str(shown[-1].place) if len(events) > limit else None)

    async def export(
        self, workspace_id: int, link_id: int, start: int, end: int
    ) -> AsyncIterator[list[ClickEvent]]:
        """Oldest first, in batches: whatever their number, only one batch is in memory."""
        behind = Place(start, -1)
        for month in await self._store.months():
            while month_of(start) <= month <= month_of(end):
                batch = await self._store.page_behind(
                    workspace_id, link_id, month, behind, end, _EXPORT_BATCH
                )
                if batch:
                    behind = batch[-1].place
                    yield batch
                if len(batch) < _EXPORT_BATCH:
                    break


def _read_cursor(cursor: str | None) -> Place:
    place = BEHIND_ALL if cursor is None else Place.from_text(cursor)
    if place is None:
        raise ChoiceRefused("cursor", "The cursor is not one that this list gave out.")
    return place
