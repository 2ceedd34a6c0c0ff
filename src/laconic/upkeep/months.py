"""Months of raw clicks: room is made ahead of need; what is older than the retention is archived and dropped.

Rollups and totals stay: reports say the same before and after. One process of the deployment does it at a time, by a
lease.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path

import structlog

from laconic import clock
from laconic.clicks.events.archive import Archive
from laconic.clicks.events.store import EventStore
from laconic.errors import Unavailable
from laconic.storage.database import Database
from laconic.storage.months import begin_of, month_name, month_of
from laconic.upkeep.lease import Lease
from laconic.upkeep.retention import Retention

log = structlog.get_logger(__name__)

JOB = "click_months"
_EVERY_SECONDS = 3_600.0
# While another process has the job, or has died with it.
_ASK_AGAIN_SECONDS = 60.0
_MONTHS_AHEAD = 2


class Months:
    def __init__(
        self,
        database: Database,
        retention: int,
        archive_folder: Path | None,
        *,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._retention = retention
        self._lease = Lease(database, JOB)
        self._archive = (
            Archive(EventStore(database), archive_folder, before_page=self._hold) if archive_folder else None
        )
        self._own_retention = Retention(database, retention, before_step=self._hold, now=now)
        self._now = now

    async def keep(self) -> None:
        """At once and every hour, until cancelled."""
        while True:
            is_done = await self.run() is not None
            await asyncio.sleep(_EVERY_SECONDS if is_done else _ASK_AGAIN_SECONDS)

    async def run(self) -> list[int] | None:
        """Which months were dropped; None when another process is at it. What fails is said in the log, once, and
        tried again the next time."""
        dropped: list[int] = []
        try:
            if not await self._lease.hold():
                return None
            await self._database.prepare_months(month_of(self._now()), 1 + _MONTHS_AHEAD)
            for month in await self._old_months():
                await self._drop(month)
                dropped.append(month)
            erased = await self._own_retention.run()
            if erased:
                log.info(
                    "raw clicks of workspaces that keep them for a shorter time were removed", clicks=erased
                )
        except (OSError, Unavailable) as error:
            log.warning("months of raw clicks could not be put in order; nothing is lost", error=str(error))
        finally:
            await self._lease.release()
        return dropped

    async def _hold(self) -> None:
        if not await self._lease.hold():
            raise Unavailable("Another process has taken the job over.")

    async def _old_months(self) -> list[int]:
        """Those of which even the last click is older than the retention."""
        kept_since = self._now() - self._retention
        return [month for month in await self._database.event_months() if begin_of(month + 1) <= kept_since]

    async def _drop(self, month: int) -> None:
        """Only what is safe in the archive is dropped, where there is one."""
        file = await self._archive.write(month) if self._archive else None
        await self._hold()
        await self._database.drop_events(month)
        log.info("raw clicks were dropped", month=month_name(month), archive=str(file) if file else None)
