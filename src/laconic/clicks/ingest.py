"""From the journals into the database: each click once, whatever dies in between.

A batch and the place it was read up to are committed together. So a crash before the commit repeats the
reading, and one after it goes on behind it.
"""

import asyncio
import contextlib
import fcntl
import mmap
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from laconic.clicks.click import Click, read_record
from laconic.clicks.journal import SEGMENT_HEAD, lock_path, segment_path
from laconic.clicks.store import ClickStore, LinkClicks, Position
from laconic.errors import Unavailable

_PAUSE_SECONDS = 0.2
_BATCH_CLICKS = 20_000


@dataclass(slots=True)
class _Batch:
    """What was read of one journal, and how far."""

    reached: Position
    added: dict[int, LinkClicks] = field(default_factory=dict)
    clicks: int = 0

    def add(self, click: Click) -> None:
        total = self.added.get(click.link_id)
        if total is None:
            self.added[click.link_id] = LinkClicks(1, click.moment)
        else:
            total.clicks += 1
            total.last_clicked_at = max(total.last_clicked_at, click.moment)
        self.clicks += 1


class Ingest:
    """Drains every journal of one folder."""

    def __init__(self, folder: Path, store: ClickStore) -> None:
        self._folder = folder
        self._store = store
        self._positions: dict[str, Position] = {}
        self._workspaces: dict[int, int] = {}

    async def run(self, stopping: asyncio.Event) -> None:
        """Until told to stop; then once more, so that nothing that was answered waits for the next start."""
        while not stopping.is_set():
            applied = 0
            with contextlib.suppress(Unavailable):
                # What cannot be applied now stays in the journal and is read again.
                applied = await self.drain_once()
            if not applied:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stopping.wait(), _PAUSE_SECONDS)
        while await self.drain_once():
            pass

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
        batch = self._read(journal_id, position)
        if batch.reached != position:
            await self._apply(journal_id, batch)
        self._positions[journal_id] = batch.reached
        self._delete_before(journal_id, batch.reached.segment)
        if finished and not batch.clicks:
            await self._delete(journal_id)
        return batch.clicks

    async def _apply(self, journal_id: str, batch: _Batch) -> None:
        unknown = [link_id for link_id in batch.added if link_id not in self._workspaces]
        if unknown:
            if len(self._workspaces) > 1_000_000:
                self._workspaces.clear()
            self._workspaces.update(await self._store.workspaces_of(unknown))
        await self._store.apply(journal_id, batch.reached, batch.added, self._workspaces)

    def _read(self, journal_id: str, position: Position) -> _Batch:
        batch = _Batch(position)
        while batch.clicks < _BATCH_CLICKS:
            path = segment_path(self._folder, journal_id, batch.reached.segment)
            # Seen before reading: when the next segment exists, this one will not grow any more.
            is_full = segment_path(self._folder, journal_id, batch.reached.segment + 1).exists()
            for click, end in _clicks_in(path, batch.reached.offset):
                batch.add(click)
                batch.reached = Position(batch.reached.segment, end, click.sequence)
                if batch.clicks >= _BATCH_CLICKS:
                    return batch
            if not is_full:
                return batch
            batch.reached = Position(batch.reached.segment + 1, 0, batch.reached.sequence)
        return batch

    def _delete_before(self, journal_id: str, segment: int) -> None:
        for number in range(segment - 1, -1, -1):
            path = segment_path(self._folder, journal_id, number)
            if not path.exists():
                return
            path.unlink()

    async def _delete(self, journal_id: str) -> None:
        """Segments first: a lock file without segments is drained again at no cost, the reverse would lose them."""
        for path in self._folder.glob(f"{journal_id}-*.segment"):
            path.unlink()
        await self._store.forget(journal_id)
        lock_path(self._folder, journal_id).unlink(missing_ok=True)
        self._positions.pop(journal_id, None)


def _clicks_in(path: Path, offset: int) -> Iterator[tuple[Click, int]]:
    """The sound records from `offset` on, up to the first that is not (yet) there."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        size = os.fstat(fd).st_size
        if size <= SEGMENT_HEAD.size:
            return
        with mmap.mmap(fd, size, prot=mmap.PROT_READ) as mapped, memoryview(mapped) as data:
            offset = max(offset, SEGMENT_HEAD.size)
            while found := read_record(data, offset):
                yield found
                offset = found[1]
    finally:
        os.close(fd)


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
