"""Connections to PostgreSQL: made ready, kept in pools, and what ends a transaction on them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, TypeAlias

import asyncpg
from asyncpg.pool import PoolConnectionProxy

from laconic.errors import OutcomeUnknown, Unavailable
from laconic.storage import postgres_sql
from laconic.storage.postgres_address import PostgresAddress
from laconic.storage.postgres_errors import CANNOT_CONNECT, translated, unavailable
from laconic.storage.postgres_values import CODECS

Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | PoolConnectionProxy[asyncpg.Record]"
Pool: TypeAlias = "asyncpg.Pool[asyncpg.Record]"

ACQUIRE_SECONDS = 5.0
_CLOSE_SECONDS = 5.0
# How long one of several hosts may take to answer. A machine that is gone refuses nothing: it says nothing.
_HOST_SECONDS = 2.0
# The default, 50,000, would make a busy redirect pool reconnect every few seconds.
_QUERIES_PER_CONNECTION = 10_000_000


@contextlib.asynccontextmanager
async def acquired(pool: Pool, seconds: float) -> AsyncIterator[Connection]:
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


async def close(pool: Pool) -> None:
    with contextlib.suppress(*CANNOT_CONNECT):  # the driver ends by force what does not end in time
        async with asyncio.timeout(_CLOSE_SECONDS):
            await pool.close()


async def commit(connection: Connection, failure: Exception | None) -> None:
    try:
        with translated(OutcomeUnknown):
            status = await connection.execute("COMMIT")
    except BaseException:
        _drop(connection)
        raise
    if status != "COMMIT":
        raise failure or RuntimeError("PostgreSQL undid the transaction instead of committing it.")


async def roll_back(connection: Connection) -> None:
    try:
        await connection.execute("ROLLBACK")
    except BaseException as error:
        _drop(connection)
        if not isinstance(error, Exception):
            raise


def _drop(connection: Connection) -> None:
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


async def connect(
    address: PostgresAddress, command_timeout: float | None
) -> "asyncpg.Connection[asyncpg.Record]":
    try:
        return await _connect_any(address, **address.options(command_timeout))
    except CANNOT_CONNECT as error:
        raise unavailable(Unavailable, error) from error


async def _connect_any(
    address: PostgresAddress,
    *,
    timeout: float,  # noqa: ASYNC109  the name that the driver gives it
    **options: Any,
) -> "asyncpg.Connection[asyncpg.Record]":
    """To the host that was the right one last, or the next that is.

    The driver knows of several hosts, too, but gives them one time-out together: behind a first one that is silent
    it would never ask the second.
    """
    urls = address.urls
    if len(urls) == 1:
        return await asyncpg.connect(urls[0], timeout=timeout, **options)
    last: Exception = TimeoutError("no answer")
    for host in address.turn.order(len(urls)):
        try:
            return await asyncpg.connect(urls[host], timeout=min(timeout, _HOST_SECONDS), **options)
        except CANNOT_CONNECT as error:
            last = error
            address.turn.failed(host, len(urls))
        except asyncio.CancelledError:
            # Whoever waited had no more time: the next attempt begins elsewhere.
            address.turn.failed(host, len(urls))
            raise
    raise last


async def open_pool(
    address: PostgresAddress, connections: int, command_timeout: float, idle_seconds: float
) -> Pool:
    async def connect_one(*_: object, **options: Any) -> "asyncpg.Connection[asyncpg.Record]":
        return await _connect_any(address, **options)

    try:
        pool = await asyncpg.create_pool(
            address.url,
            connect=connect_one,
            min_size=0,  # a floor would be restored in the background, with a traceback for each attempt
            max_size=connections,
            max_queries=_QUERIES_PER_CONNECTION,
            max_inactive_connection_lifetime=idle_seconds,
            init=prepare,
            reset=_keep_session,
            **address.options(command_timeout),
        )
    except CANNOT_CONNECT as error:
        raise unavailable(Unavailable, error) from error
    async with acquired(pool, ACQUIRE_SECONDS):
        return pool


async def prepare(connection: Connection) -> None:
    for name, encoder, decoder, format_ in CODECS:
        await connection.set_type_codec(
            name, schema="pg_catalog", encoder=encoder, decoder=decoder, format=format_
        )
    await connection.execute(postgres_sql.KEEP_ALIVE)


async def _keep_session(_: object) -> None:
    """Laconic sets nothing that outlives a transaction: RESET ALL would cost each look-up 130 us for nothing."""
