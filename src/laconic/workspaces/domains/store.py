"""The SQL of domains, and of what every process knows by heart."""

from dataclasses import replace
from typing import Any

from laconic.errors import Conflict
from laconic.storage.database import Database, Row, Statements
from laconic.workspaces.domains.model import Domain
from laconic.workspaces.model import DEFAULT_DOMAIN_ID

_COLUMNS = (
    "id, workspace_id, host, is_default, verified_at, root_target, not_found_target, created_at, proof,"
    " is_subdomain, is_deleted, revision, is_trusted, checked_at, lapsed_at"
)
_EDITABLE = frozenset(
    {
        *("is_default", "verified_at", "root_target", "not_found_target", "is_deleted"),
        *("is_trusted", "checked_at", "lapsed_at"),
    }
)


class DomainStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find(self, workspace_id: int, host: str) -> Domain | None:
        """Given-up ones too: the caller decides what that means."""
        row = await self._database.for_workspace(workspace_id).fetch_one(
            f"SELECT {_COLUMNS} FROM domain WHERE workspace_id = $1 AND host = $2", workspace_id, host
        )
        return _domain(row) if row else None

    async def list_all(self, workspace_id: int) -> list[Domain]:
        """The workspace's own, and the shared one."""
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT {_COLUMNS} FROM domain WHERE (workspace_id = $1 OR workspace_id IS NULL) AND NOT is_deleted"
            " ORDER BY created_at, id",
            workspace_id,
        )
        return [_domain(row) for row in rows]

    async def has_live_links(self, workspace_id: int, domain_id: int) -> bool:
        row = await self._database.for_workspace(workspace_id).fetch_one(
            "SELECT 1 FROM short_link WHERE workspace_id = $1 AND domain_id = $2 AND is_active AND NOT is_deleted"
            " LIMIT 1",
            workspace_id,
            domain_id,
        )
        return row is not None

    async def count_all(self, workspace_id: int) -> int:
        """Given-up ones too."""
        row = await self._database.for_workspace(workspace_id).fetch_one(
            "SELECT count(*) FROM domain WHERE workspace_id = $1", workspace_id
        )
        return int(row[0]) if row else 0

    async def slug_of(self, workspace_id: int) -> str:
        row = await self._database.for_workspace(workspace_id).fetch_one(
            "SELECT slug FROM workspace WHERE id = $1", workspace_id
        )
        return str(row[0]) if row else ""

    async def follow_base_host(self, host: str) -> None:
        """The shared domain, and with it the workspaces' subdomains, go by the base URL.

        Raises Conflict when a workspace has proved that the host is its own.
        """

        row = await self._database.fetch_one("SELECT host FROM domain WHERE id = $1", DEFAULT_DOMAIN_ID)
        if row is None or row[0] == host:
            return

        async def work(statements: Statements) -> None:
            await statements.execute("UPDATE domain SET host = $1 WHERE id = $2", host, DEFAULT_DOMAIN_ID)
            await statements.execute(
                "UPDATE domain SET host = (SELECT slug FROM workspace WHERE workspace.id = domain.workspace_id)"
                " || '.' || $1 WHERE is_subdomain",
                host,
            )

        await self._database.transaction(work)

    async def due_proofs(self, before: int, missing_before: int, limit: int) -> list[Domain]:
        """Of all workspaces: those whose proof was found, or missed, before then; longest ago first."""
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM domain WHERE proof IS NOT NULL AND verified_at IS NOT NULL AND NOT is_deleted"
            " AND NOT is_trusted AND NOT is_subdomain"
            " AND (coalesce(checked_at, verified_at) < $1"
            " OR lapsed_at IS NOT NULL AND coalesce(checked_at, verified_at) < $2)"
            " ORDER BY coalesce(checked_at, verified_at), id LIMIT $3",
            before,
            missing_before,
            limit,
        )
        return [_domain(row) for row in rows]

    # What every process knows by heart.

    async def revision(self) -> int:
        row = await self._database.fetch_hot("SELECT revision FROM directory_revision WHERE id = $1", 1)
        return int(row[0]) if row else 0

    async def changed_since(self, revision: int) -> list[Domain]:
        """Of all workspaces, in the order of their changes."""
        rows = await self._database.fetch_all(
            f"SELECT {_COLUMNS} FROM domain WHERE revision > $1 ORDER BY revision", revision
        )
        return [_domain(row) for row in rows]

    async def blocked_since(self, revision: int) -> list[Row]:
        """(host, includes_subdomains, is_removed, revision) of blocked hosts, in the order of their changes."""
        return await self._database.fetch_all(
            "SELECT host, includes_subdomains, is_removed, revision FROM blocked_host WHERE revision > $1"
            " ORDER BY revision",
            revision,
        )


# Statements of a transaction that a verb has opened.


async def claim_domain(statements: Statements, workspace_id: int, domain: Domain) -> Domain:
    """Adds a domain, or gives the workspace back the one it had under this host."""
    await statements.execute(
        "INSERT INTO domain (id, workspace_id, host, root_target, not_found_target, created_at, proof,"
        " is_subdomain, verified_at, is_trusted) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
        " ON CONFLICT (workspace_id, host) DO UPDATE SET is_deleted = FALSE, proof = excluded.proof,"
        " root_target = excluded.root_target, not_found_target = excluded.not_found_target,"
        " verified_at = excluded.verified_at, created_at = excluded.created_at, is_trusted = excluded.is_trusted,"
        " checked_at = NULL, lapsed_at = NULL WHERE domain.is_deleted",
        domain.id,
        workspace_id,
        domain.host,
        domain.root_target,
        domain.not_found_target,
        domain.created_at,
        domain.proof,
        domain.is_subdomain,
        domain.verified_at,
        domain.is_trusted,
    )
    row = await statements.fetch_one(
        f"SELECT {_COLUMNS} FROM domain WHERE workspace_id = $1 AND host = $2", workspace_id, domain.host
    )
    if row is None:
        raise Conflict("domain_claim_key")
    return _domain(row)


async def update_domain(
    statements: Statements, workspace_id: int, domain_id: int, changes: dict[str, Any]
) -> tuple[Domain, Domain] | None:
    """The domain as it was and as it is now. A new default takes the place of the old one."""
    unknown = changes.keys() - _EDITABLE
    if unknown:
        raise ValueError(f"not editable: {unknown}")
    names = sorted(changes)
    sets = ", ".join(f"{name} = ${number}" for number, name in enumerate(names, start=3))
    select = f"SELECT {_COLUMNS} FROM domain WHERE id = $1 AND workspace_id = $2"
    before = await statements.fetch_one(select, domain_id, workspace_id)
    if changes.get("is_default"):
        await statements.execute(
            "UPDATE domain SET is_default = FALSE WHERE workspace_id = $1 AND is_default", workspace_id
        )
    await statements.execute(
        f"UPDATE domain SET {sets} WHERE id = $1 AND workspace_id = $2",
        domain_id,
        workspace_id,
        *(changes[name] for name in names),
    )
    after = await statements.fetch_one(select, domain_id, workspace_id)
    return (_domain(before), _domain(after)) if before and after else None


async def find_lapsed(statements: Statements, host: str, lapsed_before: int) -> Domain | None:
    """The domain that somebody has proved once, and whose proof is missing since before then."""
    row = await statements.fetch_one(
        f"SELECT {_COLUMNS} FROM domain WHERE host = $1 AND verified_at IS NOT NULL AND NOT is_deleted"
        " AND lapsed_at <= $2",
        host,
        lapsed_before,
    )
    return _domain(row) if row else None


def _domain(row: Row) -> Domain:
    domain = Domain(*row)
    # One engine gives 0 and 1.
    return replace(
        domain,
        is_default=bool(domain.is_default),
        is_subdomain=bool(domain.is_subdomain),
        is_deleted=bool(domain.is_deleted),
        is_trusted=bool(domain.is_trusted),
    )
