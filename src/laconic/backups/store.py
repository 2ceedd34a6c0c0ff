"""The SQL of backups: what there is, counted, so that a restore can tell whether it is all there again."""

from collections.abc import Mapping
from typing import Any, Protocol

from laconic.storage.database import Row

_COUNTS = {
    "workspaces": "SELECT count(*) FROM workspace",
    "users": "SELECT count(*) FROM users",
    "api_keys": "SELECT count(*) FROM api_key",
    "domains": "SELECT count(*) FROM domain",
    "links": "SELECT count(*) FROM short_link",
    "clicks": "SELECT coalesce(sum(clicks), 0) FROM link_total",
}


class Reads(Protocol):
    async def fetch_one(self, sql: str, *args: Any) -> Row | None: ...

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...


async def read_counts(database: Reads) -> dict[str, int]:
    rows = {name: await database.fetch_one(sql) for name, sql in _COUNTS.items()}
    return {name: int(row[0]) if row else 0 for name, row in rows.items()}


def check_counts(counts: Mapping[str, int]) -> list[str]:
    """Statements that fail when there is something else than these counts say; both engines run them."""
    checks = [f"(({_COUNTS[name]}) = {int(count)})" for name, count in counts.items() if name in _COUNTS]
    return [
        "CREATE TEMPORARY TABLE restored (is_whole integer CHECK (is_whole = 1))",
        f"INSERT INTO restored SELECT CASE WHEN {' AND '.join(checks)} THEN 1 ELSE 0 END",
        "DROP TABLE restored",
    ]
