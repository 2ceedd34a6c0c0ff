"""Where a worker's blocks come from: the shared pool, the durable one, or the cursor, whichever answers first.

Each step down is counted and logged once; every block begins at the top again, so going back up is automatic.
"""

import contextlib
import logging
import os
import random
import secrets
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from laconic.codes.cursor import Cursor
from laconic.codes.maker import CodeMaker
from laconic.codes.shared_pool import SharedPool
from laconic.errors import SharedAway, Unavailable

# The plain logger: commands load this room too, and structlog would double their start.
log = logging.getLogger(__name__)

Lease = Callable[[int], Awaitable[range]]

# Workers must not empty a small pool between them.
_LARGEST_SHARE = 20
_LEAST_POOLED_BLOCK = 50
# Without row locks creates wait while a piece of a block is reserved.
_RESERVED_AT_A_TIME = 1_000
_RESERVED_BESIDE_CREATES = 250
# When fewer than this share of a block can be claimed, what stands in Redis is not worth asking for.
_CLAIMED_SHARE = 0.5


def largest_pooled_block(pool_min_size: int) -> int:
    return max(_LEAST_POOLED_BLOCK, pool_min_size // _LARGEST_SHARE)


class Block(Protocol):
    """Codes that are this process's alone."""

    def __len__(self) -> int: ...

    def cut(self, count: int) -> list[str]:
        """About `count` of them, which leave the block; at least one step nearer to its end."""
        ...


class Source(Protocol):
    async def fetch(self, count: int) -> Block:
        """About `count` codes; an empty block when there are none here. Raises Unavailable."""
        ...


class WorkerSource(Source, Protocol):
    """What an allocator lives on. `taken` counts codes by where they came from."""

    taken: Counter[str]


class ReadyBlock:
    """Codes that were made before."""

    def __init__(self, codes: list[str]) -> None:
        self._codes = codes

    def __len__(self) -> int:
        return len(self._codes)

    def cut(self, count: int) -> list[str]:
        some = self._codes[-count:]
        del self._codes[-count:]
        return some


class CounterBlock:
    """Codes that are made when they are cut off."""

    def __init__(self, maker: CodeMaker, counters: range) -> None:
        self._maker = maker
        self._counters = counters

    def __len__(self) -> int:
        return len(self._counters)

    def cut(self, count: int) -> list[str]:
        some, self._counters = self._counters[:count], self._counters[count:]
        return self._maker.make(some)


class CursorSource:
    """Made on the fly from leased counters: needs nothing but the cursor's row."""

    def __init__(self, lease: Lease, maker: CodeMaker) -> None:
        self._lease = lease
        self._maker = maker
        self.taken: Counter[str] = Counter()

    async def fetch(self, count: int) -> Block:
        counters = await self._lease(count)
        self.taken["cursor"] += len(counters)
        return CounterBlock(self._maker, counters)


class SharedSource:
    """Out of Redis, a block in one step, and then out of the table: only what could be claimed there counts.

    `cleared` says how often Redis held so much that is gone that its set was thrown away.
    """

    def __init__(self, pool: SharedPool, cursor: Cursor, *, pool_min_size: int) -> None:
        self._pool = pool
        self._cursor = cursor
        self._most = largest_pooled_block(pool_min_size)
        self._is_stale = False
        self.cleared = 0

    async def fetch(self, count: int) -> Block:
        proposed = await self._pool.pop(min(count, self._most))
        if not proposed:
            return ReadyBlock([])
        codes = await self._cursor.claim(proposed)
        was_stale, self._is_stale = self._is_stale, len(codes) < _CLAIMED_SHARE * len(proposed)
        if self._is_stale:
            await self._clear(len(proposed) - len(codes), is_news=not was_stale)
        random.shuffle(codes)
        return ReadyBlock(codes)

    async def _clear(self, gone: int, *, is_news: bool) -> None:
        """The filler offers others, out of the table. Nothing is lost."""
        self.cleared += 1
        if is_news:
            log.warning("Redis offered %d codes that are gone from the pool; its set is made anew", gone)
        with contextlib.suppress(SharedAway):
            await self._pool.clear()


class DurableSource:
    """Out of the table, piece by piece. The rows of the block before the last go at the same time."""

    def __init__(self, cursor: Cursor, *, pool_min_size: int) -> None:
        self._cursor = cursor
        self._most = largest_pooled_block(pool_min_size)
        self._at_a_time = _RESERVED_AT_A_TIME if cursor.has_row_locks else _RESERVED_BESIDE_CREATES
        self._worker = f"worker:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._number = 0
        # The names under which the last blocks were reserved, piece by piece.
        self._blocks: list[list[str]] = [[], []]

    async def fetch(self, count: int) -> Block:
        # The last block may be in use still when the next one is fetched ahead of need.
        finished, last = self._blocks
        names: list[str] = []
        codes: list[str] = []
        missing = min(count, self._most)
        while missing:
            self._number += 1
            name = f"{self._worker}/{self._number}"
            asked = min(missing, self._at_a_time)
            try:
                some = await self._cursor.reserve(asked, name, finished=finished[:1])
            except Unavailable:
                if not codes:
                    raise
                break
            finished = finished[1:]
            names.append(name)
            codes += some
            missing = missing - asked if len(some) == asked else 0
        self._blocks = [last, [*finished, *names]]
        # The database gives neighbours; whoever sees one link shall not find the next one by its code.
        random.shuffle(codes)
        return ReadyBlock(codes)


class SteppedSource:
    """Tries its sources from the top for each block.

    `taken` counts codes by the name of the source (kgs_allocation_rate_total), `steps_down` how often a block had
    to come from further down than the one before.
    """

    def __init__(self, sources: Sequence[tuple[str, Source]]) -> None:
        self._sources = sources
        self._level: int | None = None
        self.taken: Counter[str] = Counter()
        self.steps_down = 0

    @property
    def level(self) -> str:
        """Where the last block came from."""
        return self._sources[self._level or 0][0]

    async def fetch(self, count: int) -> Block:
        reason = "empty"
        for level, (name, source) in enumerate(self._sources):
            try:
                block = await source.fetch(count)
            except Unavailable as error:
                if level == len(self._sources) - 1:
                    raise
                reason = str(error)
                continue
            if block:
                self._note(level, reason)
                self.taken[name] += len(block)
                return block
        raise Unavailable("No codes are left.")

    def _note(self, level: int, reason: str) -> None:
        if self._level is None:
            # No step: at the first start there is no pool yet.
            log.info("codes come from %s", self._sources[level][0])
        elif level > self._level:
            self.steps_down += 1
            log.warning("codes come from %s instead of %s: %s", self._sources[level][0], self.level, reason)
        elif level < self._level:
            log.info("codes come from %s again", self._sources[level][0])
        self._level = level
