"""The processes that answer nobody: ingest (one per machine) and upkeep (one per deployment)."""

import asyncio
import contextlib
import gc
from pathlib import Path

import structlog

from laconic.clicks.board import Board
from laconic.clicks.enrich import Enricher
from laconic.clicks.store import ClickStore
from laconic.errors import Unavailable
from laconic.serve.children import Lifeline
from laconic.serve.telling import tell_always, telling_of
from laconic.settings import Settings
from laconic.storage.database import Database
from laconic.storage.engines import open_database, open_shared_store
from laconic.upkeep.lease import Lease
from laconic.upkeep.months import Months
from laconic.upkeep.proofs import Proofs
from laconic.web.metrics.board import Page
from laconic.wiring import (
    open_backups,
    open_code_works,
    open_domains,
    open_filler,
    open_reaper,
    open_sweeps,
)

log = structlog.get_logger(__name__)

# A batch is hundreds of thousands of objects with no cycle among them: looking for cycles after every 700 new ones
# took a fifth of ingest's time (measured).
_COLLECT_AFTER = (1_000_000, 20, 50)


async def run_ingest(settings: Settings, board: Board, page: Page, lifeline: Lifeline) -> None:
    """Journals into the database, until told to stop and all that was written is applied."""
    # Told to stop or not, what was journaled before is still to be applied.
    lifeline.watch(ends_last=True)
    gc.set_threshold(*_COLLECT_AFTER)
    # Here, because the supervisor loads this room before it forks, and no other process has a use for numpy's 13 MiB.
    from laconic.clicks.ingest import Ingest

    database = await open_database(settings.owner_database_url, writes="clicks")
    telling = asyncio.create_task(tell_always(telling_of(page, database)))
    try:
        lifeline.ready()
        # Loading its tables takes longer than all the rest of a start; clicks wait in the journal meanwhile.
        enricher = Enricher.from_settings(settings.privacy, settings.geoip_file)
        ingest = Ingest(settings.journal_folder, ClickStore(database), enricher)
        await ingest.run(lifeline.stopping, board)
    finally:
        telling.cancel()
        await database.close()


async def run_upkeep(settings: Settings, page: Page, lifeline: Lifeline) -> None:
    """Once a second the engine's housekeeping; once a minute what has served its time is removed. What may take minutes
    goes on beside it: the reaper, old months of clicks, codes that are kept ready."""
    lifeline.watch()
    database = await open_database(settings.owner_database_url)
    sweeps = open_sweeps(settings, database)
    archive = Path(settings.click_archive_dir) if settings.click_archive_dir else None
    beside = [
        asyncio.create_task(_reap(settings, database)),
        asyncio.create_task(Months(database, settings.click_retention, archive).keep()),
        asyncio.create_task(tell_always(telling_of(page, database))),
        asyncio.create_task(open_backups(settings, database).keep()),
        asyncio.create_task(_look_for_proofs(settings, database)),
    ]
    filling = asyncio.create_task(_fill_pool(settings, database, lifeline.stopping))
    try:
        lifeline.ready()
        while not lifeline.stopping.is_set():
            try:
                await database.tidy()
                await sweeps.run_when_due()
                for task in (*beside, filling):
                    if task.done():
                        # One that is switched off ends by itself; a mistake in one must not pass unseen.
                        task.result()
            except Unavailable as error:
                log.warning("upkeep could not reach the database", error=str(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(lifeline.stopping.wait(), 1)
        await filling
    finally:
        for task in (*beside, filling):
            task.cancel()
        await asyncio.gather(*beside, filling, return_exceptions=True)
        await database.close()


async def _reap(settings: Settings, database: Database) -> None:
    reaper = open_reaper(settings, database)
    while settings.cleanup_enabled:
        await reaper.run_when_due()
        await asyncio.sleep(1)


async def _look_for_proofs(settings: Settings, database: Database) -> None:
    await Proofs(database, open_domains(settings, database)).keep()


async def _fill_pool(settings: Settings, database: Database, stopping: asyncio.Event) -> None:
    """One process of the deployment does it."""
    works = None
    while works is None and settings.kgs_pool_min_size and not stopping.is_set():
        try:
            works = await open_code_works(settings, database)
            await works.cursor.check()
        except Unavailable:
            await asyncio.sleep(1)
    if works is None:
        return
    shared = open_shared_store(settings.redis_url)
    lease = Lease(database, works.maker.job)
    filler = open_filler(settings, works, lease, shared)
    try:
        await filler.run(stopping)
    finally:
        await lease.release()
        if shared is not None:
            await shared.close()
