"""Is a PostgreSQL database whole, and does it look as the migrations made it?"""

import re

from laconic.clock import DAY, SECOND, now
from laconic.storage.database import Statements
from laconic.storage.examine import Finding
from laconic.storage.migrate import read_migrations
from laconic.storage.months import begin_of, month_name, month_of
from laconic.storage.postgres_session import session

_OLDEST = 13
_INDEX = re.compile(r"(CREATE (?:UNIQUE )?INDEX (\w+)[^;]+;)")
_DROPPED = re.compile(r"DROP INDEX (?:IF EXISTS )?(\w+)")
_CLOCK_SECONDS = 2.0
# The class of the only index that a server may have to do without.
_TRIGRAMS = "gin_trgm_ops"

_INVALID = (
    "SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " WHERE c.relnamespace = 'public'::regnamespace AND NOT (i.indisvalid AND i.indisready) ORDER BY 1"
)
_PRESENT = (
    "SELECT relname::text FROM pg_class WHERE relkind IN ('i', 'I') AND relnamespace = 'public'::regnamespace"
)
_PARTITIONS = (
    "SELECT c.relname::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid"
    " WHERE inhparent = 'click_event'::regclass"
)
_AMCHECK = (
    "SELECT c.relname::text, bt_index_check(c.oid) IS NULL FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree' AND c.relkind = 'i' AND i.indisvalid"
    " AND c.relnamespace = 'public'::regnamespace"
)


async def check_postgres(url: str) -> list[str]:
    """What the server knows to be damaged; with the extension amcheck, every index is read."""
    found = []
    async with session(url) as statements:
        found += [f"the index {name} is not valid" for name in await _names(statements, _INVALID)]
        row = await statements.fetch_one(
            "SELECT coalesce(checksum_failures, 0) FROM pg_stat_database WHERE datname = current_database()"
        )
        if row and row[0]:
            found.append(f"{row[0]} pages did not have the checksum they should")
        if await statements.fetch_one("SELECT 1 FROM pg_extension WHERE extname = 'amcheck'"):
            try:
                await statements.fetch_all(_AMCHECK)
            except Exception as error:
                found.append(f"amcheck: {error}")
    return found


async def examine_postgres(url: str, tenant_url: str) -> list[Finding]:
    async with session(url) as statements:
        return [
            await _version(statements),
            await _clock(statements),
            *await _indexes(statements),
            *await _partitions(statements),
            _policies(tenant_url),
        ]


async def _names(statements: Statements, sql: str) -> list[str]:
    return [str(row[0]) for row in await statements.fetch_all(sql)]


async def _version(statements: Statements) -> Finding:
    row = await statements.fetch_one("SELECT current_setting('server_version_num')::integer / 10000")
    major = int(row[0]) if row else 0
    if major < _OLDEST:
        remedy = f"Upgrade it to {_OLDEST} or newer."
        return Finding("postgresql_version", "problem", f"PostgreSQL {major}", remedy)
    return Finding("postgresql_version", "ok", f"PostgreSQL {major}")


async def _clock(statements: Statements) -> Finding:
    row = await statements.fetch_one("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
    apart = abs(now() - int(row[0])) / SECOND if row else 0.0
    text = f"this machine and the database are {apart:.1f} s apart"
    if apart > _CLOCK_SECONDS:
        return Finding("database_clock", "problem", text, "Let NTP (chrony) set both clocks.")
    return Finding("database_clock", "ok", text)


async def _indexes(statements: Statements) -> list[Finding]:
    wanted = _wanted_indexes()
    present = set(await _names(statements, _PRESENT))
    invalid = await _names(statements, _INVALID)
    findings = [_missing(name, sql) for name, sql in sorted(wanted.items()) if name not in present]
    if invalid:
        remedy = f"REINDEX INDEX CONCURRENTLY {invalid[0]};"
        findings.append(Finding("indexes", "problem", f"not valid: {', '.join(invalid)}", remedy))
    return findings or [Finding("indexes", "ok", f"all {len(wanted)} are there and valid")]


def _wanted_indexes() -> dict[str, str]:
    """What the migrations leave: the name of each, and the statement that makes it."""
    wanted: dict[str, str] = {}
    for migration in read_migrations("postgres"):
        wanted |= {name: " ".join(sql.split()) for sql, name in _INDEX.findall(migration.sql)}
        for name in _DROPPED.findall(migration.sql):
            wanted.pop(name, None)
    return wanted


def _missing(name: str, sql: str) -> Finding:
    if _TRIGRAMS in sql:
        text = f"missing: {name}; searching links by a part of their URL is slow"
        return Finding(
            "indexes", "warning", text, f"As a superuser: CREATE EXTENSION IF NOT EXISTS pg_trgm; {sql}"
        )
    return Finding("indexes", "problem", f"missing: {name}", sql)


async def _partitions(statements: Statements) -> list[Finding]:
    present = set(await _names(statements, _PARTITIONS))
    this = month_of(now())
    # The one after the next is made while this month runs.
    wanted = [this, month_of(begin_of(this + 1) + DAY)]
    missing = [month_name(month) for month in wanted if _partition(month) not in present]
    row = await statements.fetch_one("SELECT EXISTS (SELECT 1 FROM click_event_default)")
    if missing or (row and row[0]):
        remedy = (
            "Does upkeep run (`laconic serve --role background` or `--role all`)? It makes them every hour."
        )
        text = f"no partition for {', '.join(missing)}" if missing else "clicks lie in the default partition"
        return [Finding("partitions", "warning", text, remedy)]
    return [Finding("partitions", "ok", f"{len(present) - 1} months have their partition")]


def _partition(month: int) -> str:
    return f"click_event_{month_name(month).replace('-', '_')}"


def _policies(tenant_url: str) -> Finding:
    if tenant_url:
        return Finding("row_security", "ok", "tenants' requests use a role that row-level security holds")
    return Finding(
        "row_security",
        "warning",
        "one role for all: row-level security rests",
        "Give LACONIC_DATABASE_URL a role of its own, and the owner's URL to LACONIC_DATABASE_OWNER_URL.",
    )
