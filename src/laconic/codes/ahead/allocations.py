"""Codes that programs take ahead, to use them later as custom codes: theirs alone until used, returned or forgotten."""

import asyncio
from collections.abc import Iterable, Sequence

from laconic.codes.ahead.store import AheadStore
from laconic.codes.cursor import Cursor
from laconic.codes.maker import FEW, CodeMaker
from laconic.errors import Unavailable


class Allocations:
    """`holder` names the API key, or open mode."""

    def __init__(
        self,
        store: AheadStore,
        cursor: Cursor,
        maker: CodeMaker,
        *,
        pool_min_size: int,
    ) -> None:
        self._store = store
        self._cursor = cursor
        self._maker = maker
        self._pool_min_size = pool_min_size
        self.allocated = 0

    async def allocate(self, holder: str, count: int) -> list[str]:
        """So many codes for this holder alone: out of the pool, and made on the fly where it has too few."""
        codes = await self._from_pool(holder, count)
        while len(codes) < count:
            codes += await self._make(holder, count - len(codes))
        self.allocated += len(codes)
        return codes

    async def _from_pool(self, holder: str, count: int) -> list[str]:
        if not self._pool_min_size:
            return []
        try:
            # The pool is there for links first.
            return await self._cursor.reserve(min(count, self._pool_min_size // 10), holder)
        except Unavailable:
            return []

    async def _make(self, holder: str, count: int) -> list[str]:
        counters = await self._cursor.lease(count)
        codes: list[str] = []
        for start in range(0, count, FEW):
            codes += self._maker.make(counters[start : start + FEW])
            await asyncio.sleep(0)  # redirects are answered by the same loop
        await self._store.insert_reserved(self._maker.region, codes, holder)
        return codes

    async def give_back(self, holder: str, codes: Sequence[str]) -> int:
        """Those of them that this holder has and has not used go back to the pool; gives how many."""
        return await self._store.give_back(self._maker.region, self._maker.length, holder, codes)

    async def holders(self, codes: Iterable[str]) -> dict[str, str]:
        """Which of these codes programs have, and whose they are."""
        return await self._store.holders(list(codes))

    async def mark_used(self, holder: str, code: str, link_id: int) -> None:
        """After the link's commit. Should it fail, the row goes some day all the same."""
        try:
            await self._store.mark_used(holder, code, link_id)
        except Unavailable:
            pass
