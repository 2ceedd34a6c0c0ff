"""Runs the migrations on one PostgreSQL session."""

from laconic.storage.database import Statements
from laconic.storage.migrate import Migration, choose_pending, read_migrations

# Any number, as long as every release takes the same: "laconic" in ASCII.
_LOCK = int.from_bytes(b"laconic")


async def apply_migrations(session: Statements) -> list[str]:
    """Brings the database to this release's schema and names what was applied.

    Several processes may start at once: all but one wait at the lock, which belongs to the session and goes
    with it, then find the work done.
    """
    await session.fetch_one("SELECT pg_advisory_lock($1)", _LOCK)
    await session.execute(
        "CREATE TABLE IF NOT EXISTS schema_version"
        " (number integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
    )
    pending = choose_pending(read_migrations("postgres"), await schema_version(session))
    for migration in pending:
        await _apply(session, migration)
    return [migration.name for migration in pending]


async def _apply(session: Statements, migration: Migration) -> None:
    """One transaction, so that a kill at any statement leaves no half. A failure ends the session, and with it this."""
    await session.execute("BEGIN")
    await session.execute(migration.sql)
    await session.execute(
        "INSERT INTO schema_version (number, name) VALUES ($1, $2)", migration.number, migration.name
    )
    await session.execute("COMMIT")


async def schema_version(session: Statements) -> int:
    """The number of the last migration; 0 when there is none yet."""
    table = await session.fetch_one("SELECT to_regclass('schema_version')::text")
    if table is None or table[0] is None:
        return 0
    row = await session.fetch_one("SELECT coalesce(max(number), 0) FROM schema_version")
    return int(row[0]) if row else 0
