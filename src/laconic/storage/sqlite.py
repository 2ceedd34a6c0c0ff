"""The SQLite engine: two files in the data folder, seen as one, and one more for each month of raw clicks.

`laconic.db` holds links, tenants and codes and is written by web workers; `clicks.db` holds totals and
rollups and is written by ingest. A process writes one of them, through one thread, and reads both. So
creates and ingest never wait for each other's lock.

Reads of the API run in two threads; the redirect's look-up runs in the loop's thread (see `fetch_hot`).
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import apsw

from laconic.clock import monotonic
from laconic.errors import CannotStart, Unavailable
from laconic.storage.database import (
    NOTHING_SAME,
    SLOW_SECONDS,
    ChangeListener,
    Ids,
    Merge,
    PoolNumbers,
    Row,
    Same,
    Statements,
    Tenant,
)
from laconic.storage.group_commit import GroupCommit
from laconic.storage.sqlite_checkpoint import Checkpoints, log_of
from laconic.storage.sqlite_connect import (
    ConnectionStatements,
    connect,
    rows_among,
    rows_of,
    translated,
)
from laconic.storage.sqlite_events import (
    WRITER_CACHE_KIB as INGEST_CACHE_KIB,
)
from laconic.storage.sqlite_events import (
    EventWriter,
    change_events,
    drop_events,
    event_file,
    months_in,
    read_events,
)
from laconic.storage.sqlite_follow import follow
from laconic.storage.sqlite_index import index_urls
from laconic.storage.sqlite_migrate import migrate_file, schema_version
from laconic.storage.sqlite_swap import finish_swap
from laconic.storage.sqlite_text import numbered, part_condition, search_condition

if TYPE_CHECKING:
    from laconic.storage.breaker import Breaker

T = TypeVar("T")
Writes = Literal["links", "clicks"]

_FILES: dict[Writes, tuple[str, str]] = {
    # what is written: (file, folder of its migrations)
    "links": ("laconic.db", "sqlite"),
    "clicks": ("clicks.db", "sqlite_clicks"),
}

_WRITER_CACHE_KIB: dict[Writes, int] = {"links": 8_192, "clicks": INGEST_CACHE_KIB}
# 3.51.3 is the first release without the WAL-reset bug, which could lose committed transactions.
OLDEST_SQLITE = (3, 51, 3)
_READER_THREADS = 2


class _WriterSession:
    """The writer's connection. It attaches nothing: BEGIN IMMEDIATE would lock the other file too."""

    def __init__(self, path: Path, cache_kib: int) -> None:
        with translated():
            self._connection = connect(path, read_only=False, cache_kib=cache_kib)
        self._events = EventWriter(path.parent)
        self.statements: Statements = ConnectionStatements(self._connection, self._events)

    def _do(self, sql: str) -> None:
        with translated():
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
        self._events.close()
        self._connection.close()


class SqliteDatabase:
    """See `Database`. Belongs to the loop that opened it."""

    engine = "sqlite"
    answers_at_once = True
    inserts_at_once = 1
    parts_tenants = False
    skip_locked = ""  # there is one writer
    breakers: "Sequence[Breaker]" = ()

    def __init__(self, folder: Path, writes: Writes) -> None:
        other: Writes = "clicks" if writes == "links" else "links"
        self._folder = folder
        self._writes = writes
        # A month's file must not go away while it is checkpointed: opening it would make an empty one.
        self._files_in_use = threading.Lock()
        self._main = folder / _FILES[writes][0]
        self._other = folder / _FILES[other][0]
        self._hot = connect(self._main, attach=self._other, read_only=True)
        self._readers = ThreadPoolExecutor(_READER_THREADS, thread_name_prefix="laconic-reader")
        self._local = threading.local()
        self._reader_connections: list[apsw.Connection] = []
        self._writer = GroupCommit(lambda: _WriterSession(self._main, _WRITER_CACHE_KIB[writes]))
        self._closed = False
        self._checkpoints = Checkpoints()
        self._reading = 0
        self._slow_reads = 0

    async def start(self) -> None:
        await self._writer.start()

    async def fetch_hot(self, sql: str, *args: Any) -> Row | None:
        with translated():
            rows = rows_of(self._hot, numbered(sql), args)
        return rows[0] if rows else None

    fetch_by_key = fetch_hot

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        rows = await self.fetch_all(sql, *args)
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        return await self._in_reader(self._read, sql, args)

    def _read(self, sql: str, args: tuple[Any, ...]) -> list[Row]:
        with translated():
            return rows_of(self._reader(), numbered(sql), args)

    async def fetch_among(self, sql: str, ids: Ids, *args: Any) -> list[Row]:
        return await self._in_reader(self._read_among, sql, ids, args)

    def _read_among(self, sql: str, ids: Ids, args: tuple[Any, ...]) -> list[Row]:
        with translated():
            return rows_among(self._reader(), sql, ids, args)

    def _reader(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self._main, attach=self._other, read_only=True)
            self._local.connection = connection
            self._reader_connections.append(connection)
        return connection

    async def execute(self, sql: str, *args: Any) -> int:
        return await self._writer.run(lambda statements: statements.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        await self._writer.run(lambda statements: statements.execute_many(sql, rows))

    async def insert_many(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], same: Same = NOTHING_SAME
    ) -> bool:
        return await self._writer.run(lambda statements: statements.insert_many(table, columns, rows, same))

    async def copy_in(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        async def work(statements: Statements) -> None:
            assert isinstance(statements, ConnectionStatements)  # noqa: S101
            statements.insert(table, columns, rows, len(rows))

        await self._writer.run(work)

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        return await self._writer.run(work)

    def for_workspace(self, workspace_id: int) -> Tenant:
        """SQLite has no policies."""
        return self

    async def merge(self, table: str, how: Merge, columns: Sequence[Sequence[Any]]) -> None:
        await self._writer.run(lambda statements: statements.merge(table, how, columns))

    async def append_events(
        self,
        month: int,
        journal_id: str,
        sequences: Sequence[int],
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
    ) -> None:
        await self._writer.run(
            lambda statements: statements.append_events(month, journal_id, sequences, names, columns)
        )

    async def keep_events(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        await self._writer.run(lambda statements: statements.keep_events(month, names, rows))

    async def prepare_months(self, first: int, count: int) -> None:
        """Nothing: a month's file is made with its first click."""

    async def event_months(self) -> list[int]:
        return months_in(self._folder)

    async def fetch_events(self, month: int, sql: str, *args: Any) -> list[Row]:
        return await self._in_reader(read_events, self._folder, month, sql, args)

    async def change_events(self, month: int, sql: str, *args: Any) -> int:
        return await self._in_reader(change_events, self._folder, month, sql, args)

    async def drop_events(self, month: int) -> None:
        await self._in_reader(self._drop_events, month)

    def _drop_events(self, month: int) -> None:
        with self._files_in_use:
            drop_events(self._folder, month)

    async def _in_reader(self, read: Callable[..., T], *args: Any) -> T:
        if self._closed:
            raise Unavailable("The database is closed.")
        self._reading += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._readers, self._timed, read, *args)
        finally:
            self._reading -= 1

    def _timed(self, read: Callable[..., T], *args: Any) -> T:
        begun = monotonic()
        try:
            return read(*args)
        finally:
            self._slow_reads += monotonic() - begun > SLOW_SECONDS

    @property
    def slow_queries(self) -> int:
        return self._slow_reads + self._writer.slow

    def pools(self) -> Sequence[PoolNumbers]:
        """Of readers, those that wait for their turn are counted with the busy ones; so are writers."""
        readers = PoolNumbers("reader", len(self._reader_connections), self._reading, _READER_THREADS)
        return readers, PoolNumbers("writer", 1, self._writer.waiting, 1)

    async def follow_changes(self, changed: ChangeListener, history: int = 0) -> None:
        await follow(self._read_hot, changed, history)

    def _read_hot(self, sql: str, *args: Any) -> list[Row]:
        with translated():
            return rows_of(self._hot, sql, args)

    def text_search(self, words: Sequence[str], argument: int) -> tuple[str, str]:
        return search_condition(words, argument)

    def by_index(self, name: str) -> str:
        """Statistics from a sample take all indexes that begin with the workspace for equally good."""
        return f" INDEXED BY {name}"

    async def estimate_rows(self, name: str) -> int | None:
        """Nothing is kept that would tell; counting goes along an index, in a thread."""
        return None

    def part_search(self, text: str, argument: int) -> tuple[str, tuple[str, ...]] | None:
        return part_condition(text, argument)

    async def sizes(self) -> dict[str, int]:
        def size(path: Path) -> int:
            return path.stat().st_size if path.exists() else 0

        events = sum(size(event_file(self._folder, month)) for month in months_in(self._folder))
        return {
            "database": size(self._main),
            "clicks": size(self._other) + events,
            "wal": size(log_of(self._main)),
        }

    async def tidy(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._readers, self._checkpoint)
        if self._writes == "links":
            await index_urls(self)

    def _checkpoint(self) -> None:
        with self._files_in_use:
            months = [event_file(self._folder, month) for month in months_in(self._folder)]
            self._checkpoints.run([self._main, self._other, *months])

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
    finish_swap(folder)
    with translated():
        database = SqliteDatabase(folder, writes)
    await database.start()
    return database


def library_version() -> tuple[int, ...]:
    return tuple(int(part) for part in apsw.sqlite_lib_version().split("."))


def _refuse_old_library() -> None:
    if library_version() < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise CannotStart(
            f"SQLite {apsw.sqlite_lib_version()} can lose committed data (the WAL-reset bug); {oldest} or newer is needed."
        )


async def migrate_sqlite(folder: Path) -> list[str]:
    """Brings both files to this release's schema and names what was applied."""
    _refuse_old_library()
    return await asyncio.to_thread(_migrate_files, folder)


def _migrate_files(folder: Path) -> list[str]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    finish_swap(folder)
    applied = []
    for file, migrations in _FILES.values():
        with translated(), contextlib.closing(connect(folder / file, read_only=False)) as connection:
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
    finish_swap(folder)
    path = folder / _FILES["links"][0]
    if not path.exists():
        return 0

    def read() -> int:
        with translated(), contextlib.closing(connect(path, read_only=True)) as connection:
            try:
                return schema_version(connection)
            except apsw.SQLError:
                return 0

    return await asyncio.to_thread(read)
