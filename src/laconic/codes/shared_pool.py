"""The pool that all machines share: a set in Redis, from which a worker takes a block in one step.

Never needed and never believed. What stands here are proposals: each code is an unused row of the table too, and is
nobody's before its row was claimed there. So a Redis that is lost or flushed costs nothing, and one that brings back
what was taken long ago brings nothing that could be claimed.
"""

from collections.abc import Sequence

from laconic.errors import SharedAway
from laconic.storage.shared import Script, SharedStore

_POP = Script("return redis.call('SPOP', KEYS[1], ARGV[1])")
_ADD = Script("return redis.call('SADD', KEYS[1], unpack(ARGV))")
_SIZE = Script("return redis.call('SCARD', KEYS[1])")
_CLEAR = Script("return redis.call('UNLINK', KEYS[1])")


class SharedPool:
    """Each verb raises SharedAway when Redis does not answer."""

    def __init__(self, shared: SharedStore, region: str) -> None:
        self._shared = shared
        self._key = f"kgs:{{{region}}}:unused"

    async def pop(self, count: int) -> list[str]:
        """Up to `count` codes that were unused when they came here."""
        return [code.decode() for code in await self._shared.run(_POP, self._key, count)]

    async def add(self, codes: Sequence[str]) -> int:
        """A few thousand at most; gives how many of them were not there."""
        return int(await self._shared.run(_ADD, self._key, *codes))

    async def size(self) -> int | None:
        """None when Redis does not answer."""
        try:
            return int(await self._shared.run(_SIZE, self._key))
        except SharedAway:
            return None

    async def clear(self) -> None:
        await self._shared.run(_CLEAR, self._key)
