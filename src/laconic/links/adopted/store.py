"""The SQL of links that were made elsewhere. Every method is told the workspace that takes them in."""

from collections.abc import Iterable, Sequence
from typing import Any

from laconic.links.model import Link
from laconic.links.store import INSERT_COLUMNS, announce_changes, find_for_change, link_from_row, update
from laconic.storage.database import Database, Statements

ADOPT_COLUMNS = (*INSERT_COLUMNS, "is_active", "is_deleted", "gone_reason")
_COLUMNS = (
    "id, workspace_id, domain_id, short_code, original_url, target_url, title, description, metadata, created_at,"
    " updated_at, expires_at, is_active, is_deleted, gone_reason, redirect_status, version"
)
_MOST_CODES = 400

Key = tuple[int, str]  # domain and code


class AdoptedStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, workspace_id: int, keys: Iterable[Key]) -> dict[Key, Link]:
        """Those that the workspace has, or had; without their clicks."""
        tenant = self._database.for_workspace(workspace_id)
        found: dict[Key, Link] = {}
        for domain_id, codes in _by_domain(keys):
            marks = ",".join(f"${number}" for number in range(3, len(codes) + 3))
            rows = await tenant.fetch_all(
                f"SELECT {_COLUMNS} FROM short_link"
                f" WHERE workspace_id = $1 AND domain_id = $2 AND short_code IN ({marks})",
                workspace_id,
                domain_id,
                *codes,
            )
            for row in rows:
                link = link_from_row(row)
                found[link.domain_id, link.short_code] = link
        return found

    async def find_foreign(self, workspace_id: int, keys: Iterable[Key]) -> set[Key]:
        """Those that another workspace has. Says nothing about whose they are."""
        found: set[Key] = set()
        for domain_id, codes in _by_domain(keys):
            marks = ",".join(f"${number}" for number in range(3, len(codes) + 3))
            rows = await self._database.fetch_all(
                "SELECT short_code FROM short_link"
                f" WHERE workspace_id <> $1 AND domain_id = $2 AND short_code IN ({marks})",
                workspace_id,
                domain_id,
                *codes,
            )
            found.update((domain_id, row[0]) for row in rows)
        return found

    async def page(self, workspace_id: int, after: int, limit: int) -> list[tuple[Link, int]]:
        """All that the workspace ever had, behind an id, each with its clicks by bots."""
        columns = ", ".join(f"short_link.{name}" for name in _COLUMNS.split(", "))
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT {columns}, coalesce(clicks, 0), last_clicked_at, coalesce(bot_clicks, 0)"
            " FROM short_link LEFT JOIN link_total ON link_total.link_id = short_link.id"
            " WHERE short_link.workspace_id = $1 AND short_link.id > $2 ORDER BY short_link.id LIMIT $3",
            workspace_id,
            after,
            limit,
        )
        return [(link_from_row(row[:-1]), int(row[-1])) for row in rows]

    async def keys_of(self, workspace_id: int, link_ids: Sequence[int]) -> dict[int, Key]:
        rows = await self._database.for_workspace(workspace_id).fetch_among(
            "SELECT id, domain_id, short_code FROM short_link WHERE workspace_id = $1 AND id IN ($ids)",
            link_ids,
            workspace_id,
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    async def insert(self, workspace_id: int, rows: Sequence[Sequence[Any]], moment: int) -> set[int]:
        """Inserts what the unique indexes allow, tells every worker, and gives the ids that went in."""
        wanted = {row[0]: (row[2], row[3]) for row in rows}

        async def work(statements: Statements) -> set[int]:
            present = set(wanted)
            if not await statements.insert_many("short_link", ADOPT_COLUMNS, rows):
                found = await statements.fetch_among(
                    "SELECT id, domain_id, short_code FROM short_link WHERE workspace_id = $1 AND id IN ($ids)",
                    sorted(wanted),
                    workspace_id,
                )
                present = {row[0] for row in found if wanted[row[0]] == (row[1], row[2])}
            told = [(*wanted[link_id], 1) for link_id in sorted(present)]
            if told:
                # Somebody may have asked for the code before, and been told that it is unknown.
                await announce_changes(statements, told, moment)
            return present

        return await self._database.for_workspace(workspace_id).transaction(work)

    async def change(self, workspace_id: int, key: Key, changes: dict[str, Any], moment: int) -> Link | None:
        """Writes the changes over whatever is there; None when it is gone meanwhile."""

        async def work(statements: Statements) -> Link | None:
            link = await find_for_change(statements, workspace_id, *key)
            if link is None or link.is_deleted:
                return None
            version = await update(statements, workspace_id, link, changes, moment)
            await announce_changes(statements, [(*key, version)], moment)
            return link

        return await self._database.for_workspace(workspace_id).transaction(work)


def _by_domain(keys: Iterable[Key]) -> Iterable[tuple[int, list[str]]]:
    """Bounded lists of codes, each of one domain."""
    domains: dict[int, list[str]] = {}
    for domain_id, code in keys:
        domains.setdefault(domain_id, []).append(code)
    for domain_id, codes in domains.items():
        for start in range(0, len(codes), _MOST_CODES):
            yield domain_id, codes[start : start + _MOST_CODES]
