"""The click's way to disk: one process appends, ingest reads.

The lane hands over the clicks of one loop tick and they are written by one write(2); only then do the
answers go out. The page cache survives the death of the process; a sync every 100 ms, off the loop, bounds what
a power cut can take. When the disk refuses, redirects go on and the clicks missed are counted.

    <folder>/<journal id>.lock        held (flock) by the process that writes; free means that it is dead
    <folder>/<journal id>-<n>.segment preallocated, so that a full disk is seen when a segment is made
    <folder>/*.new                    one of the two being made; ingest does not look at it
"""

import contextlib
import fcntl
import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import Struct

from laconic import clock
from laconic.clicks.click import Followed, records_of

SEGMENT_HEAD = Struct("<8s16sQ")
SEGMENT_MAGIC = b"LACJRNL1"
SEGMENT_BYTES = 16 * 1024 * 1024

# After a segment could not be made the disk is left alone for this long; the answers do not wait for it.
_PAUSE_AFTER_FAILURE = 1.0
# Segments hold whole addresses and are deleted once they are left and applied: where few people come, none shall
# lie there for days until it is full.
_LEAVE_AFTER_SECONDS = 600.0


def segment_path(folder: Path, journal_id: str, number: int) -> Path:
    return folder / f"{journal_id}-{number:08d}.segment"


def segment_number(path: Path) -> int:
    return int(path.stem.rpartition("-")[2])


def lock_path(folder: Path, journal_id: str) -> Path:
    return folder / f"{journal_id}.lock"


def _make_lock(path: Path) -> int:
    """A lock file that is locked from the first moment it can be seen."""
    hidden = path.with_suffix(".new")
    fd = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        hidden.rename(path)
    except OSError:
        os.close(fd)
        hidden.unlink()
        raise
    return fd


def _make_segment(path: Path, size: int, head: bytes) -> int:
    """A whole segment or none: once it can be seen, the one before it is taken for finished."""
    hidden = path.with_suffix(".new")
    fd = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        os.posix_fallocate(fd, 0, size)
        os.pwrite(fd, head, 0)
        hidden.rename(path)
    except OSError:
        os.close(fd)
        hidden.unlink()
        raise
    return fd


class Journal:
    """Owned by one process and used from one thread."""

    def __init__(
        self,
        folder: Path,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self.journal_id = secrets.token_hex(16)
        self.missed = 0
        self.sync_failures = 0
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._monotonic = monotonic
        self._sequence = 0
        self._number = -1
        self._retry_at = 0.0
        self._opened_at = 0.0
        self._synced_to = (0, 0)
        self._lock = self._fd = -1
        self._offset = 0
        # Segments that are left but not yet synced.
        self._left: list[int] = []
        try:
            self._open_next(0)
        except OSError:
            # A full disk stops no redirect, at the start either: the first click tries again.
            self._retry_at = 0.0

    def write(self, clicks: Sequence[Followed]) -> None:
        """Appends a record for each by one write(2). Never raises: what cannot be written is counted."""
        data = records_of(self._sequence + 1, clicks)
        self._sequence += len(clicks)
        written = 0
        try:
            if self._fd < 0 or self._offset + len(data) > self._segment_bytes:
                self._open_next(len(data))
            written = os.pwrite(self._fd, data, self._offset)
            while written < len(data):
                written += self._write_rest(data, written)
        except OSError:
            self._keep_whole(clicks, written)
            return
        self._offset += len(data)

    def _write_rest(self, data: bytes, written: int) -> int:
        more = os.pwrite(self._fd, data[written:], self._offset + written)
        if more == 0:
            raise OSError("the disk takes no more bytes")
        return more

    def _keep_whole(self, clicks: Sequence[Followed], written: int) -> None:
        """Of a batch cut short: whole records stay, for ingest may have read them; a torn one is overwritten."""
        for _, _, visitor in clicks:
            length = visitor.record_length
            if length <= written:
                written -= length
                self._offset += length
            else:
                written = 0
                self.missed += 1

    def _open_next(self, needed: int) -> None:
        """Goes over to a new segment. When that fails the old one stays, for batches that still fit into it."""
        if self._monotonic() < self._retry_at:
            raise OSError("the disk refused a moment ago")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._lock < 0:
                self._lock = _make_lock(lock_path(self._folder, self.journal_id))
            number = self._number + 1
            head = SEGMENT_HEAD.pack(SEGMENT_MAGIC, bytes.fromhex(self.journal_id), number)
            size = max(self._segment_bytes, len(head) + needed)
            fd = _make_segment(segment_path(self._folder, self.journal_id, number), size, head)
        except OSError:
            self._retry_at = self._monotonic() + _PAUSE_AFTER_FAILURE
            raise
        if self._fd >= 0:
            self._left.append(self._fd)
        self._fd, self._number, self._offset = fd, number, len(head)
        self._opened_at = self._monotonic()

    def leave_old_segment(self) -> None:
        """Now and then, off the hot path. One without clicks may grow as old as it likes."""
        age = self._monotonic() - self._opened_at
        if self._fd >= 0 and self._offset > SEGMENT_HEAD.size and age > _LEAVE_AFTER_SECONDS:
            with contextlib.suppress(OSError):
                self._open_next(0)

    def sync_job(self) -> Callable[[], None] | None:
        """Something to run off the loop that puts what was written on the disk itself; None when nothing is new."""
        place = (self._number, self._offset)
        if self._fd < 0 or place == self._synced_to:
            return None
        try:
            # A descriptor of its own: the segment may be left and closed while the sync is under way.
            fds = [*self._left, os.dup(self._fd)]
        except OSError:
            # No descriptor is free just now (many connections); the next call tries again.
            return None
        self._left = []
        self._synced_to = place
        return lambda: _sync_and_close(fds)

    def sync(self) -> None:
        """The same at once. May block."""
        job = self.sync_job()
        if job is not None:
            job()

    def close(self) -> None:
        """Syncs and lets the lock go: whoever drains the journal now knows that no more will come."""
        try:
            self.sync()
        finally:
            for fd in (*self._left, self._fd, self._lock):
                if fd >= 0:
                    os.close(fd)
            self._left = []
            self._fd = self._lock = -1


def _sync_and_close(fds: list[int]) -> None:
    """Each of them, whatever becomes of the others; then the first failure is told."""
    failures = []
    for fd in fds:
        try:
            os.fdatasync(fd)
        except OSError as error:
            failures.append(error)
        finally:
            os.close(fd)
    if failures:
        raise failures[0]
