"""Raw clicks on SQLite: one file a month beside the others, thrown away whole.

A commit over several files is not atomic, so each file keeps how far it has been given a journal: a batch that is
repeated after a crash adds only what the file has not got.
"""

import contextlib
import re
from collections.abc import Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

from laconic.clock import now
from laconic.storage.months import month_from_name, month_name
from laconic.storage.sqlite_connect import (
    ConnectionStatements,
    connect,
    connect_existing,
    rows_of,
    translated,
)
from laconic.storage.sqlite_migrate import migrate_file
from laconic.storage.sqlite_text import numbered

_NAME = re.compile(r"clicks-(\d{4}-\d{2})\.db")
# At the turn of a month two are written to; a backlog may know a third.
_MOST_OPEN = 3
# Ingest touches pages all over its indexes: each that it must fetch again costs as much as the row it is for.
WRITER_CACHE_KIB = 65_536

_SEEN = "SELECT sequence FROM journal_position WHERE journal_id = ?"
_REMEMBER = (
    "INSERT INTO journal_position (journal_id, segment, position, sequence, updated_at) VALUES (?, 0, 0, ?, ?)"
    " ON CONFLICT (journal_id) DO UPDATE SET sequence = excluded.sequence, updated_at = excluded.updated_at"
)


def event_file(folder: Path, month: int) -> Path:
    return folder / f"clicks-{month_name(month)}.db"


def months_in(folder: Path) -> list[int]:
    """Those that have a file, oldest first."""
    found = (_NAME.fullmatch(path.name) for path in folder.glob("clicks-*.db"))
    return sorted(month_from_name(match[1]) for match in found if match)


@contextlib.contextmanager
def _opened(path: Path, *, read_only: bool) -> Iterator[Any]:
    """None when the month has no file."""
    connection = connect_existing(path, read_only=read_only)
    try:
        yield connection
    finally:
        if connection is not None:
            connection.close()


def read_events(folder: Path, month: int, sql: str, args: Sequence[Any]) -> list[Any]:
    with translated(), _opened(event_file(folder, month), read_only=True) as connection:
        return rows_of(connection, numbered(sql), args) if connection is not None else []


def change_events(folder: Path, month: int, sql: str, args: Sequence[Any]) -> int:
    with translated(), _opened(event_file(folder, month), read_only=False) as connection:
        if connection is None:
            return 0
        # What somebody wants forgotten shall not stay legible in free pages.
        connection.execute("PRAGMA secure_delete = ON").fetchall()
        connection.execute(numbered(sql), args).fetchall()
        changed: int = connection.changes()
        return changed


def drop_events(folder: Path, month: int) -> None:
    """The file first: without it nobody looks at its log. A log that was made since then is that of a new file."""
    path = event_file(folder, month)
    logs = {log: _inode(log) for log in _logs(path)}
    path.unlink(missing_ok=True)
    for log, inode in logs.items():
        if inode is not None and _inode(log) == inode:
            log.unlink(missing_ok=True)


def _logs(path: Path) -> tuple[Path, Path]:
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


class EventWriter:
    """The month files that one thread appends to."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[int, tuple[int, Any]] = {}

    def append(
        self,
        month: int,
        journal_id: str,
        sequences: Sequence[int],
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
    ) -> None:
        """Durable when it returns; a sequence for each row."""
        with translated():
            connection = self._connection(month)
            connection.execute("BEGIN IMMEDIATE")
            try:
                seen = rows_of(connection, _SEEN, (journal_id,))
                are_new = (
                    [sequence > seen[0][0] for sequence in sequences] if seen else [True] * len(sequences)
                )
                if any(are_new):
                    rows = compress(zip(*columns, strict=True), are_new)
                    ConnectionStatements(connection).insert("click_event", names, rows, sum(are_new))
                    connection.execute(_REMEMBER, (journal_id, max(sequences), now()))
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def keep(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Durable when it returns. Those whose id is there are skipped."""
        with translated():
            connection = self._connection(month)
            connection.execute("BEGIN IMMEDIATE")
            try:
                ConnectionStatements(connection).insert(
                    "click_event", names, rows, len(rows), "ON CONFLICT DO NOTHING"
                )
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    def _connection(self, month: int) -> Any:
        path = event_file(self._folder, month)
        known = self._open.get(month)
        # A month that was thrown away while it was open takes no more rows.
        if known and _inode(path) == known[0]:
            return known[1]
        if known or len(self._open) >= _MOST_OPEN:
            self.close()
        _prepare_file(path)
        connection = connect(path, read_only=False, cache_kib=WRITER_CACHE_KIB)
        self._open[month] = (path.stat().st_ino, connection)
        return connection

    def close(self) -> None:
        for _, connection in self._open.values():
            connection.close()
        self._open.clear()


def _prepare_file(path: Path) -> None:
    """A file that can be seen has its tables: it is made under another name first."""
    hidden = path.with_name(f"new-{path.name}")
    if not path.exists():
        with contextlib.closing(connect(hidden, read_only=False)) as connection:
            hidden.chmod(0o600)
            migrate_file(connection, "sqlite_events")
        # Closing has moved all of it into the file and removed the log. Another log, left by a file of this name
        # whose dropping was cut short, would be taken for this one's.
        for log in _logs(path):
            log.unlink(missing_ok=True)
        hidden.rename(path)
    else:
        with contextlib.closing(connect(path, read_only=False)) as connection:
            migrate_file(connection, "sqlite_events")


def _inode(path: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError):
        return path.stat().st_ino
    return None
