"""The SQL of cleaning, for all workspaces.

Whoever extends a link at the same time wins: the condition is judged by the row as it is when it is written. A code is
never freed: rows stay.
"""

from laconic.storage.database import Database, Statements

# Worded as the partial indexes are: SQLite compares them term by term.
_RETIRABLE = "expires_at <= $1 AND expires_at IS NOT NULL AND is_active AND NOT is_deleted"
_BLANKABLE = "updated_at <= $1 AND original_url IS NOT NULL AND gone_reason IN ('expired', 'deleted')"


class EndedStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def drop_old_changes(self, before: int, limit: int) -> int:
        """Change rows that every worker has read; of all workspaces."""
        return await self._database.execute(
            "DELETE FROM link_change WHERE seq IN"
            " (SELECT seq FROM link_change WHERE changed_at < $1 ORDER BY seq LIMIT $2)",
            before,
            limit,
        )

    async def drop_old_keys(self, before: int, limit: int) -> int:
        """Idempotency keys that nobody will retry any more; of all workspaces."""
        return await self._database.execute(
            "DELETE FROM idempotency_key WHERE (workspace_id, key) IN"
            " (SELECT workspace_id, key FROM idempotency_key WHERE created_at < $1 LIMIT $2)",
            before,
            limit,
        )

    async def count_old_changes(self, before: int) -> int:
        """How many `drop_old_changes` would remove."""
        return await self._count("link_change WHERE changed_at < $1", before)

    async def count_old_keys(self, before: int) -> int:
        return await self._count("idempotency_key WHERE created_at < $1", before)

    async def count_expired(self, before: int) -> int:
        """How many `retire_expired` would retire; of all workspaces."""
        return await self._count(f"short_link WHERE {_RETIRABLE}", before)

    async def count_gone(self, before: int) -> int:
        return await self._count(f"short_link WHERE {_BLANKABLE}", before)

    async def _count(self, what: str, before: int) -> int:
        row = await self._database.fetch_one(f"SELECT count(*) FROM {what}", before)
        return int(row[0]) if row else 0


async def retire_expired(statements: Statements, before: int, moment: int, limit: int) -> int:
    """Says of links that expired before then what visitors are told already; nobody has to be told of it."""
    return await statements.execute(
        "UPDATE short_link SET is_active = FALSE, gone_reason = 'expired', version = version + 1, updated_at = $2"
        f" WHERE id IN (SELECT id FROM short_link WHERE {_RETIRABLE} ORDER BY expires_at LIMIT $3) AND {_RETIRABLE}",
        before,
        moment,
        limit,
    )


async def blank_gone(statements: Statements, before: int, limit: int) -> int:
    """Removes where a link led and what it was called; code, reason and dates stay."""
    return await statements.execute(
        "UPDATE short_link SET original_url = NULL, target_url = NULL, normalized_url = NULL,"
        " normalized_digest = NULL, title = NULL, description = NULL, metadata = '{}', version = version + 1"
        f" WHERE id IN (SELECT id FROM short_link WHERE {_BLANKABLE} ORDER BY updated_at LIMIT $2) AND {_BLANKABLE}",
        before,
        limit,
    )
