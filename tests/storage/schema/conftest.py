"""Databases with this release's schema and nothing else, reached through the bare drivers."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import asyncpg
import pytest

from laconic.storage.migrate import read_migrations

OWNER = "schema_owner"
TENANT = "schema_tenant"

Connect = Callable[[str], Awaitable[asyncpg.Connection]]


@pytest.fixture
async def connect_as(fresh_postgres_url: str) -> AsyncIterator[Connect]:
    """Opens sessions of a role that is no superuser, on one empty database that `OWNER` owns."""
    superuser = await asyncpg.connect(fresh_postgres_url)
    opened = [superuser]
    for role in (OWNER, TENANT):
        if not await superuser.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
            await superuser.execute(f"CREATE ROLE {role}")
    database = await superuser.fetchval("SELECT current_database()")
    await superuser.execute(f"ALTER DATABASE {database} OWNER TO {OWNER}")

    async def connect(role: str) -> asyncpg.Connection:
        connection = await asyncpg.connect(fresh_postgres_url)
        opened.append(connection)
        await connection.execute(f"SET SESSION AUTHORIZATION {role}")
        return connection

    yield connect
    for connection in opened:
        await connection.close()


@pytest.fixture
async def owner(connect_as: Connect) -> asyncpg.Connection:
    """The owner of a migrated database."""
    connection = await connect_as(OWNER)
    for migration in read_migrations("postgres"):
        async with connection.transaction():
            await connection.execute(migration.sql)
    return connection


@pytest.fixture
async def tenant(owner: asyncpg.Connection, connect_as: Connect) -> asyncpg.Connection:
    """A role that owns nothing and may touch every table, as the control plane's does."""
    await owner.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {TENANT}")
    return await connect_as(TENANT)


@pytest.fixture
def open_sqlite_file(tmp_path: Path) -> Callable[[str], apsw.Connection]:
    """Opens a new file with the migrations of one folder."""

    def open_file(folder: str) -> apsw.Connection:
        connection = apsw.Connection(str(tmp_path / f"{folder}.db"))
        connection.execute("PRAGMA foreign_keys = ON")
        for migration in read_migrations(folder):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(migration.sql)
            connection.execute("COMMIT")
        return connection

    return open_file


@pytest.fixture
def sqlite(open_sqlite_file: Callable[[str], apsw.Connection]) -> Iterator[apsw.Connection]:
    """A migrated laconic.db."""
    with closing(open_sqlite_file("sqlite")) as connection:
        yield connection
