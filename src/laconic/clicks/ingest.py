"""From the journals into the database: each click once, whatever dies in between.

A batch and the place it was read up to are committed together. So a crash before the commit repeats the
reading, and one after it goes on behind it.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog

from laconic import clock
from laconic.clicks.click import LONGEST_RECORD, Click, find_record, read_record
from laconic.clicks.journal import SEGMENT_HEAD, lock_path, segment_number, segment_path
from laconic.clicks.store import ClickStore, LinkClicks, Position
from laconic.clock import SECOND
from laconic.errors import Conflict, Unavailable

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 0.2
_BATCH_CLICKS = 20_000
_READ_BYTES = 1024 * 1024
_MOST_WORKSPACES = 1_000_000
# A record that a living process is writing is whole after microseconds: one that is still bad after this, with sound
# ones behind it, is damaged.
_DAMAGED_AFTER_SECONDS = 2.0


class _Batch:
    """What was read of one journal, and how far."""

    def __init__(self, since: Position) -> None:
        self.segment, self.offset, self.sequence = since.segment, since.offset, since.sequence
        self.added: dict[int, LinkClicks] = {}
        self.clicks = 0
        self.skipped_bytes = 0
        self.oldest: int | None = None
        self.newest = 0

    def add(self, click: Click, end: int) -> None:
        total = self.added.get(click.link_id)
        if total is None:
            self.added[click.link_id] = LinkClicks(1, click.moment)
        else:
            total.clicks += 1
            total.last_clicked_at = max(total.last_clicked_at, click.moment)
        if self.oldest is None:
            # The first to be written is the oldest, but for the clock.
            self.oldest = click.moment
        self.clicks += 1
        self.newest = click.moment
        self.offset = end
        self.sequence = click.sequence

    def skip_to(self, offset: int) -> None:
        self.skipped_bytes += offset - self.next_record
        self.offset = offset

    def enter(self, segment: int) -> None:
        self.segment, self.offset = segment, 0

    @property
    def next_record(self) -> int:
        return max(self.offset, SEGMENT_HEAD.size)

    @property
    def reached(self) -> Position:
        return Position(self.segment, self.offset, self.sequence)

    @property
    def is_full(self) -> bool:
        return self.clicks >= _BATCH_CLICKS


class Ingest:
    """Drains every journal of one folder."""

    def __init__(
        self,
        folder: Path,
        store: ClickStore,
        *,
        now: Callable[[], int] = clock.now,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        # Bytes of damaged records that were passed over.
        self.skipped_bytes = 0
        self._folder = folder
        self._store = store
        self._now = now
        self._monotonic = monotonic
        self._positions: dict[str, Position] = {}
        self._workspaces: dict[int, int] = {}
        # By journal: the moment of the oldest click that was seen and is not applied.
        self._oldest: dict[str, int] = {}
        # By journal: the place of a bad record with sound ones behind it, and since when it is seen.
        self._suspects: dict[str, tuple[Position, float]] = {}
        self._is_failing = False

    @property
    def lag_seconds(self) -> float:
        """How old the oldest click is that is not applied; 0 when all are."""
        if not self._oldest:
            return 0.0
        return max(0.0, (self._now() - min(self._oldest.values())) / SECOND)

    async def run(self, stopping: asyncio.Event) -> None:
        """Until told to stop; then to the end, so that nothing that was answered waits for the next start."""
        while not stopping.is_set():
            if not await self._try_to_drain():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), _PAUSE_SECONDS)
        while await self._try_to_drain():
            pass

    async def _try_to_drain(self) -> int:
        """What cannot be applied now stays in the journal and is read again."""
        try:
            applied = await self.drain_once()
        except Unavailable as error:
            if not self._is_failing:
                log.warning("clicks wait in the journal", error=str(error))
            self._is_failing = True
            return 0
        self._is_failing = False
        return applied

    async def drain_once(self) -> int:
        """One batch of each journal; how many clicks were applied."""
        applied = 0
        for journal_id in self._journals():
            applied += await self._drain(journal_id)
        return applied

    def _journals(self) -> list[str]:
        return sorted(path.stem for path in self._folder.glob("*.lock"))

    async def _drain(self, journal_id: str) -> int:
        # Asked before reading: what a live writer appends after the reading is seen the next time.
        finished = _is_abandoned(lock_path(self._folder, journal_id))
        position = self._positions.get(journal_id) or await self._store.position(journal_id)
        batch = self._read(journal_id, position, finished=finished)
        if batch.oldest is not None:
            self._oldest[journal_id] = batch.oldest
        if batch.reached != position and not await self._apply(journal_id, position, batch):
            return 0
        self._settle(journal_id, batch)
        if finished and not batch.clicks:
            await self._delete(journal_id)
        return batch.clicks

    async def _apply(self, journal_id: str, position: Position, batch: _Batch) -> bool:
        # Until it is certain what became of the batch, the database alone knows the position.
        self._positions.pop(journal_id, None)
        await self._learn_workspaces(batch)
        try:
            await self._store.apply(journal_id, position, batch.reached, batch.added, self._workspaces)
        except Conflict:
            return False
        return True

    async def _learn_workspaces(self, batch: _Batch) -> None:
        unknown = [link_id for link_id in batch.added if link_id not in self._workspaces]
        if unknown:
            if len(self._workspaces) > _MOST_WORKSPACES:
                self._workspaces.clear()
                unknown = list(batch.added)
            self._workspaces.update(await self._store.workspaces_of(unknown))

    def _settle(self, journal_id: str, batch: _Batch) -> None:
        """After the commit."""
        self._positions[journal_id] = batch.reached
        self.skipped_bytes += batch.skipped_bytes
        if batch.is_full:
            # More waits behind it, about as old as its last one.
            self._oldest[journal_id] = batch.newest
        else:
            self._oldest.pop(journal_id, None)
        self._delete_before(journal_id, batch.segment)

    # Reading.

    def _read(self, journal_id: str, position: Position, *, finished: bool) -> _Batch:
        batch = _Batch(position)
        while True:
            # Seen before reading: when the next segment exists, this one will not grow any more.
            following = self._segment_behind(journal_id, batch.segment)
            self._read_segment(journal_id, batch, is_over=finished or following is not None)
            if batch.is_full or following is None:
                return batch
            batch.enter(following)

    def _segment_behind(self, journal_id: str, number: int) -> int | None:
        """The lowest one: there is a gap when a failover has forgotten how far a journal was applied and deleted."""
        paths = self._folder.glob(f"{journal_id}-*.segment")
        return min((found for path in paths if (found := segment_number(path)) > number), default=None)

    def _read_segment(self, journal_id: str, batch: _Batch, *, is_over: bool) -> None:
        try:
            fd = os.open(segment_path(self._folder, journal_id, batch.segment), os.O_RDONLY)
        except FileNotFoundError:
            return
        try:
            self._read_clicks(fd, batch)
            while not batch.is_full and (
                place := self._behind_damage(journal_id, fd, batch, is_over=is_over)
            ):
                batch.skip_to(place)
                self._read_clicks(fd, batch)
        finally:
            os.close(fd)

    def _read_clicks(self, fd: int, batch: _Batch) -> None:
        for click, end in _sound_clicks(fd, batch.next_record):
            batch.add(click, end)
            if batch.clicks >= _BATCH_CLICKS:
                return

    def _behind_damage(self, journal_id: str, fd: int, batch: _Batch, *, is_over: bool) -> int | None:
        """Where to go on when the next record is bad; None when it is only not there yet."""
        offset = batch.next_record
        if is_over:
            return _find_sound(os.pread(fd, os.fstat(fd).st_size, offset), offset)
        found = _find_sound(os.pread(fd, 2 * LONGEST_RECORD, offset), offset)
        if found is None:
            self._suspects.pop(journal_id, None)
            return None
        place, since = self._suspects.setdefault(journal_id, (batch.reached, self._monotonic()))
        if place != batch.reached:
            self._suspects[journal_id] = (batch.reached, self._monotonic())
            return None
        return found if self._monotonic() - since >= _DAMAGED_AFTER_SECONDS else None

    # What has been applied is deleted.

    def _delete_before(self, journal_id: str, segment: int) -> None:
        for number in range(segment - 1, -1, -1):
            try:
                segment_path(self._folder, journal_id, number).unlink()
            except FileNotFoundError:
                return

    async def _delete(self, journal_id: str) -> None:
        """Segments first: a lock file without segments is drained again at no cost, the reverse would lose them."""
        for path in self._folder.glob(f"{journal_id}-*"):
            path.unlink(missing_ok=True)
        await self._store.forget(journal_id)
        lock_path(self._folder, journal_id).unlink(missing_ok=True)
        self._positions.pop(journal_id, None)
        self._suspects.pop(journal_id, None)


def _sound_clicks(fd: int, offset: int) -> Iterator[tuple[Click, int]]:
    """The sound records from `offset` on, up to the first that is not (yet) there, each with its end."""
    while True:
        data = os.pread(fd, _READ_BYTES, offset)
        place = 0
        while found := read_record(data, place):
            click, place = found
            yield click, offset + place
        if place == 0:
            return
        offset += place


def _find_sound(data: bytes, offset: int) -> int | None:
    """The place of the first sound record in `data`, which begins at `offset` of its segment."""
    # Most of it is zeros that nobody has written to yet; a record may end with some of its own.
    data = data[: len(data.rstrip(b"\0")) + LONGEST_RECORD]
    place = find_record(data, 0)
    return None if place is None else offset + place


def _is_abandoned(path: Path) -> bool:
    """Is the process that wrote this journal dead? Its lock went with it."""
    try:
        fd = os.open(path, os.O_RDWR)
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
