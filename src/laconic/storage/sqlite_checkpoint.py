"""Carries what SQLite has written ahead into its files, beside those who write.

A log whose writers never pause is never copied to its end, and so goes on growing. Beyond a limit it is begun anew,
for which writers have to wait: what has come in meanwhile is copied before, so that next to nothing is left. The file
keeps its length then: a sync after writing over blocks that are there costs less than after making the file longer.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path

import apsw

from laconic.clock import monotonic
from laconic.storage.sqlite_connect import translated

_LIMIT_BYTES = 64 * 1024 * 1024
# A file that a long transaction has made longer than this is cut.
_CUT_BYTES = 128 * 1024 * 1024
# While so many frames are copied, few come in: writers may wait for these.
_FEW_FRAMES = 1_000
_MOST_COPIES = 5
_OPTIMIZE_SECONDS = 60.0
_PAGE_BYTES = 4_096


class Checkpoints:
    """Of one process, about once a second."""

    def __init__(self) -> None:
        self._optimize_at = 0.0

    def run(self, files: Iterable[Path]) -> None:
        is_due = monotonic() >= self._optimize_at
        if is_due:
            self._optimize_at = monotonic() + _OPTIMIZE_SECONDS
        for path in files:
            log = log_of(path)
            if not log.exists() or log.stat().st_size == 0:
                continue
            with translated(), contextlib.closing(apsw.Connection(str(path))) as connection:
                connection.set_busy_timeout(100)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA wal_autocheckpoint = 0")
                if is_due:
                    # Statistics for the planner, renewed only where a table has changed much since the last time.
                    connection.execute("PRAGMA optimize").fetchall()
                _copy(connection, log)


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _copy(connection: apsw.Connection, log: Path) -> None:
    """A reader that takes long, or another who does the same, keeps the log as it is: another time."""
    with contextlib.suppress(apsw.BusyError):
        if log.stat().st_size > _CUT_BYTES:
            _copy_nearly_all(connection)
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        elif _copy_nearly_all(connection) > _LIMIT_BYTES:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)


def _copy_nearly_all(connection: apsw.Connection) -> int:
    """While others write. Gives the bytes that the log has; where that is more than it should, only what was written
    during the last copy is not copied yet."""
    before = written = 0
    for _ in range(_MOST_COPIES):
        written, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if written * _PAGE_BYTES <= _LIMIT_BYTES or written - before <= _FEW_FRAMES:
            break
        before = copied
    return written * _PAGE_BYTES
