"""The processes that answer nobody: ingest (one per machine) and upkeep (one per deployment)."""

import asyncio
import contextlib

import structlog

from laconic.clicks.ingest import Ingest
from laconic.clicks.store import ClickStore
from laconic.errors import Unavailable
from laconic.serve.children import Lifeline
from laconic.settings import Settings
from laconic.storage.database import Database
from laconic.storage.engines import open_database, open_shared_store
from laconic.upkeep.lease import Lease
from laconic.upkeep.sweeps import Sweeps
from laconic.wiring import open_code_works, open_filler

log = structlog.get_logger(__name__)


async def run_ingest(settings: Settings, lifeline: Lifeline) -> None:
    """Journals into the database, until told to stop and all that was written is applied."""
    # Told to stop or not, what was journaled before is still to be applied.
    lifeline.watch(may_be_cancelled=False)
    database = await open_database(settings.effective_database_url, writes="clicks")
    try:
        lifeline.ready()
        await Ingest(settings.journal_folder, ClickStore(database)).run(lifeline.stopping)
    finally:
        await database.close()


async def run_upkeep(settings: Settings, lifeline: Lifeline) -> None:
    """Once a second the engine's housekeeping; once a minute what has served its time is removed; codes are kept
    ready all the time."""
    lifeline.watch()
    database = await open_database(settings.effective_database_url)
    sweeps = Sweeps(database)
    try:
        lifeline.ready()
        filling = asyncio.create_task(_fill_pool(settings, database, lifeline.stopping))
        while not lifeline.stopping.is_set():
            try:
                await database.tidy()
                await sweeps.run_when_due()
                if filling.done():
                    filling.result()  # if it has failed for good, so does this process, to be started anew
            except Unavailable as error:
                log.warning("upkeep could not reach the database", error=str(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(lifeline.stopping.wait(), 1)
        await filling
    finally:
        await database.close()


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
