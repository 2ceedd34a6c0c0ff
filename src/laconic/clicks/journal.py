"""The click's way to disk: one process appends, ingest reads.

The lane hands over the records of one loop tick and they are written by one write(2); only then do the
answers go out. The page cache survives the death of the process; a sync every 100 ms, off the loop, bounds what
a power cut can take. When the disk refuses, redirects go on and the clicks missed are counted.

    <folder>/<journal id>.lock        held (flock) by the process that writes; free means that it is dead
    <folder>/<journal id>-<n>.segment preallocated, so that a full disk is seen when a segment is made
"""

import fcntl
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from struct import Struct

from laconic.clicks.click import Visitor, record_of
from laconic.clock import monotonic

SEGMENT_HEAD = Struct("<8s16sQ")
SEGMENT_MAGIC = b"LACJRNL1"
SEGMENT_BYTES = 16 * 1024 * 1024

# After a refused write the disk is left alone for this long; the answers do not wait for it.
_PAUSE_AFTER_FAILURE = 1.0


def segment_path(folder: Path, journal_id: str, number: int) -> Path:
    return folder / f"{journal_id}-{number:08d}.segment"


def lock_path(folder: Path, journal_id: str) -> Path:
    return folder / f"{journal_id}.lock"


def _make_lock(path: Path) -> int:
    """A lock file that is locked from the first moment it can be seen."""
    hidden = path.with_suffix(".new")
    fd = os.open(hidden, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    hidden.rename(path)
    return fd


class Journal:
    """Owned by one process and used from one thread."""

    def __init__(self, folder: Path, *, segment_bytes: int = SEGMENT_BYTES) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.journal_id = secrets.token_hex(16)
        self.missed = 0
        self._folder = folder
        self._segment_bytes = segment_bytes
        self._sequence = 0
        self._number = -1
        self._retry_at = 0.0
        self._synced_to = (0, 0)
        self._lock = _make_lock(lock_path(folder, self.journal_id))
        self._fd = -1
        self._offset = 0
        self._open_segment(0)

    def record(self, moment: int, link_id: int, visitor: Visitor) -> bytes:
        """The bytes of one click, numbered; to be given to `write`."""
        self._sequence += 1
        return record_of(self._sequence, moment, link_id, visitor)

    def write(self, records: list[bytes]) -> None:
        """Appends the records by one write(2). Never raises: what cannot be written is counted."""
        data = b"".join(records)
        try:
            if self._offset + len(data) > self._segment_bytes or self._fd < 0:
                self._open_next(len(data))
            written = os.pwrite(self._fd, data, self._offset)
            while written < len(data):
                # The offset moves only when all is there, so a torn end is overwritten by the next batch.
                written += self._write_rest(data, written)
        except OSError:
            self.missed += len(records)
            self._retry_at = monotonic() + _PAUSE_AFTER_FAILURE
            return
        self._offset += len(data)

    def _write_rest(self, data: bytes, written: int) -> int:
        more = os.pwrite(self._fd, data[written:], self._offset + written)
        if more == 0:
            raise OSError("the disk takes no more bytes")
        return more

    def _open_next(self, needed: int) -> None:
        if monotonic() < self._retry_at:
            raise OSError("the disk refused a moment ago")
        if self._fd >= 0:
            self.sync()
            os.close(self._fd)
            self._fd = -1
        self._open_segment(self._number + 1, needed)

    def _open_segment(self, number: int, needed: int = 0) -> None:
        path = segment_path(self._folder, self.journal_id, number)
        size = max(self._segment_bytes, SEGMENT_HEAD.size + needed)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            os.posix_fallocate(fd, 0, size)
            head = SEGMENT_HEAD.pack(SEGMENT_MAGIC, bytes.fromhex(self.journal_id), number)
            os.pwrite(fd, head, 0)
        except OSError:
            os.close(fd)
            path.unlink()
            raise
        self._number = number
        self._fd = fd
        self._offset = SEGMENT_HEAD.size

    def sync_job(self) -> Callable[[], None] | None:
        """Something to run off the loop that puts what was written on the disk itself; None when nothing is new."""
        place = (self._number, self._offset)
        if place == self._synced_to or self._fd < 0:
            return None
        self._synced_to = place
        # A descriptor of its own: the segment may be left and closed while the sync is under way.
        fd = os.dup(self._fd)

        def job() -> None:
            try:
                os.fdatasync(fd)
            finally:
                os.close(fd)

        return job

    def sync(self) -> None:
        """The same at once. May block."""
        job = self.sync_job()
        if job is not None:
            job()

    def close(self) -> None:
        """Syncs and lets the lock go: whoever drains the journal now knows that no more will come."""
        if self._fd >= 0:
            self.sync()
            os.close(self._fd)
            self._fd = -1
        os.close(self._lock)
