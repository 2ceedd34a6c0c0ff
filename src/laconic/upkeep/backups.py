"""Daily backups, and a weekly look whether the database is whole. One process of the deployment does it, by a lease.

A backup is compressed after a week and removed after a month; the newest one that is whole always stays.
"""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import structlog

from laconic import clock
from laconic.backups.backup import Origin, back_up, name_of, remove_leftovers
from laconic.backups.manifest import NAME
from laconic.backups.notes import change_notes, read_notes
from laconic.backups.pack import is_packed, pack
from laconic.clock import from_datetime
from laconic.errors import LaconicError, Unavailable
from laconic.storage.database import Database
from laconic.storage.engines import check_integrity
from laconic.upkeep.lease import Lease

log = structlog.get_logger(__name__)

JOB = "backups"
_LOOK_SECONDS = 60.0
_HOLD_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class BackupPlan:
    """`folder` None: no backups. Durations in microseconds; `check_interval` 0: no checks."""

    folder: Path | None
    interval: int
    pack_after: int
    keep: int
    check_interval: int


class Backups:
    def __init__(
        self,
        database: Database,
        source: Origin,
        plan: BackupPlan,
        data_folder: Path,
        *,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._source = source
        self._plan = plan
        self._data_folder = data_folder
        self._lease = Lease(database, JOB)
        self._now = now
        self._failed_at = 0

    async def keep(self) -> None:
        """Until cancelled."""
        while self._plan.folder or self._plan.check_interval:
            with contextlib.suppress(Unavailable):
                await self.run_when_due()
            await asyncio.sleep(_LOOK_SECONDS)

    async def run_when_due(self) -> None:
        is_backup_due, is_check_due = self._is_backup_due(), self._is_check_due()
        if not (is_backup_due or is_check_due) or not await self._lease.hold():
            return
        async with self._held():
            if is_backup_due:
                await self._back_up()
            if is_check_due:
                await self._check()

    def _is_backup_due(self) -> bool:
        if self._plan.folder is None:
            return False
        newest = max((moment for moment, _ in backups_in(self._plan.folder)), default=0)
        # One that failed is tried again, but not every minute.
        since = max(newest, self._failed_at - self._plan.interval * 23 // 24)
        return self._now() - since >= self._plan.interval

    def _is_check_due(self) -> bool:
        every = self._plan.check_interval
        return every > 0 and self._now() - read_notes(self._data_folder).checked_at >= every

    async def _back_up(self) -> None:
        folder, moment = self._plan.folder, self._now()
        assert folder is not None  # noqa: S101
        place = folder / name_of(moment)
        try:
            manifest = await back_up(self._source, place)
            await asyncio.to_thread(self._put_in_order, folder)
        except (LaconicError, OSError) as error:
            self._failed_at = moment
            change_notes(self._data_folder, backup_error=str(error))
            log.error("the backup failed", error=str(error), folder=str(folder))
            return
        change_notes(self._data_folder, backed_up_at=moment, backup=str(place), backup_error="")
        log.info("a backup was made", backup=str(place), links=manifest.counts["links"], bytes=manifest.bytes)

    def _put_in_order(self, folder: Path) -> None:
        remove_leftovers(folder)
        *older, _ = sorted(backups_in(folder))
        for moment, path in older:
            age = self._now() - moment
            if age >= self._plan.keep:
                shutil.rmtree(path)
            elif age >= self._plan.pack_after and not is_packed(path):
                pack(path)

    async def _check(self) -> None:
        try:
            problems = await check_integrity(self._source.url)
        except Unavailable as error:
            log.warning("the integrity check could not be made", error=str(error))
            return
        change_notes(self._data_folder, checked_at=self._now(), problems=problems)
        if problems:
            log.error("the database is damaged: restore a backup", problems=problems)
        else:
            log.debug("the integrity check found nothing wrong")

    @contextlib.asynccontextmanager
    async def _held(self) -> AsyncIterator[None]:
        """The lease is held for as long as the work takes. Two backups at a time would do no harm."""

        async def hold() -> None:
            while True:
                await asyncio.sleep(_HOLD_SECONDS)
                with contextlib.suppress(Unavailable):
                    await self._lease.hold()

        holding = asyncio.create_task(hold())
        try:
            yield
        finally:
            holding.cancel()
            await asyncio.gather(holding, return_exceptions=True)
            await self._lease.release()


def backups_in(folder: Path) -> list[tuple[int, Path]]:
    """When each was made, by its name, and where it is. What else lies there is not ours."""
    found = []
    for path in folder.glob("laconic-*Z"):
        with contextlib.suppress(ValueError):
            made = datetime.strptime(path.name, "laconic-%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            if (path / NAME).exists():
                found.append((from_datetime(made), path))
    return found
