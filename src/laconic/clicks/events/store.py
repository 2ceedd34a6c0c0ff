"""The SQL of raw clicks. Every method that reads or changes them is told the workspace they must belong to.

Raw clicks are kept by month; every statement names the month and stays inside its bounds.
"""

from collections.abc import Sequence

from laconic.clicks.events.model import COLUMNS, ClickEvent, Place
from laconic.storage.database import Database
from laconic.storage.months import begin_of, month_of

_SELECT = f"SELECT {', '.join(COLUMNS)} FROM click_event"
_OF_LINK = "short_link_id = $1 AND workspace_id = $2 AND clicked_at >= $3 AND clicked_at < $4"
_OF_VISITOR = "visitor_hash = $1 AND workspace_id = $2 AND clicked_at >= $3 AND clicked_at < $4"


class EventStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def months(self) -> list[int]:
        """Those that may hold clicks, oldest first. Of all workspaces: it tells of no click."""
        return await self._database.event_months()

    async def page_before(
        self, workspace_id: int, link_id: int, month: int, before: Place, limit: int
    ) -> list[ClickEvent]:
        """Newest first, before a place."""
        rows = await self._database.for_workspace(workspace_id).fetch_events(
            month,
            f"{_SELECT} WHERE {_OF_LINK} AND (clicked_at, id) < ($5, $6)"
            " ORDER BY clicked_at DESC, id DESC LIMIT $7",
            link_id,
            workspace_id,
            begin_of(month),
            min(before.clicked_at + 1, begin_of(month + 1)),
            *before,
            limit,
        )
        return [ClickEvent(*row) for row in rows]

    async def page_behind(
        self, workspace_id: int, link_id: int, month: int, behind: Place, end: int, limit: int
    ) -> list[ClickEvent]:
        """Oldest first, behind a place and before `end`."""
        rows = await self._database.for_workspace(workspace_id).fetch_events(
            month,
            f"{_SELECT} WHERE {_OF_LINK} AND (clicked_at, id) > ($5, $6) ORDER BY clicked_at, id LIMIT $7",
            link_id,
            workspace_id,
            max(behind.clicked_at, begin_of(month)),
            min(end, begin_of(month + 1)),
            *behind,
            limit,
        )
        return [ClickEvent(*row) for row in rows]

    async def newest(
        self, workspace_id: int, link_id: int | None, start: int, end: int, limit: int
    ) -> list[ClickEvent]:
        """The newest of a short time, newest first; of all links of the workspace where none is named."""
        found: list[ClickEvent] = []
        whose = "short_link_id = $1" if link_id is not None else "workspace_id = $1"
        for month in range(month_of(end), month_of(start) - 1, -1):
            rows = await self._database.for_workspace(workspace_id).fetch_events(
                month,
                f"{_SELECT} WHERE {whose} AND workspace_id = $2 AND clicked_at >= $3 AND clicked_at < $4"
                " ORDER BY clicked_at DESC, id DESC LIMIT $5",
                workspace_id if link_id is None else link_id,
                workspace_id,
                max(start, begin_of(month)),
                min(end, begin_of(month + 1)),
                limit - len(found),
            )
            found += [ClickEvent(*row) for row in rows]
            if len(found) == limit:
                break
        return found

    async def erase_link(self, workspace_id: int, link_id: int, month: int, limit: int) -> int:
        """Erases about `limit` clicks of a link in a month, the oldest, and says how many; 0 when none is left."""
        start, end = begin_of(month), begin_of(month + 1)
        last = await self._database.for_workspace(workspace_id).fetch_events(
            month,
            f"SELECT clicked_at FROM click_event WHERE {_OF_LINK} ORDER BY clicked_at LIMIT 1 OFFSET $5",
            link_id,
            workspace_id,
            start,
            end,
            limit - 1,
        )
        until = last[0][0] + 1 if last else end
        return await self._database.for_workspace(workspace_id).change_events(
            month, f"DELETE FROM click_event WHERE {_OF_LINK}", link_id, workspace_id, start, until
        )

    async def erase_visitor(self, workspace_id: int, visitor: bytes, month: int, start: int, end: int) -> int:
        """Erases a visitor's clicks in a part of a month and says how many. Reads all clicks of that time."""
        return await self._database.for_workspace(workspace_id).change_events(
            month, f"DELETE FROM click_event WHERE {_OF_VISITOR}", visitor, workspace_id, start, end
        )

    async def page_of_all(
        self, month: int, behind: Place, limit: int
    ) -> list[tuple[int, str | None, ClickEvent]]:
        """Clicks of all workspaces in a month, oldest first, behind a place: workspace, code and click."""
        rows = await self._database.fetch_events(
            month,
            f"SELECT workspace_id, {', '.join(COLUMNS)} FROM click_event WHERE clicked_at >= $1"
            " AND clicked_at < $2 AND (clicked_at, id) > ($3, $4) ORDER BY clicked_at, id LIMIT $5",
            max(behind.clicked_at, begin_of(month)),
            begin_of(month + 1),
            *behind,
            limit,
        )
        events = [(row[0], ClickEvent(*row[1:])) for row in rows]
        links = sorted({event.short_link_id for _, event in events})
        found = await self._database.fetch_among(
            "SELECT id, short_code FROM short_link WHERE id IN ($ids)", links
        )
        codes = {row[0]: row[1] for row in found}
        return [(workspace_id, codes.get(event.short_link_id), event) for workspace_id, event in events]

    async def page_of_workspace(
        self, workspace_id: int, month: int, behind: Place, limit: int
    ) -> list[ClickEvent]:
        """Clicks of all links of a workspace in a month, oldest first, behind a place."""
        rows = await self._database.for_workspace(workspace_id).fetch_events(
            month,
            f"{_SELECT} WHERE workspace_id = $1 AND clicked_at >= $2 AND clicked_at < $3"
            " AND (clicked_at, id) > ($4, $5) ORDER BY clicked_at, id LIMIT $6",
            workspace_id,
            max(behind.clicked_at, begin_of(month)),
            begin_of(month + 1),
            *behind,
            limit,
        )
        return [ClickEvent(*row) for row in rows]

    async def count_all(self, month: int, start: int, end: int) -> int:
        """How many clicks all workspaces have in a part of a month."""
        rows = await self._database.fetch_events(
            month, "SELECT count(*) FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2", start, end
        )
        return int(rows[0][0]) if rows else 0

    async def first_of_all(self, month: int, start: int) -> int | None:
        """The moment of the first click of any workspace in a month, from a moment on."""
        rows = await self._database.fetch_events(
            month,
            "SELECT clicked_at FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2"
            " ORDER BY clicked_at LIMIT 1",
            max(start, begin_of(month)),
            begin_of(month + 1),
        )
        return int(rows[0][0]) if rows else None

    async def step_of_all(self, month: int, start: int, end: int, limit: int) -> int:
        """Where some `limit` clicks of all workspaces end, from a moment on; at most `end`."""
        rows = await self._database.fetch_events(
            month,
            "SELECT clicked_at FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2"
            " ORDER BY clicked_at LIMIT 1 OFFSET $3",
            start,
            end,
            limit - 1,
        )
        return int(rows[0][0]) + 1 if rows else end

    async def erase_of(self, workspace_ids: Sequence[int], month: int, start: int, end: int) -> int:
        """Erases the clicks of these workspaces in a part of a month and says how many. Reads all of that time."""
        owners = ", ".join(f"{workspace_id:d}" for workspace_id in workspace_ids)
        return await self._database.change_events(
            month,
            f"DELETE FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2 AND workspace_id IN ({owners})",
            start,
            end,
        )

    async def codes_of(self, workspace_id: int, link_ids: list[int]) -> dict[int, str]:
        marks = ", ".join(f"${number}" for number in range(2, len(link_ids) + 2))
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT id, short_code FROM short_link WHERE workspace_id = $1 AND id IN ({marks})",
            workspace_id,
            *link_ids,
        )
        return {row[0]: row[1] for row in rows}
