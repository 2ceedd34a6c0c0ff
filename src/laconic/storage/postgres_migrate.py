"""Runs the migrations on one PostgreSQL session."""

from laconic.errors import SettingInvalid
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


async def role_of(session: Statements) -> str:
    """The role of a session that row-level security is to hold."""
    row = await session.fetch_one(
        "SELECT current_user::text, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )
    if row is None or row[1]:
        raise SettingInvalid(
            "LACONIC_DATABASE_URL names a role that row-level security does not hold (a superuser, or BYPASSRLS),"
            " though LACONIC_DATABASE_OWNER_URL is set. Give it a plain role."
        )
    return str(row[0])


async def let_in(owner: Statements, role: str) -> None:
    """Lets the tenants' role read and write rows, and nothing more. Their policies decide which rows."""
    is_owner = await owner.fetch_one("SELECT current_user = $1::text", role)
    if is_owner is not None and is_owner[0]:
        raise SettingInvalid(
            "LACONIC_DATABASE_URL and LACONIC_DATABASE_OWNER_URL name the same role, which owns the tables:"
            " row-level security would not hold it. Leave the second one out, or name another role in the first."
        )
    row = await owner.fetch_one(_GRANTS, role)
    for statement in row[0] if row else ():
        await owner.execute(statement)


# Only what has policies, the change feed, and the views, which follow the policies; the audit trail is only ever
# added to. Partitions are reached through their table. A role's name may hold anything, hence %I.
_GRANTS = """
    SELECT array_agg(format('GRANT %s ON %I TO %I',
        CASE WHEN relkind = 'v' THEN 'SELECT' WHEN relname = 'audit_event' THEN 'SELECT, INSERT'
            ELSE 'SELECT, INSERT, UPDATE, DELETE' END,
        relname, $1::text))
    FROM pg_class WHERE relnamespace = 'public'::regnamespace AND NOT relispartition
        AND (relkind IN ('r', 'p') AND (relrowsecurity OR relname = 'link_change') OR relkind = 'v')
"""
