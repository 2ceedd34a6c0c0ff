"""Reports read a replica while it can be used, and the primary otherwise."""

import asyncio
from collections.abc import Callable

import pytest

from laconic.errors import SettingInvalid
from laconic.storage.database import Database
from laconic.storage.engines import open_database, open_replica
from laconic.storage.replica import Replica
from tests.servers import PostgresServer

_PATIENCE_SECONDS = 60.0
PORT = "SELECT inet_server_port()"


async def port_read(replica: Replica) -> int:
    return int((await replica.for_workspace(1).fetch_all(PORT))[0][0])


async def until_read(replica: Replica, is_so: Callable[[int], bool]) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while True:
            if is_so(await port_read(replica)):
                return
            await asyncio.sleep(0.02)


async def test_the_replica_is_read_and_the_primary_when_it_is_away(fresh_postgres_url: str) -> None:
    """Nobody who asks for a report sees the difference."""
    primary = await open_database(fresh_postgres_url)
    with PostgresServer() as server:
        replica = open_replica(server.url(), primary, has_owner=False)
        assert replica is not None
        await until_read(replica, lambda port: port == server.port)
        server.kill()
        assert await port_read(replica) != server.port
        server.start()
        await until_read(replica, lambda port: port == server.port)
        await replica.close()
    await primary.close()


async def test_a_replica_that_was_never_there_holds_nobody_up(fresh_postgres_url: str) -> None:
    """The primary answers until it comes."""
    primary = await open_database(fresh_postgres_url)
    replica = open_replica("postgresql://postgres@127.0.0.1:1/postgres", primary, has_owner=False)
    assert replica is not None
    assert await port_read(replica) > 1
    await replica.close()
    await primary.close()


async def test_only_postgresql_has_replicas(database: Database) -> None:
    """A file has none, and a setting that does nothing would be believed."""
    with pytest.raises(SettingInvalid):
        open_replica("sqlite:///data/laconic.db", database, has_owner=False)
    assert open_replica("", database, has_owner=False) is None
