"""SQLite files in one consistent state, copied while they are written to.

A read transaction is opened on every file before the first page is copied, which takes milliseconds. So the size of
the files does not matter for what is in the copy, and no writer ever makes the copying begin anew.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import apsw

from laconic.errors import BackupUnusable, CannotStart
from laconic.storage.database import Row
from laconic.storage.snapshot import Progress
from laconic.storage.sqlite_connect import (
    connect,
    connect_existing,
    connect_plain,
    rows_of,
    translated,
)
from laconic.storage.sqlite_events import event_file, months_in
from laconic.storage.sqlite_swap import finish_swap
from laconic.storage.sqlite_text import numbered

LINKS, CLICKS = "laconic.db", "clicks.db"
_PAGES_PER_STEP = 512


class SqliteSnapshot:
    engine = "SQLite"

    def __init__(self, folder: Path) -> None:
        self._months: list[tuple[Path, Any]] = []
        # Totals and positions first. What is opened later may be newer: a link that has clicks is there, and the
        # month's files know by their own positions what they have already.
        self._main = connect(folder / CLICKS, attach=folder / LINKS, read_only=True)
        self._main.execute("BEGIN")
        rows_of(self._main, "SELECT count(*) FROM main.schema_version")
        for month in months_in(folder):
            path = event_file(folder, month)
            connection = connect_existing(path, read_only=True)
            if connection is not None:  # otherwise it was thrown away at this moment
                connection.execute("BEGIN")
                rows_of(connection, "SELECT count(*) FROM schema_version")
                self._months.append((path, connection))
        self.schema = int(rows_of(self._main, "SELECT max(number) FROM other.schema_version")[0][0])

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        return await asyncio.to_thread(self._read, sql, args)

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        rows = await self.fetch_all(sql, *args)
        return rows[0] if rows else None

    def _read(self, sql: str, args: tuple[Any, ...]) -> list[Row]:
        with translated():
            return rows_of(self._main, numbered(sql), args)

    async def size(self) -> int:
        return sum(_bytes_of(connection, schema) for _, connection, schema in self._files())

    def _files(self) -> Iterator[tuple[str, Any, str]]:
        """Name, connection, and what the connection calls it."""
        yield LINKS, self._main, "other"
        yield CLICKS, self._main, "main"
        for path, connection in self._months:
            yield path.name, connection, "main"

    async def write(self, folder: Path, progress: Progress) -> None:
        for name, connection, schema in self._files():
            await asyncio.to_thread(_copy, connection, schema, folder / name, progress)

    def close(self) -> None:
        for _, connection in self._months:
            connection.close()
        self._main.close()


@contextlib.asynccontextmanager
async def open_sqlite_snapshot(folder: Path) -> AsyncIterator[SqliteSnapshot]:
    finish_swap(folder)
    for name in (LINKS, CLICKS):
        if not (folder / name).is_file():
            raise CannotStart(f"There is no database in {folder}: nothing to back up.")
    with translated():
        snapshot = await asyncio.to_thread(SqliteSnapshot, folder)
    try:
        yield snapshot
    finally:
        snapshot.close()


def _bytes_of(connection: Any, schema: str) -> int:
    pages = rows_of(connection, f"PRAGMA {schema}.page_count")[0][0]
    return int(pages) * int(rows_of(connection, f"PRAGMA {schema}.page_size")[0][0])


def _copy(source: Any, schema: str, path: Path, progress: Progress) -> None:
    """By SQLite's backup API, a few pages at a time; the source's read transaction keeps all steps in one state."""
    page = int(rows_of(source, f"PRAGMA {schema}.page_size")[0][0])
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        translated(),
        contextlib.closing(connect_plain(path)) as target,
        target.backup("main", source, schema) as backup,
    ):
        copied = 0
        while not backup.done:
            backup.step(_PAGES_PER_STEP)
            before, copied = copied, backup.page_count - backup.remaining
            progress((copied - before) * page)
    _sync(path)


def check_files(folder: Path) -> None:
    """Is every file whole, its indexes too? Raises BackupUnusable with what is wrong."""
    for name in (LINKS, CLICKS, *(event_file(folder, month).name for month in months_in(folder))):
        with translated(), contextlib.closing(connect(folder / name, read_only=False)) as connection:
            found = [row[0] for row in rows_of(connection, "PRAGMA integrity_check(10)")]
        if found != ["ok"]:
            raise BackupUnusable(f"{name} of the backup is damaged: {'; '.join(map(str, found))}")


def conclude(folder: Path, statements: list[str]) -> None:
    """Runs statements on a copy that nobody uses yet, all or none of them."""
    with (
        translated(),
        contextlib.closing(connect(folder / LINKS, attach=folder / CLICKS, read_only=False)) as connection,
    ):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in statements:
                connection.execute(statement).fetchall()
        except apsw.ConstraintError as error:
            raise BackupUnusable(f"The backup has not got all that it says: {error}") from error
        connection.execute("COMMIT")
    _sync(folder / LINKS)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
