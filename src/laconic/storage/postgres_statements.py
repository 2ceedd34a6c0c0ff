"""The statements of one PostgreSQL connection.

A statement that fails inside a transaction dooms it, even if `work` goes on: nothing of it is committed.
"""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import asyncpg

from laconic.clock import monotonic
from laconic.errors import Unavailable
from laconic.storage import postgres_sql
from laconic.storage.database import NOTHING_SAME, SLOW_SECONDS, Ids, Merge, Row, Same
from laconic.storage.postgres_connect import Connection
from laconic.storage.postgres_errors import translated

_COPY_SECONDS = 60.0


@dataclass(slots=True)
class Known:
    """What the statements of all connections share."""

    inserts: dict[Any, str] = field(default_factory=dict)
    merges: dict[Any, tuple[str, frozenset[int]]] = field(default_factory=dict)
    slow: int = 0


class ConnectionStatements:
    """The statements of one connection."""

    def __init__(self, connection: Connection, known: Known, lost: type[Unavailable] = Unavailable) -> None:
        self._connection = connection
        self._known = known
        self._lost = lost
        self.failure: Exception | None = None

    @contextlib.contextmanager
    def _statement(self) -> Iterator[None]:
        if isinstance(self.failure, Unavailable):
            raise self.failure  # the connection is gone, whatever the caller made of it
        begun = monotonic()
        try:
            with translated(self._lost):
                yield
        except asyncpg.InFailedSQLTransactionError as error:
            raise self.failure or error from error
        except Exception as error:
            self.failure = error
            raise
        finally:
            self._known.slow += monotonic() - begun > SLOW_SECONDS

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        with self._statement():
            row = await self._connection.fetchrow(sql, *args)
        return None if row is None else tuple(row)

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        with self._statement():
            return [tuple(row) for row in await self._connection.fetch(sql, *args)]

    async def fetch_among(self, sql: str, ids: Ids, *args: Any) -> list[Row]:
        if not ids:
            return []
        return await self.fetch_all(postgres_sql.among(sql, ids, len(args) + 1), *args, ids)

    async def fetch_each(self, sql: str, many: Sequence[Sequence[Any]]) -> list[Row | None]:
        """The row for each set of arguments, in one trip to the server."""
        if len(many) == 1 or not many[0]:
            return [await self.fetch_one(sql, *many[0])] * len(many)
        found: list[Row | None] = [None] * len(many)
        for row in await self.fetch_all(postgres_sql.for_each(sql, many[0]), *zip(*many, strict=True)):
            found[row[0] - 1] = row[1:]
        return found

    async def execute(self, sql: str, *args: Any) -> int:
        with self._statement():
            return postgres_sql.changed_rows(await self._connection.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._statement():
            await self._connection.executemany(sql, rows)

    async def insert_many(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], same: Same = NOTHING_SAME
    ) -> bool:
        if not rows:
            return True
        sql = await self._insert_sql(table, tuple(columns), tuple(same))
        return await self.execute(sql, *zip(*rows, strict=True), *same.values()) == len(rows)

    async def merge(self, table: str, how: Merge, columns: Sequence[Sequence[Any]]) -> None:
        key = (table, how)
        merges = self._known.merges
        if key not in merges:
            types = await self._types(table)
            merges[key] = postgres_sql.merge_arrays(table, how.columns, types, how.clause(table))
        sql, as_text = merges[key]
        given = [
            postgres_sql.array_text(column) if place in as_text else column
            for place, column in enumerate(columns)
        ]
        await self.execute(sql, *given)

    async def _insert_sql(self, table: str, columns: tuple[str, ...], same: tuple[str, ...]) -> str:
        key = (table, columns, same)
        inserts = self._known.inserts
        if key not in inserts:
            types = await self._types(table)
            inserts[key] = postgres_sql.insert_arrays(table, columns, types, same)
        return inserts[key]

    async def _types(self, table: str) -> dict[str, str]:
        return {row[0]: row[1] for row in await self.fetch_all(postgres_sql.COLUMN_TYPES, table)}

    async def append_events(
        self,
        month: int,
        journal_id: str,
        sequences: Sequence[int],
        names: Sequence[str],
        columns: Sequence[Sequence[Any]],
    ) -> None:
        await self.copy_in("click_event", names, zip(*columns, strict=True))

    async def keep_events(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        await self.insert_many("click_event", names, rows)

    async def copy_in(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        with self._statement():
            await self._connection.copy_records_to_table(
                table, columns=list(columns), records=rows, timeout=_COPY_SECONDS
            )
