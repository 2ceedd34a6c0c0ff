"""The verb "restore": a backup takes the place of what is there, which is kept; no code is ever given again."""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from laconic import clock
from laconic.backups.backup import JOURNAL, name_of
from laconic.backups.manifest import File, Manifest, verify
from laconic.backups.store import check_counts
from laconic.clicks.carry import lock_names
from laconic.clock import DAY, SECOND
from laconic.codes.high_water import marks_in
from laconic.codes.store import JUMP, jump_statements
from laconic.errors import BackupUnusable, DatabaseTooNew
from laconic.storage.engines import data_folder, put_back, schema_status
from laconic.storage.folder import claim_folder
from laconic.storage.snapshot import Progress

_STAGE = ".restore-"


@dataclass(frozen=True, slots=True)
class Target:
    """What a backup is restored to: the database, and the folder of journals and code marks."""

    url: str
    data_folder: Path
    journal_folder: Path
    tenant_url: str = ""


@dataclass(frozen=True, slots=True)
class Restored:
    manifest: Manifest
    kept: str | None
    """Where that which was there is now."""
    skipped: int
    """How many counters the codes went ahead."""


async def check(backup: Path, target_url: str, progress: Progress = lambda _: None) -> Manifest:
    """Is it whole, and can this release restore it to this engine? Changes nothing."""
    manifest = await _fit(backup, target_url)
    for file in manifest.files:
        await asyncio.to_thread(verify, backup, file, lambda some: progress(len(some)))
    return manifest


async def restore(backup: Path, target: Target, progress: Progress = lambda _: None) -> Restored:
    manifest = await _fit(backup, target.url)
    moment = clock.now()
    with _claimed(target.data_folder), _stage(target, moment) as stage:
        await asyncio.to_thread(_fill, stage, backup, manifest, progress)
        _give_to_owner(stage, stage.parent)
        skipped = _distance(manifest, moment)
        conclude = [
            # Before the cursor moves, or a count might be that of another state.
            *check_counts(manifest.counts),
            *jump_statements(marks_in(target.data_folder), skipped),
        ]
        journals = [(path, target.journal_folder / path.name) for path in sorted((stage / JOURNAL).iterdir())]
        target.journal_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = await put_back(
            target.url,
            stage,
            _name_of_the_old(moment),
            conclude,
            also=journals,
            tenant_url=target.tenant_url,
        )
        for folder in {target.data_folder, stage.parent}:
            _give_to_owner(folder, folder)
    return Restored(manifest, kept, skipped)


def _name_of_the_old(moment: int) -> str:
    """To the microsecond: no two restores have the same."""
    return datetime.fromtimestamp(moment / SECOND, UTC).strftime("before-restore-%Y%m%dT%H%M%S%fZ")


async def _fit(backup: Path, url: str) -> Manifest:
    manifest = Manifest.read(backup)
    status = await schema_status(url)
    if manifest.engine != status.engine:
        raise BackupUnusable(
            f"This is a backup of {manifest.engine}, and LACONIC_DATABASE_URL names {status.engine}."
            " `laconic export` and `laconic import` go from one to the other."
        )
    if manifest.schema > status.known:
        raise DatabaseTooNew(
            f"The backup has schema version {manifest.schema}; this release knows versions up to {status.known}."
            f" Restore it with Laconic {manifest.laconic} or later."
        )
    return manifest


def _distance(manifest: Manifest, moment: int) -> int:
    """As many counters as can have been leased since: 10^9, and as many again for each day since the backup.

    It grows with time, so a backup that is restored twice does not land where it did the first time.
    """
    return JUMP + max(0, moment - manifest.began_at) * JUMP // DAY


def _fill(stage: Path, backup: Path, manifest: Manifest, progress: Progress) -> None:
    """Every file, verified as it is copied; journals with the lock files that ingest looks for."""
    free = shutil.disk_usage(stage).free
    if manifest.bytes > free:
        raise BackupUnusable(
            f"The backup needs {manifest.bytes:,} bytes beside what is there, and the disk has {free:,}."
        )
    (stage / JOURNAL).mkdir(mode=0o700)
    for file in manifest.files:
        _take(stage / file.name, backup, file, progress)
    for name in lock_names(stage / JOURNAL):
        (stage / JOURNAL / name).touch(mode=0o600)


def _take(path: Path, backup: Path, file: File, progress: Progress) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:

        def sink(some: bytes) -> None:
            copy.write(some)
            progress(len(some))

        verify(backup, file, sink)
        copy.flush()
        os.fsync(copy.fileno())


def _give_to_owner(folder: Path, owned: Path) -> None:
    """What root makes inside the folder of the server's user shall be that user's, or no server could open it."""
    owner = owned.stat()
    if os.geteuid() != 0 or owner.st_uid == 0:
        return
    for path in (folder, *folder.rglob("*")):
        found = path.lstat()
        # Only what can have been made here: not a name that somebody has given to another's file.
        if found.st_uid == 0 and (path.is_dir() or found.st_nlink == 1):
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


@contextlib.contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """No server works on the folder, and none begins to."""
    lock = claim_folder(folder)
    try:
        yield
    finally:
        os.close(lock)


@contextlib.contextmanager
def _stage(target: Target, moment: int) -> Iterator[Path]:
    """A folder beside the files that will be replaced, so that putting one in place is a rename."""
    parent = data_folder(target.url) or target.data_folder
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # What a killed restore has left: nobody else is here.
    for folder in parent.glob(f"{_STAGE}*"):
        shutil.rmtree(folder, ignore_errors=True)
    stage = parent / f"{_STAGE}{name_of(moment)}"
    stage.mkdir(mode=0o700)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)
