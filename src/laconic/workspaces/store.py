"""The SQL of workspaces, users, API keys and domains."""

import json
from typing import Any

from laconic.errors import Conflict
from laconic.storage.database import Database, Row
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, ApiKey

_KEY_COLUMNS = "id, workspace_id, name, key_prefix, scopes, created_by, created_at, expires_at, is_active"


class WorkspaceStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def has_users(self) -> bool:
        """Of the whole installation: open mode ends with the first user."""
        return await self._database.fetch_one("SELECT 1 FROM users WHERE NOT is_deleted LIMIT 1") is not None

    async def set_default_host(self, host: str) -> None:
        """The shared default domain follows the base URL."""
        row = await self._database.fetch_one("SELECT host FROM domain WHERE id = $1", DEFAULT_DOMAIN_ID)
        if row and row[0] != host:
            await self._database.execute("UPDATE domain SET host = $1 WHERE id = $2", host, DEFAULT_DOMAIN_ID)

    async def redirect_hosts(self) -> dict[str, int]:
        """Every name that a visitor may come by, and its domain: the data plane knows no tenants."""
        rows = await self._database.fetch_all("SELECT host, id FROM domain WHERE verified_at IS NOT NULL")
        return {str(host): int(domain_id) for host, domain_id in rows}

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

    async def drop_expired_keys(self, before: int, limit: int) -> int:
        """API keys that expired before then; of all workspaces."""
        return await self._database.execute(
            "DELETE FROM api_key WHERE id IN (SELECT id FROM api_key WHERE expires_at <= $1 LIMIT $2)",
            before,
            limit,
        )

    async def drop_expired_sessions(self, before: int, limit: int) -> int:
        """Sessions that ended before then; of all workspaces."""
        return await self._database.execute(
            "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at <= $1 LIMIT $2)",
            before,
            limit,
        )

    async def count_expired_keys(self, before: int) -> int:
        row = await self._database.fetch_one("SELECT count(*) FROM api_key WHERE expires_at <= $1", before)
        return int(row[0]) if row else 0

    async def count_expired_sessions(self, before: int) -> int:
        row = await self._database.fetch_one("SELECT count(*) FROM session WHERE expires_at <= $1", before)
        return int(row[0]) if row else 0


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
