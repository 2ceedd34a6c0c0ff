"""Reading journals back: sound records in order, past whatever is damaged, and never past what may still come."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import structlog

from laconic import clock
from laconic.clicks.click import LONGEST_RECORD, find_record
from laconic.clicks.journal import SEGMENT_HEAD, SEGMENT_MAGIC, lock_path, segment_number, segment_path
from laconic.clicks.position import Position
from laconic.clicks.records import read_clicks

log = structlog.get_logger(__name__)

_READ_BYTES = 4 * 1024 * 1024
# A record that a living process is writing is whole after microseconds: one that is still bad after this, with sound
# ones behind it, is damaged.
_DAMAGED_AFTER_SECONDS = 2.0


class Batch:
    """What was read of one journal, and how far."""

    def __init__(self, journal_id: str, since: Position, most: int) -> None:
        self.journal_id = journal_id
        self.since = since
        self.clicks, _ = read_clicks(b"", 0)
        self.skipped_bytes = 0
        self.foreign_segments = 0
        self._most = most
        self._segment, self._offset, self._sequence = since

    def read(self, fd: int) -> None:
        """Takes the sound records from here on, up to the first that is not (yet) there."""
        while not self.is_full:
            data = os.pread(fd, _READ_BYTES, self.next_record)
            clicks, end = read_clicks(data, self._most - len(self.clicks))
            if not len(clicks):
                return
            self._offset = self.next_record + end
            self._sequence = int(clicks.sequences[-1])
            self.clicks += clicks

    def skip_to(self, offset: int) -> None:
        self.skipped_bytes += offset - self.next_record
        self._offset = offset

    def enter(self, segment: int) -> None:
        self._segment, self._offset = segment, 0

    @property
    def segment(self) -> int:
        return self._segment

    @property
    def next_record(self) -> int:
        return max(self._offset, SEGMENT_HEAD.size)

    @property
    def reached(self) -> Position:
        return Position(self._segment, self._offset, self._sequence)

    @property
    def is_full(self) -> bool:
        return len(self.clicks) >= self._most

    @property
    def oldest(self) -> int | None:
        """The first to be written is the oldest, but for the clock."""
        return int(self.clicks.moments[0]) if len(self.clicks) else None

    @property
    def newest(self) -> int | None:
        """The last to be written."""
        return int(self.clicks.moments[-1]) if len(self.clicks) else None


class JournalFolder:
    """The journals that the processes of this machine write, as ingest sees them."""

    def __init__(self, folder: Path, *, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._folder = folder
        self._monotonic = monotonic
        # By journal: the place of a bad record with sound ones behind it, and since when it is seen.
        self._suspects: dict[str, tuple[Position, float]] = {}

    def journals(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("*.lock"))

    def size(self) -> int:
        """Bytes on disk: what is preallocated counts, as it does for the disk."""
        return sum(path.stat().st_size for path in self._folder.glob("*.segment"))

    def is_abandoned(self, journal_id: str) -> bool:
        """Is the process that wrote this journal dead? Its lock went with it."""
        try:
            fd = os.open(lock_path(self._folder, journal_id), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        else:
            return True
        finally:
            os.close(fd)

    def read(self, journal_id: str, since: Position, most: int, *, is_finished: bool) -> Batch:
        """At most so many clicks. `is_finished`: nobody writes to the journal any more."""
        batch = Batch(journal_id, since, most)
        while True:
            # Seen before reading: when the next segment exists, this one will not grow any more.
            following = self._segment_behind(journal_id, batch.segment)
            self._read_segment(batch, is_over=is_finished or following is not None)
            if batch.is_full or following is None:
                return batch
            batch.enter(following)

    def _segment_behind(self, journal_id: str, number: int) -> int | None:
        """The lowest one: there is a gap when a failover has forgotten how far a journal was applied and deleted."""
        paths = self._folder.glob(f"{journal_id}-*.segment")
        return min((found for path in paths if (found := segment_number(path)) > number), default=None)

    def _read_segment(self, batch: Batch, *, is_over: bool) -> None:
        path = segment_path(self._folder, batch.journal_id, batch.segment)
        try:
            fd = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            if not _is_ours(fd):
                _set_aside(path)
                batch.foreign_segments += 1
                return
            batch.read(fd)
            while not batch.is_full and (place := self._behind_damage(fd, batch, is_over=is_over)):
                batch.skip_to(place)
                batch.read(fd)
        finally:
            os.close(fd)

    def _behind_damage(self, fd: int, batch: Batch, *, is_over: bool) -> int | None:
        """Where to go on when the next record is bad; None when it is only not there yet."""
        offset = batch.next_record
        if is_over:
            return _find_sound(os.pread(fd, os.fstat(fd).st_size, offset), offset)
        found = _find_sound(os.pread(fd, 2 * LONGEST_RECORD, offset), offset)
        if found is None:
            self._suspects.pop(batch.journal_id, None)
            return None
        place, since = self._suspects.setdefault(batch.journal_id, (batch.reached, self._monotonic()))
        if place != batch.reached:
            self._suspects[batch.journal_id] = (batch.reached, self._monotonic())
            return None
        return found if self._monotonic() - since >= _DAMAGED_AFTER_SECONDS else None

    def delete_before(self, journal_id: str, segment: int) -> None:
        """Segments that have been applied."""
        for number in range(segment - 1, -1, -1):
            try:
                segment_path(self._folder, journal_id, number).unlink()
            except FileNotFoundError:
                return

    def delete_segments(self, journal_id: str) -> None:
        for path in self._folder.glob(f"{journal_id}-*"):
            if path.suffix != ".foreign":
                path.unlink(missing_ok=True)

    def delete_lock(self, journal_id: str) -> None:
        """Last of all: a lock file without segments is drained again at no cost, the reverse would lose them."""
        lock_path(self._folder, journal_id).unlink(missing_ok=True)
        self._suspects.pop(journal_id, None)


def _set_aside(path: Path) -> None:
    """Of another release's format, or no segment at all: kept for whoever can read it."""
    path.rename(path.with_suffix(".foreign"))
    log.warning("a journal segment of another format was set aside", file=path.name)


def _is_ours(fd: int) -> bool:
    return os.pread(fd, len(SEGMENT_MAGIC), 0) == SEGMENT_MAGIC


def _find_sound(data: bytes, offset: int) -> int | None:
    """The place of the first sound record in `data`, which begins at `offset` of its segment."""
    # Most of it is zeros that nobody has written to yet; a record may end with some of its own.
    data = data[: len(data.rstrip(b"\0")) + LONGEST_RECORD]
    place = find_record(data, 0)
    return None if place is None else offset + place
