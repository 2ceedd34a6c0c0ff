"""Clicks that are journaled and not yet applied, carried along with a copy of the database.

Ingest goes on meanwhile, and deletes segments. So they are opened before the database's state is fixed and again after
it: what is open can be read to the end. What is applied already is left out: journals hold whole addresses.
"""

import contextlib
import os
import resource
from collections.abc import Iterator, Mapping
from pathlib import Path

from laconic.clicks.journal import SEGMENT_HEAD, lock_path, segment_number, segment_path
from laconic.clicks.position import Position

Segment = tuple[str, int]
"""Journal id and number."""

_CHUNK_BYTES = 1024 * 1024


class OpenSegments:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._fds: dict[Segment, int] = {}
        self._seen: set[Segment] = set()

    def look(self) -> None:
        """Opens the segments that are there now and were not before."""
        _allow_many_files()
        self._seen = set()
        for path in self._folder.glob("*.segment"):
            segment = path.stem.rpartition("-")[0], segment_number(path)
            with contextlib.suppress(FileNotFoundError):
                if segment not in self._fds:
                    self._fds[segment] = os.open(path, os.O_RDONLY)
                self._seen.add(segment)

    def choose(self, positions: Mapping[str, Position]) -> list[Segment] | None:
        """What is not applied according to `positions`, which were read between two looks.

        None when that cannot be told: a journal ended, or went ahead by a whole segment, between the looks.
        """
        chosen: list[Segment] = []
        for journal_id in {journal_id for journal_id, _ in self._fds}:
            numbers = sorted(number for owner, number in self._fds if owner == journal_id)
            position = positions.get(journal_id)
            if position is None:
                # Nothing applied yet, if it is still there; otherwise all of it, and its position is forgotten.
                if any((journal_id, number) not in self._seen for number in numbers):
                    return None
            else:
                numbers = [number for number in numbers if number >= position.segment]
                if numbers and numbers != list(range(position.segment, numbers[-1] + 1)):
                    return None
            chosen += [(journal_id, number) for number in numbers]
        return sorted(chosen)

    def copy(self, segment: Segment, folder: Path, positions: Mapping[str, Position]) -> Path:
        """As sparse as it is, without what is applied."""
        journal_id, number = segment
        source, target = self._fds[segment], segment_path(folder, journal_id, number)
        position = positions.get(journal_id)
        is_partly_applied = position is not None and position.segment == number
        begin = position.offset if position is not None and is_partly_applied else 0
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.pwrite(fd, os.pread(source, SEGMENT_HEAD.size, 0), 0)
            for offset, some in _chunks(source, max(begin, SEGMENT_HEAD.size)):
                if some.strip(b"\0"):
                    os.pwrite(fd, some, offset)
            os.truncate(fd, os.fstat(source).st_size)
            os.fsync(fd)
        finally:
            os.close(fd)
        return target

    def close(self) -> None:
        for fd in self._fds.values():
            os.close(fd)
        self._fds = {}


def lock_names(folder: Path) -> set[str]:
    """The lock files that ingest finds these segments by. Nobody holds them: the journals are drained and removed."""
    return {lock_path(folder, path.stem.rpartition("-")[0]).name for path in folder.glob("*.segment")}


def _chunks(fd: int, offset: int) -> Iterator[tuple[int, bytes]]:
    while some := os.pread(fd, _CHUNK_BYTES, offset):
        yield offset, some
        offset += len(some)


def _allow_many_files() -> None:
    """A long backlog has thousands of segments."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
