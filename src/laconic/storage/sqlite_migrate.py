"""Brings one SQLite file to a schema. The connection comes from `sqlite`, which alone knows the driver."""

from typing import Any

from laconic.clock import now
from laconic.storage.migrate import choose_pending, read_migrations


def migrate_file(connection: Any, migrations: str) -> list[str]:
    """Each migration and its row in `schema_version` are one transaction, so a kill leaves no half."""
    known = read_migrations(migrations)
    applied: list[str] = []
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_version"
        " (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT"
    )
    while True:
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked again under the lock: another process may have done it while this one waited.
            pending = choose_pending(known, schema_version(connection))
            if not pending:
                return applied
            connection.execute(pending[0].sql)
            connection.execute(
                "INSERT INTO schema_version (number, name, applied_at) VALUES (?, ?, ?)",
                (pending[0].number, pending[0].name, now()),
            )
            connection.execute("COMMIT")
            applied.append(pending[0].name)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


def schema_version(connection: Any) -> int:
    return int(connection.execute("SELECT coalesce(max(number), 0) FROM schema_version").fetchall()[0][0])
