"""A PostgreSQL that was promoted, and a Redis whose old replica was: no code comes twice, nobody sees an error."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from laconic.codes.cursor import Cursor
from laconic.codes.rules import CustomCodeRules
from laconic.codes.shared_pool import SharedPool
from laconic.codes.store import JUMP
from laconic.links.create import LinkCreator
from laconic.links.model import LinkDraft
from laconic.links.targets import TargetRules
from laconic.storage.database import Database
from laconic.storage.engines import migrate, open_database
from laconic.storage.redis import open_redis
from tests.codes.works import Works
from tests.redis_servers import SentinelSetup, client_of, wait_until
from tests.servers import PostgresServer, RedisServer

KEY = "kgs:{default}:unused"


@contextlib.asynccontextmanager
async def creator_of(works: Works) -> AsyncIterator[LinkCreator]:
    allocator = works.allocator()
    creator = LinkCreator(
        works.database,
        allocator,
        TargetRules(own_hosts={"localhost"}),
        CustomCodeRules("^[a-zA-Z0-9]{4,8}$"),
        default_domain=lambda _: 1,
    )
    yield creator
    await creator.close()
    await allocator.close()


async def create(creator: LinkCreator, count: int) -> list[str]:
    return [
        (await creator.create(1, None, LinkDraft("https://example.com/"))).link.short_code
        for _ in range(count)
    ]


async def _promote(server: PostgresServer) -> None:
    """The server comes back as a replica that is made the primary: what happens to the one that survives."""
    server.stop()
    (server.folder / "data" / "standby.signal").touch()
    server.start()
    connection = await asyncpg.connect(server.url())
    assert await connection.fetchval("SELECT pg_promote()")
    await connection.close()


async def test_p2_promoted_server_goes_on_far_ahead() -> None:
    """Its timeline is another one: the first lease jumps, the pool is discarded, workers that live on notice too."""
    with PostgresServer() as server:
        await migrate(server.url())
        database = await open_database(server.url())
        works = await Works.open(database)
        await works.fill()
        old = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
        before = await works.store.state("default", 7)
        allocator, source = works.allocator(), works.source()
        given = set(await allocator.take(150))
        await _promote(server)
        await source.fetch(10)
        assert source.level == "cursor"
        state = await works.store.state("default", 7)
        assert (state.skipped, state.unused) == (JUMP, 0)
        assert state.next >= before.next + JUMP
        given |= set(await allocator.take(2_000))
        assert len(given) == 2_150
        await works.fill()
        assert await works.unused() >= works.pool_min_size
        new = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
        assert not new & (old | given)
        await source.fetch(10)
        assert source.level == "durable"
        # And once is enough.
        assert isinstance(works.cursor, Cursor)
        await works.cursor.check()
        assert (await works.store.state("default", 7)).skipped == JUMP
        await allocator.close()
        await database.close()


async def test_creates_from_an_old_redis_show_no_error(database: Database) -> None:
    """Its set holds nothing but codes that links have: none of them comes as far as the unique index."""
    with RedisServer() as server:
        store = open_redis(server.url())
        works = await Works.open(database, shared=SharedPool(store, "default"))
        await works.fill()
        with client_of(server) as client:
            known = client.smembers(KEY)
            async with creator_of(works) as creator:
                first = await create(creator, 400)
            used = [code for code in known if code.decode() in set(first)]
            assert len(used) > 100
            client.delete(KEY)
            client.sadd(KEY, *used)
            async with creator_of(works) as creator:
                second = await create(creator, 200)
                assert creator.conflicts == 0
            assert not set(first) & set(second)
            assert not client.smembers(KEY) & set(used)
        await store.close()


@pytest.mark.long
async def test_p2_stale_replica_is_promoted(database: Database, tmp_path: Path) -> None:
    """By Sentinels: the replica had been cut off while codes were taken, and brings them back as the new primary."""
    setup = SentinelSetup()
    with setup.running():
        store = open_redis(setup.url)
        works = await Works.open(database, shared=SharedPool(store, "default"))
        await works.fill()
        with client_of(setup.replica) as replica, client_of(setup.primary) as primary:
            wait_until(lambda: replica.scard(KEY) == primary.scard(KEY) > 0, "the replica to follow")
        setup.replica.pause()
        with client_of(setup.primary) as primary:
            # Nothing that is sent from now on may wait in a socket for the replica to wake.
            primary.execute_command("CLIENT", "KILL", "TYPE", "replica")
        async with creator_of(works) as creator:
            first = await create(creator, 300)
            setup.primary.kill()
            setup.replica.resume()
            with client_of(setup.replica) as replica:
                brought_back = {code.decode() for code in replica.smembers(KEY)} & set(first)
                second = await create(creator, 300)
                wait_until(lambda: replica.info("replication")["role"] == "master", "the promotion")
            third = await create(creator, 1_000)
        assert brought_back
        links = [*first, *second, *third]
        assert len(set(links)) == len(links) == 1_600
        await store.close()
