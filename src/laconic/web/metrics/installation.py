"""What the database knows of the whole installation. Read when somebody asks, and never so that they wait for long.

Every machine says the same. Whichever worker is asked writes it on the page that all share, so that two workers never
tell different stories.
"""

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import Final

from laconic.clock import SECOND, monotonic
from laconic.errors import LaconicError
from laconic.web.metrics import catalog
from laconic.web.metrics.board import Page
from laconic.wiring import Services

_FRESH_SECONDS: Final = 10.0
# Whoever asks waits no longer than this; what comes later is shown the next time.
_PATIENCE_SECONDS: Final = 2.0
# Counting reads every link. It may cost a hundredth of a processor, however many there are.
_COUNT_EVERY_SECONDS: Final = 60.0
_COUNT_SHARE: Final = 100


class Installation:
    """Belongs to one loop."""

    def __init__(self, page: Page, services: Services) -> None:
        self._page = page
        self._services = services
        self._reading: asyncio.Task[None] | None = None
        self._read_at = -math.inf
        self._count_at = -math.inf

    async def refresh(self) -> None:
        """Never raises: what the database does not tell is not shown."""
        if self._reading is None and monotonic() - self._read_at >= _FRESH_SECONDS:
            self._reading = asyncio.create_task(self._read())
        if self._reading is not None:
            await asyncio.wait([self._reading], timeout=_PATIENCE_SECONDS)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            for read in (self._read_pool, self._read_sizes, self._read_cleanup, self._read_counts):
                await self._or_wipe(read)
            self._read_at = monotonic()
        finally:
            self._reading = None

    async def _or_wipe(self, read: Callable[[], Awaitable[None]]) -> None:
        try:
            await read()
        except LaconicError:
            # A number from before the outage would be believed.
            self._page.wipe_gauges()

    async def _read_pool(self) -> None:
        pool, page = self._services.pool, self._page
        await pool.look()
        left = pool.minutes_left()
        page.gauge(catalog.POOL_SIZE, pool.ready)
        page.gauge(catalog.POOL_MIN_SIZE, pool.minimum)
        page.gauge(catalog.EXHAUSTION, math.inf if left is None else left)
        page.raise_to(catalog.GENERATED, pool.made)

    async def _read_sizes(self) -> None:
        for part, size in (await self._services.database.sizes()).items():
            self._page.gauge(catalog.DATABASE_BYTES, size, part)

    async def _read_cleanup(self) -> None:
        stats, page = await self._services.reaper.stats(), self._page
        page.raise_to(catalog.CLEANUP_RUNS, stats.successful_runs, "ok")
        page.raise_to(catalog.CLEANUP_RUNS, stats.failed_runs, "failed")
        page.raise_to(catalog.CLEANED, stats.total_cleaned)
        page.gauge(catalog.CLEANUP_BATCH, stats.last_batch_size)
        page.gauge(catalog.CLEANUP_AVERAGE, stats.average_cleanup_ms / 1000)
        page.gauge(catalog.CLEANUP_RUNNING, stats.is_running)
        if stats.last_cleanup_time is not None:
            page.gauge(catalog.CLEANUP_TIME, stats.last_cleanup_time / SECOND)

    async def _read_counts(self) -> None:
        begun = monotonic()
        if begun < self._count_at:
            return
        counts = (await self._services.statistics.numbers()).counts
        took = monotonic() - begun
        self._count_at = monotonic() + max(_COUNT_EVERY_SECONDS, _COUNT_SHARE * took)
        page = self._page
        page.gauge(catalog.LINKS, counts["links"], "all")
        page.gauge(catalog.LINKS, counts["links_live"], "live")
        page.gauge(catalog.LINKS_CREATED, counts["links_created_24h"])
        page.raise_to(catalog.CLICKS, counts["clicks"], "all")
        page.raise_to(catalog.CLICKS, counts["bot_clicks"], "bot")
