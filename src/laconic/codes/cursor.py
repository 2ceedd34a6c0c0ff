"""The range cursor: counters and codes for this caller alone, whatever became of the database meanwhile.

Whatever is taken moves the cursor, and how far it has come is written down outside the database before anybody uses
it. So a database that was put back is known by its cursor.
"""

import asyncio
import logging
from collections.abc import Sequence

from laconic.codes.high_water import HighWater
from laconic.codes.maker import CodeMaker
from laconic.codes.store import CodeStore, Taken
from laconic.errors import Unavailable

# The plain logger: commands load this room too, and structlog would double their start.
log = logging.getLogger(__name__)


class Cursor:
    def __init__(self, store: CodeStore, maker: CodeMaker, high_water: HighWater | None = None) -> None:
        self._store = store
        self._maker = maker
        self._high_water = high_water or HighWater(None)
        self.jumps = 0

    @property
    def has_row_locks(self) -> bool:
        return self._store.has_row_locks

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
        await self._remember(leased.counters.stop)
        return leased.counters

    async def reserve(self, count: int, holder: str, *, finished: Sequence[str] = ()) -> list[str]:
        """Codes out of the pool; see `CodeStore.reserve`."""
        taken = await self._store.reserve(
            self._maker.region,
            self._maker.length,
            count,
            holder,
            pivot=self._maker.random_place(),
            floor=self.floor(),
            finished=finished,
        )
        return await self._remembered(taken)

    async def claim(self, codes: Sequence[str]) -> list[str]:
        """Those of them that the pool has; see `CodeStore.claim`."""
        taken = await self._store.claim(self._maker.region, self._maker.length, codes, floor=self.floor())
        return await self._remembered(taken)

    async def _remembered(self, taken: Taken) -> list[str]:
        if taken.codes:
            await self._remember(taken.next)
        return taken.codes

    async def _remember(self, mark: int) -> None:
        try:
            await asyncio.to_thread(self._high_water.raise_to, mark)
        except OSError as error:
            # A full disk must not stop creates; what is lost is a witness.
            log.warning("the high-water mark of the codes cannot be written: %s", error)
