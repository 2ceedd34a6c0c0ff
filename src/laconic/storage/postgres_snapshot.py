"""A PostgreSQL database in one consistent state: pg_dump reads the snapshot that we hold, and so do we.

Reading back is one transaction of psql: what was there goes into a schema of its own, the dump comes in, and what has
to be done before anybody sees it is done. A kill at any moment leaves either all of it or nothing.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

from laconic.errors import BackupUnusable, CannotStart, DataFolderInUse, Unavailable
from laconic.storage.database import Row, Statements
from laconic.storage.postgres_migrate import schema_version
from laconic.storage.postgres_session import session
from laconic.storage.postgres_tools import find_tool, pipe_tools, reachable, run_tool
from laconic.storage.snapshot import Progress

DUMP = "laconic.dump"
_LOOK_SECONDS = 0.2


class PostgresSnapshot:
    engine = "PostgreSQL"

    def __init__(self, url: str, statements: Statements, name: str, schema: int, version: int) -> None:
        self.schema = schema
        self._url = url
        self._statements = statements
        self._name = name
        self._tool = find_tool("pg_dump", version)

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        return await self._statements.fetch_all(sql, *args)

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        return await self._statements.fetch_one(sql, *args)

    async def size(self) -> int:
        """Tables alone: indexes are made anew. The dump is compressed, so this is the most there can be."""
        row = await self.fetch_one(
            "SELECT coalesce(sum(pg_table_size(oid)), 0)::bigint FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        return int(row[0]) if row else 0

    async def write(self, folder: Path, progress: Progress) -> None:
        path = folder / DUMP
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with reachable(self._url) as (place, fd):
            options = ("--format=custom", "--schema=public", "--no-password", f"--snapshot={self._name}")
            dump = asyncio.create_task(
                run_tool(self._tool, *options, f"--file={path}", f"--dbname={place}", keep=fd)
            )
            try:
                await _watch(dump, path, progress)
            finally:
                dump.cancel()
                await asyncio.gather(dump, return_exceptions=True)
        fd = os.open(path, os.O_RDONLY)
        try:
            await asyncio.to_thread(os.fsync, fd)
        finally:
            os.close(fd)


async def _watch(dump: "asyncio.Task[None]", path: Path, progress: Progress) -> None:
    seen = 0
    while not dump.done():
        await asyncio.wait((dump,), timeout=_LOOK_SECONDS)
        before, seen = seen, _size(path)
        progress(seen - before)
    dump.result()


def _size(path: Path) -> int:
    return path.stat().st_size


@contextlib.asynccontextmanager
async def open_postgres_snapshot(url: str) -> AsyncIterator[PostgresSnapshot]:
    async with session(url) as statements:
        await statements.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        schema = await schema_version(statements)
        if not schema:
            raise CannotStart("The database is empty: nothing to back up.")
        row = await statements.fetch_one("SELECT pg_export_snapshot()")
        assert row is not None  # noqa: S101
        yield PostgresSnapshot(url, statements, str(row[0]), schema, await _server_version(statements))


# The index over URLs needs the extension in the schema it was made in; a dump of the schema has the one and not the other.
_BRING_TRIGRAMS = """DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
        ALTER EXTENSION pg_trgm SET SCHEMA public;
    ELSE
        CREATE EXTENSION pg_trgm SCHEMA public;
    END IF;
EXCEPTION
    WHEN insufficient_privilege OR undefined_file OR feature_not_supported THEN
        RAISE NOTICE 'pg_trgm cannot be used here';
END
$$"""


async def read_dump(url: str, dump: Path, aside: str, conclude: Sequence[str]) -> bool:
    """Puts the dump in the place of what is there, which is kept as the schema `aside`. False: nothing was there."""
    async with session(url) as statements:
        version = await _server_version(statements)
        await _refuse_company(statements)
        row = await statements.fetch_one(
            "SELECT count(*) FROM pg_class WHERE relnamespace = to_regnamespace('public')"
        )
        has_tables = bool(row and row[0])
    psql, pg_restore = find_tool("psql", version), find_tool("pg_restore", version)
    move = f'ALTER SCHEMA public RENAME TO "{aside}"' if has_tables else "DROP SCHEMA IF EXISTS public"
    before = (
        "BEGIN",
        move,
        "CREATE SCHEMA public",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        _BRING_TRIGRAMS,
    )
    # Without the last word nothing has happened: a pipe that ends early is no commit.
    after = ("SET search_path TO public", *conclude, "COMMIT")
    with reachable(url) as (place, fd):
        options = ("--no-psqlrc", "--quiet", "--no-password", "-v", "ON_ERROR_STOP=1", "-d", place)
        with _incomplete_noticed():
            await pipe_tools(
                (pg_restore, "--no-owner", "--no-privileges", "--schema=public", "--file=-", str(dump)),
                (psql, *options, "-f", "-"),
                before=_script(before),
                after=_script(after),
                keep=fd,
            )
    return has_tables


@contextlib.contextmanager
def _incomplete_noticed() -> Iterator[None]:
    try:
        yield
    except Unavailable as error:
        if "check constraint" in str(error):
            raise BackupUnusable(f"The backup has not got all that it says: {error}") from error
        raise


def _script(statements: Sequence[str]) -> bytes:
    return "".join(f"{statement};\n" for statement in statements).encode()


async def _refuse_company(statements: Statements) -> None:
    row = await statements.fetch_one(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'laconic' AND pid <> pg_backend_pid()"
    )
    if row and row[0]:
        raise DataFolderInUse(
            f"Laconic works on this database ({row[0]} connections). Stop every server and command first."
        )


async def _server_version(statements: Statements) -> int:
    row = await statements.fetch_one("SELECT current_setting('server_version_num')::integer / 10000")
    return int(row[0]) if row else 0
