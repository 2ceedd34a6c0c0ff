"""Codes for new links, out of a block that this process holds.

A create takes its code from memory. The next block is fetched before the last one is used up; blocks of dead
processes are burnt, not reclaimed: a thousand of 3.5 * 10^12 cost nothing.
"""

import asyncio
from collections import deque
from collections.abc import Mapping

from laconic.codes.maker import FEW
from laconic.codes.sources import Block, ReadyBlock, Source, WorkerSource
from laconic.errors import Unavailable

_FIRST_BLOCK = 1_000
_LARGEST_BLOCK = 64_000


class CodeAllocator:
    """Hands out codes that no other allocator of this installation ever gets."""

    def __init__(self, source: WorkerSource, fresh: Source | None = None, *, at_a_time: int = FEW) -> None:
        """`fresh` makes codes that nobody can ever have had: replacements come from there.

        `at_a_time` is how many are made together: more are cheaper, and the loop waits longer for them.
        """
        self._at_a_time = at_a_time
        self._source = source
        self._fresh = fresh or source
        self._replacements: Block = ReadyBlock([])
        self._spare: deque[str] = deque()
        self.conflicts = 0
        self._ready: deque[str] = deque()
        self._block: Block = ReadyBlock([])
        self._fetched = 0
        self._next_block: asyncio.Task[Block] | None = None
        self._block_size = _FIRST_BLOCK
        self._refilling = asyncio.Lock()

    async def take(self, count: int = 1) -> list[str]:
        """`count` fresh codes; suspends only when the block is used up."""
        ready = self._ready
        while len(ready) < count:
            if not self._block:
                await self._refill()
                # Others may have waited for the same block, and made codes enough of it meanwhile.
                continue
            ready.extend(self._block.cut(self._at_a_time))
            if len(self._block) < self._fetched // 2 and self._next_block is None:
                self._next_block = asyncio.create_task(self._source.fetch(self._block_size))
        return [ready.popleft() for _ in range(count)]

    async def replace(self, count: int = 1) -> list[str]:
        """Codes instead of some that a unique index has refused, or for a transaction that cannot come back for
        more. From the cursor, which is there when the pool is not."""
        while len(self._spare) < count:
            if not self._replacements:
                self._replacements = await self._fresh.fetch(_FIRST_BLOCK)
            self._spare.extend(self._replacements.cut(FEW))
        return [self._spare.popleft() for _ in range(count)]

    def refused(self) -> None:
        """A unique index has refused a code of ours: a custom code was there first."""
        self.conflicts += 1

    async def _refill(self) -> None:
        async with self._refilling:
            if self._block:
                return
            coming, self._next_block = self._next_block, None
            if coming is not None and not coming.done():
                # The next block was needed before it came: ask for more at a time.
                self._block_size = min(self._block_size * 2, _LARGEST_BLOCK)
            self._block = await self._arrived(coming)
            self._fetched = len(self._block)

    async def _arrived(self, coming: asyncio.Task[Block] | None) -> Block:
        if coming is not None:
            try:
                return await coming
            except Unavailable:
                # It was asked for long before it was needed: what failed then may go well now.
                pass
        return await self._source.fetch(self._block_size)

    @property
    def taken(self) -> Mapping[str, int]:
        """Codes that this process was given since its start, by where they came from."""
        return self._source.taken

    async def close(self) -> None:
        """What is left of the block is burnt."""
        if self._next_block is not None:
            self._next_block.cancel()
            await asyncio.gather(self._next_block, return_exceptions=True)

    def __len__(self) -> int:
        """Codes at hand in this process."""
        return len(self._ready) + len(self._block)
