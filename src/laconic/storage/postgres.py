"""The PostgreSQL engine, on asyncpg: one pool for redirects, one for everything else.

A SELECT outside a transaction is taken for a read: when its connection is lost, nothing was done. A
statement that fails inside a transaction dooms it, even if `work` goes on: nothing of it is committed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import asyncpg

from laconic.clock import DAY, monotonic
from laconic.errors import OutcomeUnknown, Unavailable
from laconic.storage import postgres_sql
from laconic.storage.breaker import Breaker
from laconic.storage.database import (
    NOTHING_SAME,
    SLOW_SECONDS,
    ChangeListener,
    Ids,
    Merge,
    PoolNumbers,
    Row,
    Same,
    Statements,
    Tenant,
)
from laconic.storage.months import begin_of, month_from_name
from laconic.storage.postgres_address import PostgresAddress
from laconic.storage.postgres_connect import (
    ACQUIRE_SECONDS,
    Connection,
    Pool,
    acquired,
    close,
    commit,
    connect,
    open_pool,
    prepare,
    roll_back,
)
from laconic.storage.postgres_errors import HOPELESS, OUTAGE, persistently, translated
from laconic.storage.postgres_listen import CHANNEL, Hear, follow
from laconic.storage.postgres_tenant import PostgresTenant

T = TypeVar("T")

_COMMAND_SECONDS = 10.0
_COPY_SECONDS = 60.0
_HOT_ACQUIRE_SECONDS = 1.0
_HOT_COMMAND_SECONDS = 2.0
_LISTEN_COMMAND_SECONDS = 2.0
_IDLE_SECONDS, _FOR_EVER = 300.0, 0.0  # as the driver has it
# Rows of a table that are counted rather than estimated.
_WORTH_ESTIMATING = 100_000


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


class PostgresDatabase:
    """See `Database`. Belongs to the loop that opened it."""

    engine = "postgresql"
    answers_at_once = False
    skip_locked = "FOR UPDATE SKIP LOCKED"

    def __init__(
        self, address: PostgresAddress, hot: Pool, pool: Pool, tenants: "Pool | None" = None
    ) -> None:
        """`tenants` are connections of a role that row-level security holds, where there is one."""
        self._address = address
        self._hot = hot
        self._pool = pool
        self._tenants = tenants
        self._known = Known()
        self.breaker = Breaker("the database", self._probe, quiet_seconds=1.0)

    @property
    def breakers(self) -> Sequence[Breaker]:
        return [self.breaker]

    async def _probe(self) -> None:
        async with acquired(self._hot, _HOT_ACQUIRE_SECONDS) as connection:
            await connection.execute("SELECT 1")

    async def _guarded(self, attempt: Callable[[], Awaitable[T]], *, reads: bool = False) -> T:
        """While the database is away nobody waits for it: whoever asks is told so at once."""
        if not self.breaker.allows():
            raise Unavailable("The database cannot be reached now; nothing was done.")
        try:
            result = await persistently(attempt, reads=reads)
        except Unavailable as error:
            if isinstance(error.__cause__, OUTAGE):
                self.breaker.failed(error.__cause__)
            raise
        self.breaker.succeeded()
        return result

    async def fetch_hot(self, sql: str, *args: Any) -> Row | None:
        async def attempt() -> Row | None:
            async with acquired(self._hot, _HOT_ACQUIRE_SECONDS) as connection:
                return await ConnectionStatements(connection, self._known).fetch_one(sql, *args)

        return await self._guarded(attempt, reads=True)

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        reads = postgres_sql.only_reads(sql)
        return await self._alone(lambda statements: statements.fetch_one(sql, *args), reads=reads)

    async def fetch_by_key(self, sql: str, *args: Any) -> Row | None:
        return await self.fetch_one(sql, *args)

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        reads = postgres_sql.only_reads(sql)
        return await self._alone(lambda statements: statements.fetch_all(sql, *args), reads=reads)

    async def fetch_among(self, sql: str, ids: Ids, *args: Any) -> list[Row]:
        return await self._alone(lambda statements: statements.fetch_among(sql, ids, *args), reads=True)

    async def execute(self, sql: str, *args: Any) -> int:
        return await self._alone(lambda statements: statements.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        kept = list(rows)  # for a second attempt
        await self._alone(lambda statements: statements.execute_many(sql, kept))

    async def insert_many(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], same: Same = NOTHING_SAME
    ) -> bool:
        return await self._alone(lambda statements: statements.insert_many(table, columns, rows, same))

    async def copy_in(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        await self._alone(lambda statements: statements.copy_in(table, columns, rows))

    async def merge(self, table: str, how: Merge, columns: Sequence[Sequence[Any]]) -> None:
        await self._alone(lambda statements: statements.merge(table, how, columns))

    async def append_events(self, *batch: Any) -> None:
        await self._alone(lambda statements: statements.append_events(*batch))

    async def keep_events(self, month: int, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        await self.insert_many("click_event", names, rows)

    async def prepare_months(self, first: int, count: int) -> None:
        await self.fetch_one(postgres_sql.ENSURE_MONTHS, begin_of(first) // DAY, count)

    async def event_months(self) -> list[int]:
        rows = await self.fetch_all(postgres_sql.EVENT_MONTHS)
        return [month_from_name(row[0]) for row in rows]

    async def fetch_events(self, month: int, sql: str, *args: Any) -> list[Row]:
        return await self.fetch_all(sql, *args)

    async def change_events(self, month: int, sql: str, *args: Any) -> int:
        return await self.execute(sql, *args)

    async def drop_events(self, month: int) -> None:
        await self.fetch_one(postgres_sql.DROP_MONTH, begin_of(month) // DAY)

    async def _alone(self, run: Callable[[ConnectionStatements], Awaitable[T]], *, reads: bool = False) -> T:
        """One statement outside a transaction: the server commits it before it answers."""
        lost = Unavailable if reads else OutcomeUnknown

        async def attempt() -> T:
            async with acquired(self._pool, ACQUIRE_SECONDS) as connection:
                return await run(ConnectionStatements(connection, self._known, lost))

        return await self._guarded(attempt, reads=reads)

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        return await self._transact(self._pool, "BEGIN", work)

    @property
    def parts_tenants(self) -> bool:
        return self._tenants is not None

    def for_workspace(self, workspace_id: int) -> Tenant:
        if self._tenants is None:
            return self
        # One message to the server: naming the workspace costs no trip of its own.
        begin = f"BEGIN; SET LOCAL app.current_workspace_id = '{workspace_id:d}'"
        return PostgresTenant(partial(self._transact, self._tenants, begin))

    async def _transact(
        self, pool: Pool, begin: str, work: Callable[[Statements], Awaitable[T]], *, reads: bool = False
    ) -> T:
        async def attempt() -> T:
            async with acquired(pool, ACQUIRE_SECONDS) as connection:
                statements = ConnectionStatements(connection, self._known)
                try:
                    await statements.execute(begin)
                    result = await work(statements)
                except BaseException:
                    await roll_back(connection)
                    raise
                await commit(connection, statements.failure)
                return result

        return await self._guarded(attempt, reads=reads)

    async def follow_changes(self, changed: ChangeListener, history: int = 0) -> None:
        if self._address.is_pooler:
            # A pooler gives each transaction another connection: LISTEN is accepted and nothing is ever heard.
            changed.lost()
            await asyncio.get_running_loop().create_future()
        await follow(self._listening, changed, history)

    @contextlib.asynccontextmanager
    async def _listening(self, hear: Hear) -> AsyncIterator[Statements]:
        connection = await connect(self._address, _LISTEN_COMMAND_SECONDS)
        try:
            connection.add_termination_listener(lambda _: hear(None))
            with translated():
                await prepare(connection)
                await connection.add_listener(CHANNEL, lambda *message: hear(str(message[3])))
            yield ConnectionStatements(connection, self._known)
        finally:
            connection.terminate()

    def text_search(self, words: Sequence[str], argument: int) -> tuple[str, str]:
        return postgres_sql.search_condition(argument), postgres_sql.prefix_query(words)

    def by_index(self, name: str) -> str:
        """Its statistics know how many rows a partial index has."""
        return ""

    @property
    def slow_queries(self) -> int:
        return self._known.slow

    def pools(self) -> Sequence[PoolNumbers]:
        named = {"hot": self._hot, "general": self._pool, "tenants": self._tenants}
        return [
            PoolNumbers(name, pool.get_size(), pool.get_size() - pool.get_idle_size(), pool.get_max_size())
            for name, pool in named.items()
            if pool is not None
        ]

    async def estimate_rows(self, name: str) -> int | None:
        """As vacuum and analyze have left it; a small one is quickly counted."""
        row = await self.fetch_one("SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass($1)", name)
        return int(row[0]) if row and row[0] >= _WORTH_ESTIMATING else None

    def part_search(self, text: str, argument: int) -> tuple[str, tuple[str, ...]] | None:
        return postgres_sql.part_condition(text, argument)

    async def sizes(self) -> dict[str, int]:
        row = await self.fetch_one(postgres_sql.SIZE)
        sizes = {"database": int(row[0])} if row else {}
        # The log's size is the server's business: it tells superusers and whoever was made a monitor.
        if row and row[1]:
            row = await self.fetch_one(postgres_sql.WAL_SIZE)
            sizes |= {"wal": int(row[0])} if row else {}
        return sizes

    async def tidy(self) -> None:
        """Nothing: autovacuum and the server's own checkpoints do it."""

    async def close(self) -> None:
        await self.breaker.close()
        pools = (self._hot, self._pool, self._tenants)
        await asyncio.gather(*(close(pool) for pool in pools if pool is not None))


async def open_postgres(
    url: str, *, owner_url: str = "", hot_connections: int = 4, connections: int = 8
) -> PostgresDatabase:
    """Opens a database that `migrate_postgres` has prepared.

    With an `owner_url` the role of `url` does what is done for one workspace, and the owner all the rest.
    """
    owner = PostgresAddress.from_url(owner_url or url)
    opened: list[Pool] = []
    try:
        for address, size, seconds, idle in (
            (owner, hot_connections, _HOT_COMMAND_SECONDS, _FOR_EVER),
            (owner, connections, _COMMAND_SECONDS, _IDLE_SECONDS),
            *(
                [(PostgresAddress.from_url(url), connections, _COMMAND_SECONDS, _IDLE_SECONDS)]
                * bool(owner_url)
            ),
        ):
            attempt = partial(open_pool, address, size, seconds, idle)
            opened.append(await address.patiently(attempt, hopeless=HOPELESS))
    except BaseException:
        for pool in opened:
            pool.terminate()
        raise
    return PostgresDatabase(owner, *opened)
