"""Codes for new links, out of a block that this process has leased.

A create takes its code from memory. The next block is leased before the last one is used up; blocks of dead
processes are burnt, not reclaimed: a thousand of 3.5 * 10^12 cost nothing.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable

from laconic.codes.alphabet import encode
from laconic.codes.permutation import Permutation
from laconic.codes.rules import is_reserved
from laconic.errors import Unavailable

Lease = Callable[[int], Awaitable[range]]

_FIRST_BLOCK = 1_000
_LARGEST_BLOCK = 64_000
# Many codes are made together more cheaply than one by one; this many take the loop about a third of a millisecond.
_AT_A_TIME = 128


class CodeAllocator:
    """Hands out codes that no other allocator of this installation ever gets."""

    def __init__(self, lease: Lease, permutation: Permutation) -> None:
        self._lease = lease
        self._permutation = permutation
        self._ready: deque[str] = deque()
        self._block = range(0)
        self._next_block: asyncio.Task[range] | None = None
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
            some, self._block = self._block[:_AT_A_TIME], self._block[_AT_A_TIME:]
            ready.extend(self._encode(some))
            if len(self._block) < self._block_size // 2 and self._next_block is None:
                self._next_block = asyncio.create_task(self._lease_block())
        return [ready.popleft() for _ in range(count)]

    def _encode(self, counters: range) -> list[str]:
        length = self._permutation.length
        codes = (encode(number, length) for number in self._permutation.map(counters))
        return [code for code in codes if not is_reserved(code)]

    async def _refill(self) -> None:
        async with self._refilling:
            if self._block:
                return
            coming, self._next_block = self._next_block, None
            if coming is None:
                self._block = await self._lease_block()
                return
            if not coming.done():
                # The next block was needed before it came: ask for more at a time.
                self._block_size = min(self._block_size * 2, _LARGEST_BLOCK)
            try:
                self._block = await coming
            except Unavailable:
                # It was asked for long before it was needed: what failed then may go well now.
                self._block = await self._lease_block()

    async def _lease_block(self) -> range:
        block = await self._lease(self._block_size)
        if block.stop > self._permutation.size:
            raise Unavailable(
                f"All codes of {self._permutation.length} characters have been given out;"
                " raise LACONIC_CODE_LENGTH."
            )
        return block

    async def close(self) -> None:
        """What is left of the block is burnt."""
        if self._next_block is not None:
            self._next_block.cancel()
            await asyncio.gather(self._next_block, return_exceptions=True)

    def __len__(self) -> int:
        """Codes at hand in this process."""
        return len(self._ready) + len(self._block)
