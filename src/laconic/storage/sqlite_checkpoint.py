"""Carries what SQLite has written ahead into its files, beside those who write.

A log whose writers never pause is never copied to its end, and so goes on growing. Beyond a limit it is begun anew,
for which writers have to wait: what has come in meanwhile is copied before, so that next to nothing is left. The file
keeps its length then: a sync after writing over blocks that are there costs less than after making the file longer.
Somebody who reads for long keeps the log, and writers must not wait for him in vain each time.
"""

import contextlib
from collections.abc import Callable, Iterable
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
_BUSY_MILLISECONDS = 100
# After somebody kept a log from being begun anew.
_PAUSE_SECONDS = 10.0
_OPTIMIZE_SECONDS = 60.0
_PAGE_BYTES = 4_096


class Checkpoints:
    """Of one process, about once a second."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self._now = now
        self._optimize_at = 0.0
        self._begin_at: dict[Path, float] = {}

    def run(self, files: Iterable[Path]) -> None:
        is_due = self._now() >= self._optimize_at
        if is_due:
            self._optimize_at = self._now() + _OPTIMIZE_SECONDS
        for path in files:
            log = log_of(path)
            if not log.exists() or log.stat().st_size == 0:
                continue
            with translated(), contextlib.closing(apsw.Connection(str(path))) as connection:
                connection.set_busy_timeout(_BUSY_MILLISECONDS)
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA wal_autocheckpoint = 0")
                if is_due:
                    # Statistics for the planner, renewed only where a table has changed much since the last time.
                    connection.execute("PRAGMA optimize").fetchall()
                with contextlib.suppress(apsw.BusyError):  # another one does the same
                    self._copy(connection, log)

    def _copy(self, connection: apsw.Connection, log: Path) -> None:
        written, copied = _copy_nearly_all(connection)
        is_long = log.stat().st_size > _CUT_BYTES
        if not is_long and written * _PAGE_BYTES <= _LIMIT_BYTES:
            return
        # Whoever began to read long ago keeps what was written since. One who began just now is seen only by trying.
        if written - copied > _FEW_FRAMES or self._now() < self._begin_at.get(log, 0):
            return
        self._begin_at[log] = self._now() + _PAUSE_SECONDS
        connection.wal_checkpoint(
            mode=apsw.SQLITE_CHECKPOINT_TRUNCATE if is_long else apsw.SQLITE_CHECKPOINT_RESTART
        )
        del self._begin_at[log]


def log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _copy_nearly_all(connection: apsw.Connection) -> tuple[int, int]:
    """While others write. Gives how many frames the log has, and how many of them are copied; where it has more than
    it should, only what was written during the last copy is left, unless somebody reads what was there before."""
    before = written = copied = 0
    for _ in range(_MOST_COPIES):
        written, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        if written * _PAGE_BYTES <= _LIMIT_BYTES or written - before <= _FEW_FRAMES:
            break
        before = copied
    return written, copied
