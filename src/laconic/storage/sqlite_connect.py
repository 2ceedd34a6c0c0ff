"""Connections to SQLite files, and what can be said to one. Here the driver's exceptions become ours."""

import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import apsw

from laconic.clock import monotonic, now
from laconic.errors import Conflict, Unavailable
from laconic.storage.database import NOTHING_SAME, Ids, Merge, Row, Same
from laconic.storage.sqlite_text import among, insert_sql, numbered

_BUSY_LIMIT_SECONDS = 5.0
_BUSY_PAUSE_SECONDS = 0.001
_CACHE_KIB = 8_192
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
    apsw.NoMemError,
)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turns the driver's exceptions into ours, where they enter."""
    try:
        yield
    except apsw.ConstraintError as error:
        if getattr(error, "extendedresult", 0) in _UNIQUE_CODES:
            raise Conflict(str(error).rpartition(": ")[2]) from error
        raise
    except _OUT_OF_REACH as error:
        raise Unavailable(f"SQLite: {error}") from error


class Events(Protocol):
    """Who writes raw clicks; see `Statements.append_events` and `keep_events`."""

    def append(
        self,
        month: int,
        journal_id: str,
        sequences: Sequence[int],
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
    ) -> None: ...

    def keep(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None: ...


def rows_of(connection: apsw.Connection, sql: str, args: Sequence[Any] = ()) -> list[Row]:
    rows: list[Any] = connection.execute(sql, args).fetchall()
    return rows


def rows_among(connection: apsw.Connection, sql: str, ids: Ids, args: Sequence[Any]) -> list[Row]:
    parts = among(sql, ids, len(args))
    return [row for part, some in parts for row in rows_of(connection, part, (*args, *some))]


class ConnectionStatements:
    """The statements of one connection. Their awaits never suspend."""

    def __init__(self, connection: apsw.Connection, events: Events | None = None) -> None:
        self._connection = connection
        self._events = events

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        rows = await self.fetch_all(sql, *args)
        return rows[0] if rows else None

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        with translated():
            return rows_of(self._connection, numbered(sql), args)

    async def fetch_among(self, sql: str, ids: Ids, *args: Any) -> list[Row]:
        with translated():
            return rows_among(self._connection, sql, ids, args)

    async def execute(self, sql: str, *args: Any) -> int:
        with translated():
            self._connection.execute(numbered(sql), args).fetchall()
            return self._connection.changes()

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with translated():
            self._connection.executemany(numbered(sql), rows).fetchall()

    async def insert_many(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], same: Same = NOTHING_SAME
    ) -> bool:
        if same:
            columns, values = (*columns, *same), tuple(same.values())
            rows = [(*row, *values) for row in rows]
        return self.insert(table, columns, rows, len(rows), "ON CONFLICT DO NOTHING") == len(rows)

    async def merge(self, table: str, how: Merge, columns: Sequence[Sequence[Any]]) -> None:
        rows = zip(*columns, strict=True)
        self.insert(table, how.columns, rows, len(columns[0]), how.clause(table))

    async def append_events(
        self,
        month: int,
        journal_id: str,
        sequences: Sequence[int],
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
    ) -> None:
        assert self._events is not None, "only a writer appends events"  # noqa: S101
        self._events.append(month, journal_id, sequences, names, columns)

    async def keep_events(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        assert self._events is not None, "only a writer keeps events"  # noqa: S101
        self._events.keep(month, names, rows)

    def insert(
        self,
        table: str,
        names: Sequence[str],
        rows: Iterable[Sequence[Any]],
        count: int,
        on_conflict: str = "",
    ) -> int:
        """`count` rows, many to a statement, because each step takes and gives back the interpreter's lock."""
        columns = tuple(names)
        # Row by row as they are needed: a list of all of them would keep the collector of garbage busy.
        values = itertools.chain.from_iterable(rows)
        inserted = 0
        with translated():
            while count:
                size = next(size for size in _INSERT_SIZES if size <= count)
                some = list(itertools.islice(values, size * len(columns)))
                self._connection.execute(insert_sql(table, columns, size, on_conflict), some).fetchall()
                inserted += self._connection.changes()
                count -= size
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


def connect_plain(path: Path) -> apsw.Connection:
    """To a file that nobody else uses, such as a copy in the making: without a log, and synced by its maker."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.execute("PRAGMA journal_mode = OFF").fetchall()
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def connect_existing(path: Path, *, read_only: bool) -> apsw.Connection | None:
    """None when there is no such file, also when it goes away at this moment: opening never makes one."""
    try:
        return connect(path, read_only=read_only, flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.CantOpenError:
        if path.exists():
            raise
        return None


def connect_foreign(path: Path) -> apsw.Connection:
    """Another program's file, as it is: nothing is set that would be written into it."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_handler(_wait_for_lock())
    connection.execute("PRAGMA query_only = ON")
    return connection


def connect(
    path: Path,
    *,
    attach: Path | None = None,
    read_only: bool,
    cache_kib: int = _CACHE_KIB,
    flags: int = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE,
) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_handler(_wait_for_lock())
    # By the names they have in the other engine: the machine's clock is this engine's, and a file has no history.
    connection.create_scalar_function("clock_timestamp", lambda *_: now(), 0)
    connection.create_scalar_function("database_lineage", lambda *_: "file", 0)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    # FULL syncs the log at each commit: what was answered survives a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    # The upkeep process checkpoints (`tidy`); a worker must not stop to do it.
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA cache_size = -{cache_kib}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")
    if attach:
        connection.execute("ATTACH ? AS other", (str(attach),))
    if read_only:
        # Whoever only reads must not stop to checkpoint either, when he happens to be the last to leave.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
    return connection
