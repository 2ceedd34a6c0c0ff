"""Numbers of the whole installation. Some have to be counted, so an answer is kept for a minute."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from laconic import clock
from laconic.clock import DAY
from laconic.oversight.store import OversightStore
from laconic.storage.database import Database

_KEEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Numbers:
    counts: dict[str, int]
    # Names of those among them that are about right, not exact.
    estimates: list[str]
    bytes: dict[str, int]
    counted_at: int


class Statistics:
    def __init__(self, database: Database, *, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._database = database
        self._store = OversightStore(database)
        self._monotonic = monotonic
        self._kept: Numbers | None = None
        self._until = 0.0
        self._counting = asyncio.Lock()

    async def numbers(self) -> Numbers:
        """Whoever asks while somebody counts gets the same answer."""
        async with self._counting:
            if self._kept is None or self._monotonic() >= self._until:
                moment = clock.now()
                counts, estimates = await self._store.count_everything(moment - DAY)
                self._kept = Numbers(counts, estimates, await self._database.sizes(), moment)
                self._until = self._monotonic() + _KEEP_SECONDS
            return self._kept
