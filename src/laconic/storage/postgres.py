"""The PostgreSQL engine, on asyncpg: one pool for redirects, one for everything else.

A SELECT outside a transaction is taken for a read: when its connection is lost, nothing was done. A
statement that fails inside a transaction dooms it, even if `work` goes on: nothing of it is committed.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from laconic.errors import OutcomeUnknown, Unavailable
from laconic.storage import postgres_sql
from laconic.storage.database import ChangeListener, Row, Statements, Tenant
from laconic.storage.postgres_address import PostgresAddress
from laconic.storage.postgres_errors import (
    CANNOT_CONNECT,
    HOPELESS,
    persistently,
    translated,
    unavailable,
)
from laconic.storage.postgres_listen import CHANNEL, Hear, follow
from laconic.storage.postgres_migrate import apply_migrations, let_in, role_of, schema_version
from laconic.storage.postgres_tenant import PostgresTenant
from laconic.storage.postgres_values import CODECS

T = TypeVar("T")
_Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
_Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

_ACQUIRE_SECONDS = 5.0
_COMMAND_SECONDS = 10.0
_COPY_SECONDS = 60.0
_HOT_ACQUIRE_SECONDS = 1.0
_HOT_COMMAND_SECONDS = 2.0
_LISTEN_COMMAND_SECONDS = 2.0
_CLOSE_SECONDS = 5.0
_IDLE_SECONDS = 300.0
_FOR_EVER = 0.0  # as the driver has it
# The default, 50,000, would make a busy redirect pool reconnect every few seconds.
_QUERIES_PER_CONNECTION = 10_000_000


class _ConnectionStatements:
    """The statements of one connection."""

    def __init__(
        self, connection: _Connection, inserts: dict[Any, str], lost: type[Unavailable] = Unavailable
    ) -> None:
        self._connection = connection
        self._inserts = inserts
        self._lost = lost
        self.failure: Exception | None = None

    @contextlib.contextmanager
    def _statement(self) -> Iterator[None]:
        if isinstance(self.failure, Unavailable):
            raise self.failure  # the connection is gone, whatever the caller made of it
        try:
            with translated(self._lost):
                yield
        except asyncpg.InFailedSQLTransactionError as error:
            raise self.failure or error from error
        except Exception as error:
            self.failure = error
            raise

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        with self._statement():
            row = await self._connection.fetchrow(sql, *args)
        return None if row is None else tuple(row)

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        with self._statement():
            return [tuple(row) for row in await self._connection.fetch(sql, *args)]

    async def execute(self, sql: str, *args: Any) -> int:
        with self._statement():
            return postgres_sql.changed_rows(await self._connection.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        with self._statement():
            await self._connection.executemany(sql, rows)

    async def insert_many(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        if not rows:
            return True
        key = (table, tuple(columns))
        if key not in self._inserts:
            types = {row[0]: row[1] for row in await self.fetch_all(postgres_sql.COLUMN_TYPES, table)}
            self._inserts[key] = postgres_sql.insert_arrays(table, columns, types)
        return await self.execute(self._inserts[key], *zip(*rows, strict=True)) == len(rows)

    async def copy_in(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        with self._statement():
            await self._connection.copy_records_to_table(
                table, columns=list(columns), records=rows, timeout=_COPY_SECONDS
            )


class PostgresDatabase:
    """See `Database`. Belongs to the loop that opened it."""

    answers_at_once = False

    def __init__(
        self, address: PostgresAddress, hot: _Pool, pool: _Pool, tenants: "_Pool | None" = None
    ) -> None:
        """`tenants` are connections of a role that row-level security holds, where there is one."""
        self._address = address
        self._hot = hot
        self._pool = pool
        self._tenants = tenants
        self._inserts: dict[Any, str] = {}

    async def fetch_hot(self, sql: str, *args: Any) -> Row | None:
        async def attempt() -> Row | None:
            async with _acquired(self._hot, _HOT_ACQUIRE_SECONDS) as connection:
                return await _ConnectionStatements(connection, self._inserts).fetch_one(sql, *args)

        return await persistently(attempt, reads=True)

    async def fetch_one(self, sql: str, *args: Any) -> Row | None:
        reads = postgres_sql.only_reads(sql)
        return await self._alone(lambda statements: statements.fetch_one(sql, *args), reads=reads)

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        reads = postgres_sql.only_reads(sql)
        return await self._alone(lambda statements: statements.fetch_all(sql, *args), reads=reads)

    async def execute(self, sql: str, *args: Any) -> int:
        return await self._alone(lambda statements: statements.execute(sql, *args))

    async def execute_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        kept = list(rows)  # for a second attempt
        await self._alone(lambda statements: statements.execute_many(sql, kept))

    async def insert_many(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
        return await self._alone(lambda statements: statements.insert_many(table, columns, rows))

    async def copy_in(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        await self._alone(lambda statements: statements.copy_in(table, columns, rows))

    async def _alone(self, run: Callable[[_ConnectionStatements], Awaitable[T]], *, reads: bool = False) -> T:
        """One statement outside a transaction: the server commits it before it answers."""
        lost = Unavailable if reads else OutcomeUnknown

        async def attempt() -> T:
            async with _acquired(self._pool, _ACQUIRE_SECONDS) as connection:
                return await run(_ConnectionStatements(connection, self._inserts, lost))

        return await persistently(attempt, reads=reads)

    async def transaction(self, work: Callable[[Statements], Awaitable[T]]) -> T:
        return await self._transact(self._pool, "BEGIN", work)

    def for_workspace(self, workspace_id: int) -> Tenant:
        if self._tenants is None:
            return self
        # One message to the server: naming the workspace costs no trip of its own.
        begin = f"BEGIN; SET LOCAL app.current_workspace_id = '{workspace_id:d}'"
        return PostgresTenant(partial(self._transact, self._tenants, begin))

    async def _transact(
        self, pool: _Pool, begin: str, work: Callable[[Statements], Awaitable[T]], *, reads: bool = False
    ) -> T:
        async def attempt() -> T:
            async with _acquired(pool, _ACQUIRE_SECONDS) as connection:
                statements = _ConnectionStatements(connection, self._inserts)
                try:
                    await statements.execute(begin)
                    result = await work(statements)
                except BaseException:
                    await _roll_back(connection)
                    raise
                await _commit(connection, statements.failure)
                return result

        return await persistently(attempt, reads=reads)

    async def follow_changes(self, changed: ChangeListener) -> None:
        if self._address.is_pooler:
            # A pooler gives each transaction another connection: LISTEN is accepted and nothing is ever heard.
            changed.lost()
            await asyncio.get_running_loop().create_future()
        await follow(self._listening, changed)

    @contextlib.asynccontextmanager
    async def _listening(self, hear: Hear) -> AsyncIterator[Statements]:
        connection = await _connect(self._address, _LISTEN_COMMAND_SECONDS)
        try:
            connection.add_termination_listener(lambda _: hear(None))
            with translated():
                await connection.add_listener(CHANNEL, lambda *message: hear(str(message[3])))
            yield _ConnectionStatements(connection, self._inserts)
        finally:
            connection.terminate()

    def text_search(self, words: Sequence[str], argument: int) -> tuple[str, str]:
        return postgres_sql.search_condition(argument), postgres_sql.prefix_query(words)

    async def sizes(self) -> dict[str, int]:
        row = await self.fetch_one("SELECT pg_database_size(current_database())")
        return {"database": row[0] if row else 0}

    async def tidy(self) -> None:
        """Nothing: autovacuum and the server's own checkpoints do it."""

    async def close(self) -> None:
        pools = (self._hot, self._pool, self._tenants)
        await asyncio.gather(*(_close(pool) for pool in pools if pool is not None))


@contextlib.asynccontextmanager
async def _acquired(pool: _Pool, seconds: float) -> AsyncIterator[_Connection]:
    try:
        connection = await pool.acquire(timeout=seconds)
    except CANNOT_CONNECT as error:
        raise unavailable(Unavailable, error) from error
    try:
        yield connection
    except Unavailable as error:
        if isinstance(error.__cause__, asyncpg.ReadOnlySQLTransactionError):
            await pool.expire_connections()  # the primary is elsewhere now: look for it again
        raise
    finally:
        # What was done is done: a connection that breaks only now is the driver's business.
        with contextlib.suppress(*CANNOT_CONNECT):
            await pool.release(connection)


async def _close(pool: _Pool) -> None:
    with contextlib.suppress(*CANNOT_CONNECT):  # the driver ends by force what does not end in time
        async with asyncio.timeout(_CLOSE_SECONDS):
            await pool.close()


async def _commit(connection: _Connection, failure: Exception | None) -> None:
    try:
        with translated(OutcomeUnknown):
            status = await connection.execute("COMMIT")
    except BaseException:
        _drop(connection)
        raise
    if status != "COMMIT":
        raise failure or RuntimeError("PostgreSQL undid the transaction instead of committing it.")


async def _roll_back(connection: _Connection) -> None:
    try:
        await connection.execute("ROLLBACK")
    except BaseException as error:
        _drop(connection)
        if not isinstance(error, Exception):
            raise


def _drop(connection: _Connection) -> None:
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _connect(
    address: PostgresAddress, command_timeout: float | None
) -> "asyncpg.Connection[asyncpg.Record]":
    try:
        return await asyncpg.connect(address.url, **address.options(command_timeout))
    except CANNOT_CONNECT as error:
        raise unavailable(Unavailable, error) from error


async def _open_pool(
    address: PostgresAddress, connections: int, command_timeout: float, idle_seconds: float
) -> _Pool:
    try:
        pool = await asyncpg.create_pool(
            address.url,
            min_size=0,  # a floor would be restored in the background, with a traceback for each attempt
            max_size=connections,
            max_queries=_QUERIES_PER_CONNECTION,
            max_inactive_connection_lifetime=idle_seconds,
            init=_prepare,
            reset=_keep_session,
            **address.options(command_timeout),
        )
    except CANNOT_CONNECT as error:
        raise unavailable(Unavailable, error) from error
    async with _acquired(pool, _ACQUIRE_SECONDS):
        return pool


async def _prepare(connection: _Connection) -> None:
    for name, encoder, decoder, format_ in CODECS:
        await connection.set_type_codec(
            name, schema="pg_catalog", encoder=encoder, decoder=decoder, format=format_
        )
    await connection.execute(postgres_sql.KEEP_ALIVE)


async def _keep_session(_: object) -> None:
    """Laconic sets nothing that outlives a transaction: RESET ALL would cost each look-up 130 us for nothing."""


async def open_postgres(
    url: str, *, owner_url: str = "", hot_connections: int = 4, connections: int = 8
) -> PostgresDatabase:
    """Opens a database that `migrate_postgres` has prepared.

    With an `owner_url` the role of `url` does what is done for one workspace, and the owner all the rest.
    """
    owner = PostgresAddress.from_url(owner_url or url)
    opened: list[_Pool] = []
    try:
        for address, size, seconds, idle in (
            (owner, hot_connections, _HOT_COMMAND_SECONDS, _FOR_EVER),
            (owner, connections, _COMMAND_SECONDS, _IDLE_SECONDS),
            *(
                [(PostgresAddress.from_url(url), connections, _COMMAND_SECONDS, _IDLE_SECONDS)]
                * bool(owner_url)
            ),
        ):
            connect = partial(_open_pool, address, size, seconds, idle)
            opened.append(await address.patiently(connect, hopeless=HOPELESS))
    except BaseException:
        for pool in opened:
            pool.terminate()
        raise
    return PostgresDatabase(owner, *opened)


@contextlib.asynccontextmanager
async def _session(url: str, lost: type[Unavailable] = Unavailable) -> AsyncIterator[Statements]:
    """One connection for a caller alone, without a limit of time: a migration takes as long as it takes."""
    address = PostgresAddress.from_url(url)
    connection = await address.patiently(lambda: _connect(address, None), hopeless=HOPELESS)
    try:
        yield _ConnectionStatements(connection, {}, lost)
    finally:
        connection.terminate()


async def migrate_postgres(url: str, owner_url: str = "") -> list[str]:
    """Brings the database to this release's schema and names what was applied. Not through a pooler."""
    async with _session(owner_url or url, OutcomeUnknown) as session:
        applied = await apply_migrations(session)
        if owner_url:
            async with _session(url) as other:
                role = await role_of(other)
            await let_in(session, role)
        return applied


async def postgres_schema_version(url: str) -> int:
    async with _session(url) as session:
        return await schema_version(session)
