"""One workspace's statements on PostgreSQL: each runs in a transaction that has named the workspace.

So row-level security stands behind every statement, whatever it forgets to say.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from laconic.storage.database import NOTHING_SAME, Ids, Merge, Row, Same, Statements
from laconic.storage.postgres_sql import only_reads

T = TypeVar("T")


class Transact(Protocol):
    """Runs work in a transaction; `reads` says that it may be repeated when the connection is lost."""

    async def __call__(self, work: Callable[[Statements], Awaitable[T]], /, *, reads: bool = False) -> T: ...


class PostgresTenant:
    """See `Tenant`."""

    def __init__(self, transact: Transact) -> None:
        self._transact = transact

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        return await self._transact(lambda run: run.fetch_one(sql, *args), reads=only_reads(sql))

    async def fetch_by_key(self, sql: str, *args: Any) -> Row | None:
        return await self.fetch_one(sql, *args)

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        return await self._transact(lambda run: run.fetch_all(sql, *args), reads=only_reads(sql))

    async def fetch_among(self, sql: str, ids: Ids, *args: Any) -> list[Row]:
        return await self._transact(lambda run: run.fetch_among(sql, ids, *args), reads=True)

    async def execute(self, sql: str, *args: Any) -> int:
        return await self._transact(lambda run: run.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        kept = list(rows)  # for a second attempt
        await self._transact(lambda run: run.execute_many(sql, kept))

    async def insert_many(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], same: Same = NOTHING_SAME
    ) -> bool:
        return await self._transact(lambda run: run.insert_many(table, columns, rows, same))

    async def merge(self, table: str, how: Merge, columns: Sequence[Sequence[Any]]) -> None:
        await self._transact(lambda run: run.merge(table, how, columns))

    async def append_events(self, *batch: Any) -> None:
        await self._transact(lambda run: run.append_events(*batch))

    async def keep_events(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        await self.insert_many("click_event", names, rows)

    async def fetch_events(self, month: int, sql: str, *args: Any) -> list[Row]:
        return await self.fetch_all(sql, *args)

    async def change_events(self, month: int, sql: str, *args: Any) -> int:
        return await self.execute(sql, *args)

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        return await self._transact(work)
