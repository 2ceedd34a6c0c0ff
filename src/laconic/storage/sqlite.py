"""The SQLite engine: two files in the data folder, seen as one.

`laconic.db` holds links, tenants and codes and is written by web workers; `clicks.db` holds totals and
rollups and is written by ingest. A process writes one of them, through one thread, and reads both. So
creates and ingest never wait for each other's lock.

Reads of the API run in two threads; the redirect's look-up runs in the loop's thread (see `fetch_hot`).
"""

import asyncio
import contextlib
import itertools
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

import apsw

from laconic.clock import monotonic
from laconic.errors import CannotStart, Conflict, Unavailable
from laconic.storage.database import ChangeListener, Row, Statements, Tenant
from laconic.storage.group_commit import GroupCommit
from laconic.storage.sqlite_migrate import migrate_file, schema_version
from laconic.storage.sqlite_text import insert_sql, numbered, search_condition

T = TypeVar("T")
Writes = Literal["links", "clicks"]

_FILES: dict[Writes, tuple[str, str]] = {
    # what is written: (file, folder of its migrations)
    "links": ("laconic.db", "sqlite"),
    "clicks": ("clicks.db", "sqlite_clicks"),
}

# 3.51.3 is the first release without the WAL-reset bug, which could lose committed transactions.
_OLDEST_SQLITE = (3, 51, 3)
_BUSY_LIMIT_SECONDS = 5.0
_BUSY_PAUSE_SECONDS = 0.001
_CHANGE_POLL_SECONDS = 0.05
_READER_THREADS = 2
_CACHE_KIB = 8_192
# A checkpoint that may wait for readers is tried only when the log has grown past this.
_WAL_LIMIT_BYTES = 64 * 1024 * 1024
_OPTIMIZE_SECONDS = 60.0
# Rows in one INSERT: large ones amortise, and each size is one statement for SQLite to remember.
_INSERT_SIZES = (256, 32, 4, 1)

_UNIQUE_CODES = {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY}
_OUT_OF_REACH = (
    apsw.BusyError,
    apsw.LockedError,
    apsw.IOError,
    apsw.FullError,
    apsw.CantOpenError,
    apsw.ReadOnlyError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.InterruptError,
)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    """Turns the driver's exceptions into ours, where they enter."""
    try:
        yield
    except apsw.ConstraintError as error:
        if getattr(error, "extendedresult", 0) in _UNIQUE_CODES:
            raise Conflict(str(error).rpartition(": ")[2]) from error
        raise
    except _OUT_OF_REACH as error:
        raise Unavailable(f"SQLite: {error}") from error


def _rows(connection: apsw.Connection, sql: str, args: Sequence[Any] = ()) -> list[Row]:
    rows: list[Any] = connection.execute(sql, args).fetchall()
    return rows


class _ConnectionStatements:
    """The statements of one connection. Their awaits never suspend."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        rows = await self.fetch_all(sql, *args)
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        with _translated():
            return _rows(self._connection, numbered(sql), args)

    async def execute(self, sql: str, *args: Any) -> int:
        with _translated():
            self._connection.execute(numbered(sql), args).fetchall()
            return self._connection.changes()

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with _translated():
            self._connection.executemany(numbered(sql), rows).fetchall()

    async def insert_many(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        return self.insert(table, columns, rows, skip_conflicts=True) == len(rows)

    def insert(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, skip_conflicts: bool
    ) -> int:
        """Many rows to a statement, because each step takes and gives back the interpreter's lock."""
        names = tuple(columns)
        start = inserted = 0
        with _translated():
            while start < len(rows):
                count = next(size for size in _INSERT_SIZES if size <= len(rows) - start)
                values = list(itertools.chain.from_iterable(rows[start : start + count]))
                sql = insert_sql(table, names, count, skip_conflicts=skip_conflicts)
                self._connection.execute(sql, values).fetchall()
                inserted += self._connection.changes()
                start += count
        return inserted


def _wait_for_lock() -> Callable[[int], bool]:
    """A busy handler that asks again every millisecond: SQLite's own pauses grow to 100 ms."""
    deadline = 0.0

    def handler(tries: int) -> bool:
        nonlocal deadline
        moment = monotonic()
        if tries == 0:
            deadline = moment + _BUSY_LIMIT_SECONDS
        if moment > deadline:
            return False
        time.sleep(_BUSY_PAUSE_SECONDS)
        return True

    return handler


def _connect(path: Path, *, attach: Path | None = None, read_only: bool) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.set_busy_handler(_wait_for_lock())
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    # FULL syncs the log at each commit: what was answered survives a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    # The upkeep process checkpoints (`tidy`); a worker must not stop to do it.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    if attach:
        connection.execute("ATTACH ? AS other", (str(attach),))
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    return connection


class _WriterSession:
    """The writer's connection. It attaches nothing: BEGIN IMMEDIATE would lock the other file too."""

    def __init__(self, path: Path) -> None:
        with _translated():
            self._connection = _connect(path, read_only=False)
        self.statements: Statements = _ConnectionStatements(self._connection)

    def _do(self, sql: str) -> None:
        with _translated():
            self._connection.execute(sql)

    def begin(self) -> None:
        self._do("BEGIN IMMEDIATE")

    def savepoint(self) -> None:
        self._do("SAVEPOINT work")

    def release(self) -> None:
        self._do("RELEASE work")

    def undo_to_savepoint(self) -> None:
        self._do("ROLLBACK TO work")
        self._do("RELEASE work")

    def commit(self) -> None:
        self._do("COMMIT")

    def undo(self) -> None:
        if self.is_open():
            with contextlib.suppress(apsw.Error):
                self._connection.execute("ROLLBACK")

    def is_open(self) -> bool:
        return self._connection.in_transaction

    def close(self) -> None:
        self._connection.close()


class SqliteDatabase:
    """See `Database`. Belongs to the loop that opened it."""

    answers_at_once = True

    def __init__(self, folder: Path, writes: Writes) -> None:
        other: Writes = "clicks" if writes == "links" else "links"
        self._main = folder / _FILES[writes][0]
        self._other = folder / _FILES[other][0]
        self._hot = _connect(self._main, attach=self._other, read_only=True)
        self._readers = ThreadPoolExecutor(_READER_THREADS, thread_name_prefix="laconic-reader")
        self._local = threading.local()
        self._reader_connections: list[apsw.Connection] = []
        self._writer = GroupCommit(lambda: _WriterSession(self._main))
        self._closed = False
        self._optimize_at = 0.0

    async def start(self) -> None:
        await self._writer.start()

    async def fetch_hot(self, sql: str, *args: Any) -> Row | None:
        with _translated():
            rows = _rows(self._hot, numbered(sql), args)
        return rows[0] if rows else None

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        rows = await self.fetch_all(sql, *args)
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        if self._closed:
            raise Unavailable("The database is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._read, sql, args)

    def _read(self, sql: str, args: tuple[Any, ...]) -> list[Row]:
        with _translated():
            return _rows(self._reader(), numbered(sql), args)

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = _connect(self._main, attach=self._other, read_only=True)
            self._local.connection = connection
            self._reader_connections.append(connection)
        return connection

    async def execute(self, sql: str, *args: Any) -> int:
        return await self._writer.run(lambda statements: statements.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        await self._writer.run(lambda statements: statements.execute_many(sql, rows))

    async def insert_many(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        return await self._writer.run(lambda statements: statements.insert_many(table, columns, rows))

    async def copy_in(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        async def work(statements: Statements) -> None:
            assert isinstance(statements, _ConnectionStatements)  # noqa: S101
            statements.insert(table, columns, rows, skip_conflicts=False)

        await self._writer.run(work)

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        return await self._writer.run(work)

    def for_workspace(self, workspace_id: int) -> Tenant:
        """SQLite has no policies."""
        return self

    async def follow_changes(self, changed: ChangeListener) -> None:
        """`data_version` moves with any commit of another connection; asking costs about 2 us."""
        version = self._data_version()
        last = self._last_change()
        changed.following()
        while True:
            await asyncio.sleep(_CHANGE_POLL_SECONDS)
            with contextlib.suppress(apsw.Error):
                if (seen := self._data_version()) != version:
                    last = self._tell_changes(changed, last)
                    version = seen

    def _data_version(self) -> int:
        return int(_rows(self._hot, "PRAGMA main.data_version")[0][0])

    def _last_change(self) -> int:
        return int(_rows(self._hot, "SELECT coalesce(max(seq), 0) FROM link_change")[0][0])

    def _tell_changes(self, changed: ChangeListener, last: int) -> int:
        rows = _rows(
            self._hot,
            "SELECT seq, domain_id, short_code, version FROM link_change WHERE seq > ? ORDER BY seq",
            (last,),
        )
        for _, domain_id, short_code, version in rows:
            changed.changed(domain_id, short_code, version)
        return int(rows[-1][0]) if rows else last

    def text_search(self, words: Sequence[str], argument: int) -> tuple[str, str]:
        return search_condition(words, argument)

    async def sizes(self) -> dict[str, int]:
        def size(path: Path) -> int:
            return path.stat().st_size if path.exists() else 0

        wal = self._main.with_name(self._main.name + "-wal")
        return {"database": size(self._main), "clicks": size(self._other), "wal": size(wal)}

    async def tidy(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._readers, self._checkpoint)

    def _checkpoint(self) -> None:
        is_due = monotonic() >= self._optimize_at
        if is_due:
            self._optimize_at = monotonic() + _OPTIMIZE_SECONDS
        for path in (self._main, self._other):
            wal = path.with_name(path.name + "-wal")
            if not wal.exists() or wal.stat().st_size == 0:
                continue
            with _translated(), contextlib.closing(apsw.Connection(str(path))) as connection:
                connection.set_busy_timeout(100)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA wal_autocheckpoint = 0")
                if is_due:
                    # Statistics for the planner, renewed only where a table has changed much since the last time.
                    connection.execute("PRAGMA optimize").fetchall()
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                if wal.stat().st_size > _WAL_LIMIT_BYTES:
                    # Writers wait meanwhile, but next to nothing is left to copy.
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        await self._writer.close()
        await asyncio.to_thread(self._readers.shutdown)
        for connection in self._reader_connections:
            connection.close()
        self._hot.close()


async def open_sqlite(folder: Path, *, writes: Writes = "links") -> SqliteDatabase:
    """Opens a data folder that `migrate_sqlite` has prepared."""
    _refuse_old_library()
    with _translated():
        database = SqliteDatabase(folder, writes)
    await database.start()
    return database


def _refuse_old_library() -> None:
    version = tuple(int(part) for part in apsw.sqlite_lib_version().split("."))
    if version < _OLDEST_SQLITE:
        oldest = ".".join(map(str, _OLDEST_SQLITE))
        raise CannotStart(
            f"SQLite {apsw.sqlite_lib_version()} can lose committed data (the WAL-reset bug); {oldest} or newer is needed."
        )


async def migrate_sqlite(folder: Path) -> list[str]:
    """Brings both files to this release's schema and names what was applied."""
    _refuse_old_library()
    return await asyncio.to_thread(_migrate_files, folder)


def _migrate_files(folder: Path) -> list[str]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    applied = []
    for file, migrations in _FILES.values():
        with _translated(), contextlib.closing(_connect(folder / file, read_only=False)) as connection:
            (folder / file).chmod(0o600)
            try:
                applied += migrate_file(connection, migrations)
            except apsw.SQLError as error:
                raise CannotStart(
                    f"{folder / file} cannot be brought to this release's schema: {error}. Is it Laconic's?"
                ) from error
    return applied


async def sqlite_schema_version(folder: Path) -> int:
    """The schema of `laconic.db`; 0 when there is no database yet."""
    path = folder / _FILES["links"][0]
    if not path.exists():
        return 0

    def read() -> int:
        with _translated(), contextlib.closing(_connect(path, read_only=True)) as connection:
            try:
                return schema_version(connection)
            except apsw.SQLError:
                return 0

    return await asyncio.to_thread(read)
