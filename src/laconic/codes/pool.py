"""The filler: keeps codes ready before they are needed, a bounded step at a time.

One process of the deployment does it, under a lease whose fence stands in each of its transactions: a filler that was
stopped, and wakes when another has long taken over, adds nothing.
"""

import asyncio
import contextlib
import logging
from typing import Protocol

from laconic import clock
from laconic.clock import DAY, HOUR
from laconic.codes.cursor import Cursor
from laconic.codes.maker import MANY, CodeMaker
from laconic.codes.shared_pool import SharedPool
from laconic.codes.store import CodeStore
from laconic.errors import LeaseLost, SharedAway, Unavailable
from laconic.storage.database import Statements

# The plain logger: commands load this room too, and structlog would double their start.
log = logging.getLogger(__name__)

# The pool is looked at this often, which costs one row; below the low-water mark it is filled at once, and topped up
# every second otherwise.
_LOOK_SECONDS = 0.25
_TOP_UP_SECONDS = 1.0
_SWEEP_SECONDS = 10.0
_IDLE_SECONDS = 2.0
# Rows of one transaction. Without row locks creates wait for the whole of it: with 1,000 rows their p99 is a quarter
# more (measured).
_PUT_AT_A_TIME = 2_000
_PUT_BESIDE_CREATES = 250
_OFFER_AT_A_TIME = 1_000
_SWEEP_ROWS = 5_000
# Fewer than this share of the pool are not worth a trip to Redis.
_OFFER_SHARE = 50
# Of a page of the pool about half is offered already.
_PAGES_MORE = 8
_UNWANTED_SHARE = 12
_UNWANTED_MORE = 16

LOW_SHARE = 0.5
CRITICAL_SHARE = 0.1
# A worker's block is used up in less, or the worker is dead; either way its codes are given to nobody else.
KEEP_BLOCKS = HOUR
# Codes that a program has asked for and not used for so long are burnt.
KEEP_KEYS = 30 * DAY


class JobLease(Protocol):
    """What the filler needs of a lease; see `upkeep.lease`."""

    async def hold(self) -> bool: ...

    async def fence(self, statements: Statements) -> None: ...


class PoolFiller:
    """Belongs to one loop. `made` and `dropped` count codes since the start."""

    def __init__(
        self,
        store: CodeStore,
        cursor: Cursor,
        maker: CodeMaker,
        lease: JobLease,
        shared: SharedPool | None = None,
        *,
        min_size: int,
        batch_size: int,
    ) -> None:
        self._store = store
        self._cursor = cursor
        self._maker = maker
        self._lease = lease
        self._shared = shared
        self._min_size = min_size
        self._batch_size = batch_size
        self._checked_lease = False
        self._top_up_at = 0.0
        self._sweep_at = 0.0
        self.made = 0
        self.dropped = 0

    async def run(self, stopping: asyncio.Event) -> None:
        """Until told to stop. What fails is tried again: codes are made on the fly meanwhile."""
        while not stopping.is_set():
            try:
                pause = await self.step()
            except LeaseLost:
                log.warning("another process fills the pool of codes by now")
                pause = _IDLE_SECONDS
            except Unavailable as error:
                log.warning("the pool of codes could not be filled: %s", error)
                pause = _IDLE_SECONDS
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), pause)

    async def run_to_rest(self) -> None:
        """Until there is nothing to do, or another does it."""
        while not await self.step():
            pass

    async def step(self) -> float:
        """At most one batch of work; gives the seconds to wait before the next."""
        if not await self._lease.hold():
            self._checked_lease = False
            return _IDLE_SECONDS
        state = await self._store.state(self._maker.region, self._maker.length)
        if not self._checked_lease or not state.has_own_pool:
            self._checked_lease = await self._renew()
            return 0.0
        await self._sweep()
        # Should Redis go away, the table is filled all the same.
        with contextlib.suppress(SharedAway):
            await self._offer(state.unused)
        wanted = self._wanted(state.unused)
        if wanted:
            is_low = state.unused < LOW_SHARE * self._min_size
            await self.fill(min(wanted, self._batch_size), gently=not is_low)
            return 0.0
        return _LOOK_SECONDS

    def _wanted(self, ready: int) -> int:
        """How many counters to make codes of now."""
        missing = self._min_size - ready
        moment = clock.monotonic()
        if missing <= 0 or (ready >= LOW_SHARE * self._min_size and moment < self._top_up_at):
            return 0
        # About one in twenty becomes a code that nobody wants, now and then some more.
        wanted = missing + missing // _UNWANTED_SHARE + _UNWANTED_MORE
        if wanted <= self._batch_size:
            self._top_up_at = moment + _TOP_UP_SECONDS
        return wanted

    async def _offer(self, unused: int) -> None:
        """Half of the pool is offered in Redis, when there is one; its rows stay, unused, until somebody claims them."""
        size = await self._shared.size() if self._shared else None
        if self._shared is None or size is None:
            return
        missing = min(min(self._min_size // 2, unused) - size, self._batch_size)
        if missing < self._min_size // _OFFER_SHARE:
            return
        for _ in range(_PAGES_MORE + 2 * missing // _OFFER_AT_A_TIME):
            page = await self._store.unused_page(
                self._maker.region, self._maker.random_place(), min(missing, _OFFER_AT_A_TIME)
            )
            missing -= await self._shared.add(page) if page else 0
            if missing <= 0:
                break

    async def fill(self, count: int, *, gently: bool = False) -> int:
        """Makes about `count` codes ready: those that nobody wants are left out. Gives how many.

        `gently` leaves the database to others for half of the time: on SQLite creates wait for each transaction.
        """
        jumps = self._cursor.jumps
        counters = await self._cursor.lease(count)
        if self._cursor.jumps > jumps:
            return 0  # the pool has to be discarded first
        ready: list[str] = []
        for start in range(0, len(counters), MANY):
            ready += self._maker.make(counters[start : start + MANY])
            await asyncio.sleep(0)
        # In order, so that each transaction writes to a few neighbouring pages and not to one for each code.
        ready.sort()
        at_a_time = _PUT_AT_A_TIME if self._store.has_row_locks else _PUT_BESIDE_CREATES
        for start in range(0, len(ready), at_a_time):
            began = clock.monotonic()
            await self._put(ready[start : start + at_a_time])
            if gently:
                await asyncio.sleep(clock.monotonic() - began)
        return len(ready)

    async def _put(self, codes: list[str]) -> None:
        await self._store.put(self._maker.region, self._maker.length, codes, self._lease.fence)
        self.made += len(codes)

    async def _renew(self) -> bool:
        """A new holder counts the pool anew, and throws it away if it is from before a failover or a restore."""
        return await self._store.renew_pool(
            self._maker.region, self._maker.length, _SWEEP_ROWS, self._lease.fence
        )

    async def _sweep(self) -> None:
        if clock.monotonic() < self._sweep_at:
            return
        moment = clock.now()
        dropped = await self._store.drop_finished(
            _SWEEP_ROWS, blocks_before=moment - KEEP_BLOCKS, keys_before=moment - KEEP_KEYS
        )
        self.dropped += dropped
        if dropped < _SWEEP_ROWS:
            self._sweep_at = clock.monotonic() + _SWEEP_SECONDS
