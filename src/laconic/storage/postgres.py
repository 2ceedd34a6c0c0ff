"""The PostgreSQL engine, on asyncpg: one pool for redirects, one for everything else.

A SELECT outside a transaction is taken for a read: when its connection is lost, nothing was done.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar

from laconic.clock import DAY
from laconic.errors import OutcomeUnknown, Unavailable
from laconic.storage import postgres_sql
from laconic.storage.breaker import Breaker
from laconic.storage.database import (
    NOTHING_SAME,
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
    Pool,
    acquired,
    close,
    commit,
    connect,
    open_pool,
    prepare,
    roll_back,
)
from laconic.storage.postgres_errors import HOPELESS, OUTAGE, persistently, translated, unavailable
from laconic.storage.postgres_listen import CHANNEL, Hear, follow
from laconic.storage.postgres_statements import ConnectionStatements, Known
from laconic.storage.postgres_tenant import PostgresTenant
from laconic.storage.together import Together

T = TypeVar("T")

_COMMAND_SECONDS = 10.0
_HOT_ACQUIRE_SECONDS = 1.0
_HOT_COMMAND_SECONDS = 2.0
_MOST_HOT_KEYS = 256
_LISTEN_COMMAND_SECONDS = 2.0
_IDLE_SECONDS, _FOR_EVER = 300.0, 0.0  # as the driver has it
# Rows of a table that are counted rather than estimated.
_WORTH_ESTIMATING = 100_000


class PostgresDatabase:
    """See `Database`. Belongs to the loop that opened it."""

    engine = "postgresql"
    answers_at_once = False
    # While the server works on one, the next is written down for it: half as many links again in a second (measured once).
    inserts_at_once = 2
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
        self._hot_reads: dict[str, Together[Sequence[Any], Row | None]] = {}
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
        together = self._hot_reads.get(sql)
        if together is None:
            together = self._hot_reads[sql] = Together(
                partial(self._fetch_each, sql),
                questions=self._hot.get_max_size(),
                most_keys=_MOST_HOT_KEYS,
                patience=_HOT_ACQUIRE_SECONDS,
            )
        try:
            return await together.get(args)
        except TimeoutError as error:
            self.breaker.failed(error)
            raise unavailable(Unavailable, error) from error

    async def _fetch_each(self, sql: str, many: Sequence[Sequence[Any]]) -> list[Row | None]:
        async def attempt() -> list[Row | None]:
            async with acquired(self._hot, _HOT_ACQUIRE_SECONDS) as connection:
                return await ConnectionStatements(connection, self._known).fetch_each(sql, many)

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
