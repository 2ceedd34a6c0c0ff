"""The SQL of searching: which links a text may mean, asked of one index at a time."""

from collections.abc import Sequence
from typing import Any, Final

from laconic.storage.database import Database

# With more than these, walking the list in its order meets enough of them soon.
MOST_FOUND: Final = 2_000


class SearchStore:
    def __init__(self, database: Database, most_found: int = MOST_FOUND) -> None:
        self._database = database
        self.most_found = most_found

    async def by_code(self, workspace_id: int, code: str) -> list[int] | None:
        return await self._ids(
            workspace_id,
            "domain_id IN (SELECT id FROM domain WHERE workspace_id = $1 OR workspace_id IS NULL)"
            " AND short_code = $2",
            code,
        )

    async def by_words(self, workspace_id: int, words: Sequence[str]) -> list[int] | None:
        condition, argument = self._database.text_search(words, 2)
        return await self._ids(workspace_id, condition, argument)

    async def by_url(self, workspace_id: int, part: str) -> list[int] | None:
        """None also where no index helps."""
        found = self._database.part_search(part, 2)
        return None if found is None else await self._ids(workspace_id, found[0], *found[1])

    async def left_by(
        self, workspace_id: int, condition: str, arguments: Sequence[Any], index: str | None = None
    ) -> list[int] | None:
        """What the list's own conditions leave, worded as `LinkStore.list_page` words them; None when there are too many."""
        by = "" if index is None else self._database.by_index(index)
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT id FROM short_link{by} WHERE workspace_id = $1 AND NOT is_deleted"
            f" AND original_url IS NOT NULL{condition} LIMIT {self.most_found + 1:d}",
            workspace_id,
            *arguments,
        )
        return None if len(rows) > self.most_found else [row[0] for row in rows]

    async def moment_behind(self, workspace_id: int, last: int, count: int) -> int | None:
        """When the link was made that comes so many behind those of this moment, newest first; None past the end."""
        row = await self._database.for_workspace(workspace_id).fetch_one(
            "SELECT created_at FROM short_link WHERE workspace_id = $1 AND created_at <= $2"
            f" ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET {count:d}",
            workspace_id,
            last,
        )
        return None if row is None else int(row[0])

    async def _ids(self, workspace_id: int, condition: str, *arguments: Any) -> list[int] | None:
        """None when there are too many. The plus keeps the planner from walking the whole workspace instead."""
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT id FROM short_link WHERE +workspace_id = $1 AND NOT is_deleted AND {condition}"
            f" LIMIT {self.most_found + 1:d}",
            workspace_id,
            *arguments,
        )
        return None if len(rows) > self.most_found else [row[0] for row in rows]
