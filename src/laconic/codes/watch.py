"""How full the pools are, how fast they are emptied, and whether that is a reason to slow creates down.

What stands behind the metrics, each with the label region: kgs_pool_size is `ready`, kgs_pool_min_size `minimum`,
kgs_pool_exhaustion_risk `minutes_left()`, kgs_generation_rate_total `made`. They are of the whole deployment, read from
the database, so every worker says the same. kgs_allocation_rate_total is each worker's own: `CodeAllocator.taken`.
"""

import asyncio
import contextlib
from collections import deque
from dataclasses import dataclass
from typing import Any

from laconic import clock
from laconic.codes.allocator import CodeAllocator
from laconic.codes.maker import CodeMaker
from laconic.codes.pool import CRITICAL_SHARE, LOW_SHARE
from laconic.codes.shared_pool import SharedPool
from laconic.codes.store import CodeStore, RangeState
from laconic.errors import Unavailable
from laconic.storage.shared import SharedStore

_LOOK_SECONDS = 5.0
# Rates are taken over a minute: long enough for blocks and batches to even out.
_SAMPLES = 13


@dataclass(frozen=True, slots=True)
class RegionPool:
    """The codes that one region has ready. `offered` are those in Redis, None when there is none or it does not answer."""

    state: RangeState
    offered: int | None

    @property
    def ready(self) -> int:
        return self.state.unused

    def document(self) -> dict[str, Any]:
        """By tier, each code once: what Redis offers are rows of the table as well."""
        shared = None if self.offered is None else min(self.offered, self.ready)
        return {
            "region": self.state.region,
            "code_length": self.state.code_length,
            "prefix": self.state.prefix,
            "durable": self.ready - (shared or 0),
            "shared": shared,
            "counter": self.state.next,
            "skipped": self.state.skipped,
        }


@dataclass(frozen=True, slots=True)
class _Sample:
    at: float
    pooled: int
    ready: int
    made: int


class PoolWatch:
    """Belongs to one loop. What it says is as old as the last look."""

    def __init__(
        self,
        store: CodeStore,
        maker: CodeMaker,
        codes: CodeAllocator,
        shared: SharedStore | None,
        *,
        min_size: int,
    ) -> None:
        self._store = store
        self._region = maker.region
        self._code_length = maker.length
        self._codes = codes
        self._shared = shared
        self._samples: deque[_Sample] = deque(maxlen=_SAMPLES)
        self._own: RegionPool | None = None
        self.minimum = min_size
        self.low = int(min_size * LOW_SHARE)
        self.critical = int(min_size * CRITICAL_SHARE)

    async def run(self) -> None:
        """Looks every few seconds, for ever."""
        while True:
            with contextlib.suppress(Unavailable):
                await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> list[RegionPool]:
        """Every region of this database. Raises Unavailable."""
        pools = [
            RegionPool(state, await SharedPool(self._shared, state.region).size() if self._shared else None)
            for state in await self._store.states()
        ]
        for pool in pools:
            if (pool.state.region, pool.state.code_length) == (self._region, self._code_length):
                self._own = pool
                self._remember(pool)
        return pools

    def _remember(self, pool: RegionPool) -> None:
        state = pool.state
        sample = _Sample(clock.monotonic(), state.pooled, pool.ready, state.next - state.skipped)
        if len(self._samples) > 1 and sample.at - self._samples[-2].at < _LOOK_SECONDS:
            self._samples.pop()  # whoever asks often must not shorten the minute
        self._samples.append(sample)

    @property
    def ready(self) -> int:
        """Codes that this region has ready, for any worker."""
        return self._own.ready if self._own else 0

    @property
    def made(self) -> int:
        """Counters ever made into codes, since the first start."""
        return self._own.state.next - self._own.state.skipped if self._own else 0

    @property
    def is_critical(self) -> bool:
        """Are there so few that creates should be slowed down? Not while it is filled for the first time."""
        own = self._own
        return (
            own is not None
            and self.minimum > 0
            and own.state.pooled >= self.low
            and own.ready < self.critical
        )

    @property
    def level(self) -> str:
        if self.minimum == 0:
            return "off"
        if self.ready < self.critical:
            return "critical"
        return "low" if self.ready < self.low else "ok"

    def rates(self) -> tuple[float, float]:
        """Codes a second that left the pool, and counters a second that were made into codes."""
        if len(self._samples) < 2:
            return 0.0, 0.0
        first, last = self._samples[0], self._samples[-1]
        seconds = max(last.at - first.at, 1e-9)
        left = (last.pooled - first.pooled) - (last.ready - first.ready)
        return max(0.0, left / seconds), max(0.0, (last.made - first.made) / seconds)

    def minutes_left(self) -> float | None:
        """Until the pool is empty if nobody filled it; None while nobody takes from it."""
        allocated, _ = self.rates()
        return self.ready / allocated / 60 if allocated > 0 else None

    async def report(self) -> dict[str, Any]:
        """All of it, fit for JSON."""
        pools = await self.look()
        allocated, generated = self.rates()
        left = self.minutes_left()
        return {
            "region": self._region,
            "status": self.level,
            "pool_size": self.ready,
            "in_this_process": len(self._codes),
            "thresholds": {"minimum": self.minimum, "low": self.low, "critical": self.critical},
            "rates": {
                "allocated_per_second": round(allocated, 2),
                "generated_per_second": round(generated, 2),
            },
            "minutes_to_exhaustion": None if left is None else round(left, 2),
            "regions": [pool.document() for pool in pools],
        }
