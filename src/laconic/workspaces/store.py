"""The SQL of workspaces, users and API keys."""

import json
from typing import Any

from laconic.errors import Conflict
from laconic.storage.database import Database, Row
from laconic.workspaces.model import ApiKey

_KEY_COLUMNS = "id, workspace_id, name, key_prefix, scopes, created_by, created_at, expires_at, is_active"


class WorkspaceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def has_users(self) -> bool:
        """Of the whole installation: open mode ends with the first user."""
        return await self._database.fetch_one("SELECT 1 FROM users WHERE NOT is_deleted LIMIT 1") is not None

    async def find_key(self, key_hash: bytes) -> ApiKey | None:
        """By the hash alone: the key itself says which workspace it belongs to."""
        row = await self._database.fetch_one(
            f"SELECT {_KEY_COLUMNS} FROM api_key WHERE key_hash = $1", key_hash
        )
        return _key_from_row(row) if row else None

    async def insert_key(self, workspace_id: int, key: ApiKey, key_hash: bytes) -> bool:
        """False when the visible prefix is taken in this workspace."""
        values: tuple[Any, ...] = (
            key.id,
            workspace_id,
            key_hash,
            key.key_prefix,
            key.name,
            key.created_by,
            key.created_at,
            key.expires_at,
            True,
            json.dumps(sorted(key.scopes)),
        )
        marks = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        try:
            await self._database.execute(
                "INSERT INTO api_key (id, workspace_id, key_hash, key_prefix, name, created_by, created_at,"
                f" expires_at, is_active, scopes) VALUES ({marks})",
                *values,
            )
        except Conflict:
            return False
        return True

    async def list_keys(self, workspace_id: int) -> list[ApiKey]:
        rows = await self._database.fetch_all(
            f"SELECT {_KEY_COLUMNS} FROM api_key WHERE workspace_id = $1 ORDER BY created_at, id",
            workspace_id,
        )
        return [_key_from_row(row) for row in rows]

    async def revoke_key(self, workspace_id: int, key_prefix: str) -> bool:
        changed = await self._database.execute(
            "UPDATE api_key SET is_active = FALSE WHERE workspace_id = $1 AND key_prefix = $2 AND is_active",
            workspace_id,
            key_prefix,
        )
        return changed > 0


def _key_from_row(row: Row) -> ApiKey:
    key_id, workspace_id, name, prefix, scopes, created_by, created_at, expires_at, is_active = row
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
    )
