"""The verb "back up": everything there is, in one state, while the server goes on."""

import asyncio
import contextlib
import fcntl
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from laconic import __version__, clock
from laconic.backups.manifest import NAME, File, Manifest, Range, describe
from laconic.backups.store import read_counts
from laconic.clicks.carry import OpenSegments
from laconic.clicks.position import Position
from laconic.clicks.store import read_positions
from laconic.clock import SECOND
from laconic.codes.store import read_ranges
from laconic.errors import CannotStart
from laconic.storage.engines import open_snapshot
from laconic.storage.snapshot import Progress, Snapshot

JOURNAL = "journal"
_ATTEMPTS = 5
_PART = ".laconic-part"


@dataclass(frozen=True, slots=True)
class Origin:
    """What is backed up: the database, and the journals of this machine."""

    url: str
    journal_folder: Path


def name_of(moment: int) -> str:
    """laconic-20261116T031500Z: names sort by age."""
    return datetime.fromtimestamp(moment / SECOND, UTC).strftime("laconic-%Y%m%dT%H%M%SZ")


def place_for(target: Path, moment: int) -> Path:
    """A folder that exists gets the backup inside it; otherwise the backup is the folder."""
    if (target / NAME).exists():
        raise CannotStart(f"{target} is a backup already. Name another folder, or the one above it.")
    return target / name_of(moment) if target.is_dir() else target


async def back_up(
    source: Origin,
    place: Path,
    progress: Progress = lambda _: None,
    expect: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Writes a backup into the folder `place`, which appears when it is whole. `expect` is told the bytes to come."""
    began_at = clock.now()
    with _workshop(place) as folder:
        async with _state_of(source) as (snapshot, segments, positions):
            expect(await snapshot.size())
            counts = await read_counts(snapshot)
            ranges = tuple(Range(*row) for row in await read_ranges(snapshot))
            chosen = segments.choose(positions) or []
            (folder / JOURNAL).mkdir(mode=0o700)
            # First, for they are the ones that grow.
            for segment in chosen:
                await asyncio.to_thread(segments.copy, segment, folder / JOURNAL, positions)
            await snapshot.write(folder, progress)
            engine, schema = snapshot.engine, snapshot.schema
        files = await asyncio.to_thread(_describe_all, folder)
        manifest = Manifest(
            laconic=__version__,
            engine=engine,
            schema=schema,
            began_at=began_at,
            finished_at=clock.now(),
            counts=counts,
            ranges=ranges,
            files=files,
        )
        await asyncio.to_thread(_finish, manifest, folder, place)
    return manifest


@contextlib.asynccontextmanager
async def _state_of(source: Origin) -> AsyncIterator[tuple[Snapshot, OpenSegments, dict[str, Position]]]:
    """A state of the database, and all segments that it has not applied."""
    for attempt in range(_ATTEMPTS):
        segments = OpenSegments(source.journal_folder)
        try:
            segments.look()
            async with open_snapshot(source.url) as snapshot:
                positions = await read_positions(snapshot)
                segments.look()
                if segments.choose(positions) is None and attempt < _ATTEMPTS - 1:
                    continue
                yield snapshot, segments, positions
                return
        finally:
            segments.close()


def _describe_all(folder: Path) -> tuple[File, ...]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(describe(folder, path) for path in paths)


@contextlib.contextmanager
def _workshop(place: Path) -> Iterator[Path]:
    """A hidden folder beside the place, locked; what a killed backup has left there is removed."""
    if place.exists():
        raise CannotStart(f"{place} exists already.")
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_leftovers(place.parent)
    folder = place.with_name(f".{place.name}{_PART}")
    folder.mkdir(mode=0o700)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_leftovers(parent: Path) -> None:
    """Of backups whose process has died: its lock went with it."""
    for folder in parent.glob(f".*{_PART}"):
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(lock)


def _finish(manifest: Manifest, folder: Path, place: Path) -> None:
    manifest.write(folder)
    for path in (folder / NAME, folder / JOURNAL, folder):
        _sync(path)
    folder.rename(place)
    _sync(place.parent)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
