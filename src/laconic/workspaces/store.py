"""The SQL of workspaces, users and API keys."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from laconic.storage.database import Database, Row, Statements
from laconic.workspaces.model import ApiKey, Workspace, WorkspaceSettings

_KEY_COLUMNS = (
    "id, workspace_id, name, key_prefix, scopes, created_by, created_at, expires_at, is_active, last_used_at,"
    " replaced_by"
)
_WORKSPACE_COLUMNS = "id, name, slug, created_at, updated_at, settings, is_deleted"


class WorkspaceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def has_users(self) -> bool:
        """Of the whole installation: open mode ends with the first user."""
        return await self._database.fetch_one("SELECT 1 FROM users WHERE NOT is_deleted LIMIT 1") is not None

    async def find_key(self, key_hash: bytes) -> ApiKey | None:
        """By the hash alone: the key itself says which workspace it belongs to."""
        row = await self._database.fetch_by_key(
            f"SELECT {_KEY_COLUMNS} FROM api_key WHERE key_hash = $1", key_hash
        )
        return _key_from_row(row) if row else None

    async def list_keys(self, workspace_id: int, created_by: int | None = None) -> list[ApiKey]:
        """Of the workspace, or those that one user has made."""
        condition, values = ("", []) if created_by is None else (" AND created_by = $2", [created_by])
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT {_KEY_COLUMNS} FROM api_key WHERE workspace_id = $1{condition} ORDER BY created_at, id",
            workspace_id,
            *values,
        )
        return [_key_from_row(row) for row in rows]

    async def note_uses(self, uses: Sequence[tuple[int, int, int]]) -> None:
        """Workspace, key and moment of each. Of many tenants at once: no caller's word is in it."""
        await self._database.execute_many(
            "UPDATE api_key SET last_used_at = $3 WHERE workspace_id = $1 AND id = $2", sorted(uses)
        )

    # Workspaces.

    async def find_workspace(self, workspace_id: int) -> Workspace | None:
        row = await self._database.for_workspace(workspace_id).fetch_by_key(
            f"SELECT {_WORKSPACE_COLUMNS} FROM workspace WHERE id = $1 AND NOT is_deleted", workspace_id
        )
        return _workspace_from_row(row) if row else None

    async def find_slug(self, slug: str) -> Workspace | None:
        """By the name that people and the operator use."""
        row = await self._database.fetch_one(
            f"SELECT {_WORKSPACE_COLUMNS} FROM workspace WHERE slug = $1 AND NOT is_deleted", slug
        )
        return _workspace_from_row(row) if row else None

    async def list_workspaces(self, past: int, limit: int) -> list[Workspace]:
        """All of the installation, for the operator, by id from `past` on."""
        rows = await self._database.fetch_all(
            f"SELECT {_WORKSPACE_COLUMNS} FROM workspace WHERE NOT is_deleted AND id > $1 ORDER BY id LIMIT $2",
            past,
            limit,
        )
        return [_workspace_from_row(row) for row in rows]

    async def deleted_workspaces(self, limit: int) -> list[int]:
        """Those that still have links which were not deleted with them."""
        rows = await self._database.fetch_all(
            "SELECT id FROM workspace WHERE is_deleted AND EXISTS (SELECT 1 FROM short_link"
            " WHERE short_link.workspace_id = workspace.id AND is_active AND NOT short_link.is_deleted) LIMIT $1",
            limit,
        )
        return [int(row[0]) for row in rows]

    async def drop_expired_keys(self, before: int, limit: int) -> int:
        """API keys that expired before then; of all workspaces."""
        return await self._database.execute(
            "DELETE FROM api_key WHERE id IN (SELECT id FROM api_key WHERE expires_at <= $1 LIMIT $2)",
            before,
            limit,
        )

    async def count_expired_keys(self, before: int) -> int:
        row = await self._database.fetch_one("SELECT count(*) FROM api_key WHERE expires_at <= $1", before)
        return int(row[0]) if row else 0


# Statements of a transaction that a verb has opened.


async def insert_key(statements: Statements, workspace_id: int, key: ApiKey, key_hash: bytes) -> bool:
    """False when the visible prefix is taken in this workspace."""
    inserted = await statements.execute(
        "INSERT INTO api_key (id, workspace_id, key_hash, key_prefix, name, created_by, created_at,"
        " expires_at, is_active, scopes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
        *(key.id, workspace_id, key_hash, key.key_prefix, key.name, key.created_by, key.created_at),
        *(key.expires_at, True, json.dumps(sorted(key.scopes))),
    )
    return inserted == 1


async def lock_key(statements: Statements, workspace_id: int, key_id: int) -> ApiKey | None:
    """The key, locked until the transaction ends."""
    row = await statements.fetch_one(
        "UPDATE api_key SET is_active = is_active WHERE workspace_id = $1 AND id = $2"
        f" RETURNING {_KEY_COLUMNS}",
        workspace_id,
        key_id,
    )
    return _key_from_row(row) if row else None


async def revoke_key(statements: Statements, workspace_id: int, key_id: int) -> bool:
    changed = await statements.execute(
        "UPDATE api_key SET is_active = FALSE WHERE workspace_id = $1 AND id = $2 AND is_active",
        workspace_id,
        key_id,
    )
    return changed > 0


async def replace_key(
    statements: Statements, workspace_id: int, key_id: int, replaced_by: int, expires_at: int
) -> None:
    await statements.execute(
        "UPDATE api_key SET replaced_by = $3, expires_at = $4 WHERE workspace_id = $1 AND id = $2",
        workspace_id,
        key_id,
        replaced_by,
        expires_at,
    )


async def revoke_keys_of(
    statements: Statements, workspace_id: int, user_id: int, allowed: frozenset[str]
) -> int:
    """Ends the keys of a user that can do more than `allowed`; says how many."""
    rows = await statements.fetch_all(
        f"SELECT {_KEY_COLUMNS} FROM api_key WHERE workspace_id = $1 AND created_by = $2 AND is_active",
        workspace_id,
        user_id,
    )
    beyond = [key.id for key in map(_key_from_row, rows) if not key.scopes or not key.scopes <= allowed]
    for key_id in beyond:
        await revoke_key(statements, workspace_id, key_id)
    return len(beyond)


async def revoke_all_keys(statements: Statements, workspace_id: int) -> None:
    await statements.execute("UPDATE api_key SET is_active = FALSE WHERE workspace_id = $1", workspace_id)


async def insert_workspace(statements: Statements, workspace_id: int, workspace: Workspace) -> bool:
    """False when the slug is taken, by a deleted workspace too."""
    inserted = await statements.execute(
        "INSERT INTO workspace (id, name, slug, settings, created_at, updated_at)"
        " VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
        *(workspace_id, workspace.name, workspace.slug, _settings_text(workspace.settings)),
        *(workspace.created_at, workspace.updated_at),
    )
    return inserted == 1


async def lock_workspace(statements: Statements, workspace_id: int) -> Workspace | None:
    row = await statements.fetch_one(
        "UPDATE workspace SET updated_at = updated_at WHERE id = $1 AND NOT is_deleted"
        f" RETURNING {_WORKSPACE_COLUMNS}",
        workspace_id,
    )
    return _workspace_from_row(row) if row else None


async def update_workspace(
    statements: Statements, workspace_id: int, name: str, settings: WorkspaceSettings, moment: int
) -> None:
    await statements.execute(
        "UPDATE workspace SET name = $2, settings = $3, updated_at = $4 WHERE id = $1",
        workspace_id,
        name,
        _settings_text(settings),
        moment,
    )


async def mark_workspace_deleted(statements: Statements, workspace_id: int, moment: int) -> None:
    await statements.execute(
        "UPDATE workspace SET is_deleted = TRUE, updated_at = $2 WHERE id = $1", workspace_id, moment
    )


def _settings_text(settings: WorkspaceSettings) -> str:
    """Only what was chosen: the rest follows the installation's settings, also when those change."""
    return json.dumps({name: value for name, value in asdict(settings).items() if value not in (None, False)})


def _workspace_from_row(row: Row) -> Workspace:
    workspace_id, name, slug, created_at, updated_at, settings, is_deleted = row
    choices = WorkspaceSettings.from_json(json.loads(settings))
    return Workspace(workspace_id, name, slug, created_at, updated_at, choices, bool(is_deleted))


def _key_from_row(row: Row) -> ApiKey:
    key_id, workspace_id, name, prefix, scopes, created_by, created_at, expires_at, is_active, *rest = row
    return ApiKey(
        key_id,
        workspace_id,
        name,
        prefix,
        frozenset(json.loads(scopes)),
        created_by,
        created_at,
        expires_at,
        bool(is_active),
        *rest,
    )
