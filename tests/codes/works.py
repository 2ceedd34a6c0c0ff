"""What makes codes, on a real database, with pools as small as a test wants them."""

from dataclasses import dataclass
from typing import Any

from laconic.codes.allocator import CodeAllocator
from laconic.codes.cursor import Cursor
from laconic.codes.high_water import HighWater
from laconic.codes.maker import CodeMaker
from laconic.codes.permutation import SECRET_BYTES
from laconic.codes.pool import PoolFiller
from laconic.codes.shared_pool import SharedPool
from laconic.codes.sources import CursorSource, DurableSource, SharedSource, Source, SteppedSource
from laconic.codes.store import CodeStore
from laconic.storage.database import Database, Statements

SECRET = bytes(range(SECRET_BYTES))


class FreeLease:
    """A lease that nobody contests."""

    async def hold(self) -> bool:
        return True

    async def fence(self, statements: Statements) -> None:
        """Nobody else is there."""


@dataclass
class Works:
    database: Database
    store: CodeStore
    maker: CodeMaker
    cursor: Cursor
    shared: SharedPool | None
    pool_min_size: int

    @classmethod
    async def open(
        cls,
        database: Database,
        *,
        region: str = "default",
        prefix: str = "",
        length: int = 7,
        shared: SharedPool | None = None,
        pool_min_size: int = 2_000,
        high_water: HighWater | None = None,
    ) -> "Works":
        store = CodeStore(database)
        await store.permutation_secret()
        claimed = await store.claim_length(region, prefix, length)
        maker = CodeMaker(SECRET, claimed, region=region, prefix=prefix)
        return cls(database, store, maker, Cursor(store, maker, high_water), shared, pool_min_size)

    def filler(self, lease: Any = None, *, batch_size: int = 500) -> PoolFiller:
        return PoolFiller(
            self.store,
            self.cursor,
            self.maker,
            lease or FreeLease(),
            self.shared,
            min_size=self.pool_min_size,
            batch_size=batch_size,
        )

    def source(self, shared: SharedSource | None = None) -> SteppedSource:
        cursor = CursorSource(self.cursor.lease, self.maker)
        sources: list[tuple[str, Source]] = [
            ("durable", DurableSource(self.cursor, pool_min_size=self.pool_min_size)),
            ("cursor", cursor),
        ]
        if self.shared is not None:
            sources.insert(0, ("shared", shared or self.shared_source()))
        return SteppedSource(sources)

    def shared_source(self) -> SharedSource:
        assert self.shared is not None
        return SharedSource(self.shared, self.cursor, pool_min_size=self.pool_min_size)

    def allocator(self, source: SteppedSource | None = None) -> CodeAllocator:
        return CodeAllocator(source or self.source(), fresh=CursorSource(self.cursor.lease, self.maker))

    async def fill(self) -> PoolFiller:
        """Until the filler finds nothing to do."""
        filler = self.filler()
        await filler.run_to_rest()
        return filler

    async def unused(self) -> int:
        """As the counters have it, and as the rows do."""
        counted = (await self.store.state(self.maker.region, self.maker.length)).unused
        assert counted == await self.rows("unused")
        return counted

    async def rows(self, status: str) -> int:
        row = await self.database.fetch_one(
            f"SELECT count(*) FROM kgs_keys WHERE region = $1 AND status = '{status}'", self.maker.region
        )
        assert row is not None
        return int(row[0])
