"""The range cursor: counters for this caller alone, whatever became of the database meanwhile."""

import asyncio
import logging

from laconic.codes.high_water import HighWater
from laconic.codes.maker import CodeMaker
from laconic.codes.store import CodeStore
from laconic.errors import Unavailable

# The plain logger: commands load this room too, and structlog would double their start.
log = logging.getLogger(__name__)


class Cursor:
    def __init__(self, store: CodeStore, maker: CodeMaker, high_water: HighWater | None = None) -> None:
        self._store = store
        self._maker = maker
        self._high_water = high_water or HighWater(None)
        self.jumps = 0

    def floor(self) -> int:
        """A cursor below this has gone back. To be read before the database is asked: every mark was committed there
        first."""
        return self._high_water.read()

    async def check(self) -> None:
        """Notices a failover or a restore before anything is given out."""
        await self.lease(0)

    async def lease(self, count: int) -> range:
        """The next `count` counters. They are nobody else's, not even after a failover or a restore."""
        leased = await self._store.lease(self._maker.region, self._maker.length, count, self.floor())
        if leased.has_jumped:
            self.jumps += 1
            log.warning(
                "the database of region %s has been restored or has failed over: codes go on at counter %d",
                self._maker.region,
                leased.counters.start,
            )
        if leased.counters.stop > self._maker.size:
            raise Unavailable(
                f"All codes of {self._maker.length} characters have been given out; raise LACONIC_CODE_LENGTH."
            )
        try:
            await asyncio.to_thread(self._high_water.raise_to, leased.counters.stop)
        except OSError as error:
            # A full disk must not stop creates; what is lost is a witness.
            log.warning("the high-water mark of the codes cannot be written: %s", error)
        return leased.counters
