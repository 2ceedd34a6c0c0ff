"""The processes that answer nobody: ingest (one per machine) and upkeep (one per deployment)."""

import asyncio
import contextlib
from pathlib import Path

import structlog

from laconic.clicks.board import Board
from laconic.clicks.enrich import Enricher
from laconic.clicks.ingest import Ingest
from laconic.clicks.store import ClickStore
from laconic.errors import Unavailable
from laconic.serve.children import Lifeline
from laconic.settings import Settings
from laconic.storage.engines import open_database
from laconic.upkeep.months import Months
from laconic.upkeep.sweeps import Sweeps

log = structlog.get_logger(__name__)


async def run_ingest(settings: Settings, board: Board, lifeline: Lifeline) -> None:
    """Journals into the database, until told to stop and all that was written is applied."""
    # Told to stop or not, what was journaled before is still to be applied.
    lifeline.watch(may_be_cancelled=False)
    database = await open_database(settings.effective_database_url, writes="clicks")
    try:
        lifeline.ready()
        # Loading its tables takes longer than all the rest of a start; clicks wait in the journal meanwhile.
        enricher = Enricher.from_settings(settings.privacy, settings.geoip_file)
        ingest = Ingest(settings.journal_folder, ClickStore(database), enricher)
        await ingest.run(lifeline.stopping, board)
    finally:
        await database.close()


async def run_upkeep(settings: Settings, lifeline: Lifeline) -> None:
    """Once a second the engine's housekeeping; once a minute what has served its time is removed; old months of
    clicks beside that, for to archive one takes minutes."""
    lifeline.watch()
    database = await open_database(settings.effective_database_url)
    sweeps = Sweeps(database)
    archive = Path(settings.click_archive_dir) if settings.click_archive_dir else None
    keeping = asyncio.create_task(Months(database, settings.click_retention, archive).keep())
    try:
        lifeline.ready()
        while not lifeline.stopping.is_set():
            try:
                await database.tidy()
                await sweeps.run_when_due()
            except Unavailable as error:
                log.warning("upkeep could not reach the database", error=str(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(lifeline.stopping.wait(), 1)
            if keeping.done():
                keeping.result()
    finally:
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        await database.close()
