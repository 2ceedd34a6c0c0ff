"""The SQL of links. Every method is told the workspace whose links it may touch."""

import asyncio
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from laconic.errors import Conflict
from laconic.links.model import Link
from laconic.redirect.model import LinkRow
from laconic.storage.database import Database, Row, Statements
from laconic.workspaces.audit.store import insert_events_of

_COLUMNS = (
    "id",
    "workspace_id",
    "domain_id",
    "short_code",
    "original_url",
    "target_url",
    "title",
    "description",
    "metadata",
    "created_at",
    "updated_at",
    "expires_at",
    "is_active",
    "is_deleted",
    "gone_reason",
    "redirect_status",
    "version",
)
INSERT_COLUMNS = (
    "id",
    "workspace_id",
    "domain_id",
    "short_code",
    "original_url",
    "target_url",
    "normalized_url",
    "normalized_digest",
    "title",
    "description",
    "metadata",
    "created_by",
    "created_at",
    "updated_at",
    "expires_at",
    "redirect_status",
)
# Rows of a page that are made links before the loop has its turn: redirects are answered by it.
_SLICE = 100
_SHOWN = (
    f"SELECT {', '.join('short_link.' + column for column in _COLUMNS)},"
    " coalesce(link_total.clicks, 0), link_total.last_clicked_at"
)
_WITH_TOTALS = "LEFT JOIN link_total ON link_total.link_id = short_link.id"
_SELECT = f"{_SHOWN} FROM short_link {_WITH_TOTALS}"
# CROSS JOIN: SQLite reads the tables in this order, so that the totals' index gives the order of the list.
_SELECT_BY_TOTALS = f"{_SHOWN} FROM link_total CROSS JOIN short_link"
_EDITABLE = frozenset(
    "original_url target_url normalized_url normalized_digest title description metadata expires_at is_active"
    " is_deleted gone_reason redirect_status".split()
)


def link_from_row(row: Row) -> Link:
    return Link(*row)


@dataclass(frozen=True, slots=True)
class PublicLink:
    """What anybody may know of a link, whoever owns it: no title, no counts. The tenant is never shown."""

    row: LinkRow
    original_url: str
    created_at: int
    workspace_id: int


class LinkStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, workspace_id: int, domain_id: int, code: str) -> Link | None:
        """Deleted ones too: the caller decides what that means."""
        row = await self._database.for_workspace(workspace_id).fetch_one(
            f"{_SELECT} WHERE short_link.workspace_id = $1 AND domain_id = $2 AND short_code = $3",
            workspace_id,
            domain_id,
            code,
        )
        return link_from_row(row) if row else None

    async def find_public(self, domain_id: int, code: str) -> PublicLink | None:
        """For the preview. Takes no workspace_id: whoever has the code may see where it leads, as by following it."""
        row = await self._database.fetch_one(
            "SELECT id, coalesce(target_url, original_url), redirect_status, expires_at, is_active, is_deleted,"
            " gone_reason, version, coalesce(original_url, ''), created_at, workspace_id"
            " FROM short_link WHERE domain_id = $1 AND short_code = $2",
            domain_id,
            code,
        )
        return PublicLink(LinkRow(*row[:8]), *row[8:]) if row else None

    async def is_free(self, domain_id: int, code: str) -> bool:
        """Has the code never been used on this domain, by anybody? Says nothing about by whom."""
        row = await self._database.fetch_one(
            "SELECT 1 FROM short_link WHERE domain_id = $1 AND short_code = $2", domain_id, code
        )
        return row is None

    async def domains_of_code(self, workspace_id: int, code: str, domain_ids: Sequence[int]) -> set[int]:
        """On which of these domains the workspace has, or had, a link with this code."""
        marks = ",".join(f"${number}" for number in range(3, len(domain_ids) + 3))
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            "SELECT domain_id FROM short_link WHERE workspace_id = $1 AND short_code = $2"
            f" AND domain_id IN ({marks})",
            workspace_id,
            code,
            *domain_ids,
        )
        return {row[0] for row in rows}

    async def insert_many(
        self,
        workspace_id: int,
        rows: Sequence[Sequence[Any]],
        *,
        announce: Set[int] = frozenset(),
        events: Mapping[int, Sequence[Any]] = MappingProxyType({}),
    ) -> set[int]:
        """Inserts what the unique indexes allow and gives the ids that they refused.

        `announce` names the ids whose codes somebody may have asked for before: every worker is told of them.
        `events` are the audit trail's rows, by id of the link. Where `parts_tenants` is false the rows may be of
        several workspaces.
        """

        async def work(statements: Statements) -> set[int]:
            refused: set[int] = set()
            if not await statements.insert_many("short_link", INSERT_COLUMNS, rows):
                refused = {row[0] for row in rows} - await _present(statements, rows)
            told = announce - refused
            if told:
                codes = [(row[2], row[3], 1) for row in rows if row[0] in told]
                await announce_changes(statements, codes, rows[0][12])
            if events:
                kept = [event for link_id, event in events.items() if link_id not in refused]
                await insert_events_of({row[1] for row in rows}, statements, kept)
            return refused

        return await self._database.for_workspace(workspace_id).transaction(work)

    @property
    def parts_tenants(self) -> bool:
        return self._database.parts_tenants

    async def list_page(
        self,
        workspace_id: int,
        condition: str,
        arguments: Sequence[Any],
        order: str,
        limit: int,
        *,
        by_totals: bool = False,
        names_ids: bool = False,
        index: str | None = None,
    ) -> list[Link]:
        """Links that are neither deleted nor blanked. `condition` and `order` are made by `browse`, never by a caller's text.

        `by_totals`: only links that were followed, read from their totals on. `names_ids`: the condition names a few
        links; the plus keeps the planner from walking the whole workspace instead. `index`: has the order, and few
        links but those of the condition.
        """
        own = "+short_link.workspace_id = $1" if names_ids else "short_link.workspace_id = $1"
        by = "" if index is None else self._database.by_index(index)
        source = f"{_SHOWN} FROM short_link{by} {_WITH_TOTALS} WHERE"
        if by_totals:
            source = (
                f"{_SELECT_BY_TOTALS} WHERE link_total.workspace_id = $1"
                " AND short_link.id = link_total.link_id AND"
            )
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"{source} {own} AND NOT is_deleted AND original_url IS NOT NULL{condition}"
            f" ORDER BY {order} LIMIT {limit:d}",
            workspace_id,
            *arguments,
        )
        links: list[Link] = []
        for first in range(0, len(rows), _SLICE):
            links += map(link_from_row, rows[first : first + _SLICE])
            await asyncio.sleep(0)
        return links

    def text_search(self, words: Sequence[str], argument: int) -> tuple[str, str]:
        return self._database.text_search(words, argument)


async def _present(statements: Statements, rows: Sequence[Sequence[Any]]) -> set[int]:
    """Which of these rows are there. By id and code: an id that another process made first is not ours."""
    present: set[int] = set()
    for workspace_id in {row[1] for row in rows}:
        wanted = {row[0]: row[3] for row in rows if row[1] == workspace_id}
        present |= await _present_of(statements, workspace_id, wanted)
    return present


async def _present_of(statements: Statements, workspace_id: int, wanted: Mapping[int, str]) -> set[int]:
    present: set[int] = set()
    ids = list(wanted)
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        marks = ",".join(f"${number}" for number in range(2, len(some) + 2))
        found = await statements.fetch_all(
            f"SELECT id, short_code FROM short_link WHERE workspace_id = $1 AND id IN ({marks})",
            workspace_id,
            *some,
        )
        present.update(link_id for link_id, code in found if wanted[link_id] == code)
    return present


# Statements of a transaction that a verb has opened.


async def insert_one(statements: Statements, workspace_id: int, row: Sequence[Any]) -> bool:
    """False when a unique index refused it."""
    marks = ", ".join(f"${number}" for number in range(1, len(row) + 1))
    sql = f"INSERT INTO short_link ({', '.join(INSERT_COLUMNS)}) VALUES ({marks}) ON CONFLICT DO NOTHING"
    if row[1] != workspace_id:
        raise ValueError("the row belongs to another workspace")
    return await statements.execute(sql, *row) == 1


async def find_for_change(
    statements: Statements, workspace_id: int, domain_id: int, code: str
) -> Link | None:
    """The link, locked: whoever else wants to change it waits, in turn, for the end of this transaction.

    An UPDATE that changes nothing, because it locks on every engine. Without the totals, which the writer of links
    may not see (they are another file on one engine).
    """
    row = await statements.fetch_one(
        "UPDATE short_link SET version = version"
        " WHERE workspace_id = $1 AND domain_id = $2 AND short_code = $3"
        f" RETURNING {', '.join(_COLUMNS)}",
        workspace_id,
        domain_id,
        code,
    )
    return link_from_row(row) if row else None


async def find_for_operator(statements: Statements, domain_id: int, code: str) -> Link | None:
    """The same, whoever owns it: for taking it down."""
    row = await statements.fetch_one(
        "UPDATE short_link SET version = version WHERE domain_id = $1 AND short_code = $2"
        f" RETURNING {', '.join(_COLUMNS)}",
        domain_id,
        code,
    )
    return link_from_row(row) if row else None


async def find_reusable(
    statements: Statements, workspace_id: int, digest: bytes, normalized_url: str
) -> Link | None:
    """The live or expired link that holds this URL for reuse."""
    row = await statements.fetch_one(
        f"SELECT {', '.join(_COLUMNS)} FROM short_link"
        " WHERE workspace_id = $1 AND normalized_digest = $2 AND is_active AND NOT is_deleted"
        " AND normalized_url = $3",
        workspace_id,
        digest,
        normalized_url,
    )
    return link_from_row(row) if row else None


async def release_from_reuse(statements: Statements, workspace_id: int, link_id: int) -> None:
    """The link no longer stands for its URL; visitors see no difference."""
    await statements.execute(
        "UPDATE short_link SET normalized_digest = NULL WHERE id = $1 AND workspace_id = $2",
        link_id,
        workspace_id,
    )


async def update(
    statements: Statements, workspace_id: int, link: Link, changes: dict[str, Any], moment: int
) -> int:
    """Writes the changes if the link still has the version that was read; gives the new version."""
    unknown = changes.keys() - _EDITABLE
    if unknown:
        raise ValueError(f"not editable: {unknown}")
    names = sorted(changes)
    sets = "".join(f"{name} = ${number}, " for number, name in enumerate(names, start=5))
    changed = await statements.execute(
        f"UPDATE short_link SET {sets}updated_at = $4, version = version + 1"
        " WHERE id = $1 AND workspace_id = $2 AND version = $3",
        link.id,
        workspace_id,
        link.version,
        moment,
        *(changes[name] for name in names),
    )
    if not changed:
        raise Conflict("version")
    return link.version + 1


async def delete_batch(
    statements: Statements, workspace_id: int, moment: int, limit: int
) -> list[tuple[int, str, int]]:
    """Deletes some live links of a workspace; gives (domain, code, version) of each."""
    rows = await statements.fetch_all(
        "UPDATE short_link SET is_deleted = TRUE, is_active = FALSE, gone_reason = 'deleted', updated_at = $2,"
        " version = version + 1 WHERE workspace_id = $1 AND id IN (SELECT id FROM short_link"
        " WHERE workspace_id = $1 AND is_active AND NOT is_deleted ORDER BY created_at DESC, id DESC LIMIT $3)"
        " RETURNING domain_id, short_code, version",
        workspace_id,
        moment,
        limit,
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def announce_changes(
    statements: Statements, links: Sequence[tuple[int, str, int]], moment: int
) -> None:
    """Tells every worker that these links (domain, code, version) are not what they were."""
    await statements.insert_many(
        "link_change",
        ("domain_id", "short_code", "version", "changed_at"),
        [(domain_id, code, version, moment) for domain_id, code, version in links],
    )


# What was answered to a request with an Idempotency-Key.


async def claim_key(
    statements: Statements, workspace_id: int, key: str, fingerprint: bytes, moment: int
) -> Row | None:
    """None when the key is new and now claimed; otherwise (fingerprint, status, body) of the first answer."""
    claimed = await statements.execute(
        "INSERT INTO idempotency_key (workspace_id, key, fingerprint, created_at) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (workspace_id, key) DO NOTHING",
        workspace_id,
        key,
        fingerprint,
        moment,
    )
    return None if claimed else await find_answer(statements, workspace_id, key)


async def find_answer(statements: Statements, workspace_id: int, key: str) -> Row | None:
    return await statements.fetch_one(
        "SELECT fingerprint, status, body FROM idempotency_key WHERE workspace_id = $1 AND key = $2",
        workspace_id,
        key,
    )


async def keep_answer(statements: Statements, workspace_id: int, key: str, status: int, body: str) -> None:
    await statements.execute(
        "UPDATE idempotency_key SET status = $3, body = $4 WHERE workspace_id = $1 AND key = $2",
        workspace_id,
        key,
        status,
        body,
    )
