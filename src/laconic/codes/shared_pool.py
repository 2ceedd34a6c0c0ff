"""The pool that all machines share: a set in Redis, from which a worker takes a block in one step.

Never needed and never the referee. Its codes have left the table before they came here, so a Redis that is lost or
flushed burns them, and the filler puts others in. A replica that is promoted may bring codes back that were taken
before: the unique index refuses them, and whoever sees that clears the set.
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
        """Up to `count` codes. If the answer is lost on the way they are burnt."""
        return [code.decode() for code in await self._shared.run(_POP, self._key, count)]

    async def add(self, codes: Sequence[str]) -> None:
        """A few thousand at most. Whether or not it fails, nobody else may have them any more."""
        await self._shared.run(_ADD, self._key, *codes)

    async def size(self) -> int | None:
        """None when Redis does not answer."""
        try:
            return int(await self._shared.run(_SIZE, self._key))
        except SharedAway:
            return None

    async def clear(self) -> None:
        await self._shared.run(_CLEAR, self._key)
