"""The pool in Redis: taken from first, never needed, never the referee."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from laconic.codes.shared_pool import SharedPool
from laconic.storage.database import Database
from laconic.storage.redis import RedisStore, open_redis
from tests.codes.works import Works
from tests.redis_servers import client_of
from tests.servers import RedisServer


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
async def store(redis_server: RedisServer) -> AsyncIterator[RedisStore]:
    store = open_redis(redis_server.url())
    yield store
    await store.close()


@pytest.fixture
async def works(database: Database, store: RedisStore) -> Works:
    return await Works.open(database, shared=SharedPool(store, "default"))


async def test_half_of_the_pool_stands_in_redis(works: Works) -> None:
    """And a worker takes from there first, in blocks that leave enough for the others."""
    await works.fill()
    assert works.shared is not None
    in_redis = await works.shared.size()
    assert in_redis is not None
    assert 950 <= in_redis <= 1_000
    assert 2_000 <= in_redis + await works.unused() < 2_100
    source = works.source()
    block = await source.fetch(1_000)
    assert (source.level, len(block)) == ("shared", 100)
    assert await works.shared.size() == in_redis - 100


async def test_p2_codes_in_redis_are_nobody_elses(works: Works) -> None:
    """What went to Redis has left the table."""
    await works.fill()
    assert works.shared is not None
    popped = await works.shared.pop(10_000)
    reserved = await works.store.reserve("default", 7, 10_000, "worker:a/1", pivot="A")
    assert popped
    assert reserved
    assert not set(popped) & set(reserved)


async def test_pool_is_rebuilt_when_redis_was_flushed(works: Works, redis_server: RedisServer) -> None:
    """Creates go on from the table meanwhile; none of the lost codes comes again."""
    await works.fill()
    source, client = works.source(), client_of(redis_server)
    lost = {code.decode() for code in client.smembers("kgs:{default}:unused")}
    client.flushall()
    block = await source.fetch(100)
    assert (source.level, len(block)) == ("durable", 100)
    await works.fill()
    block = await source.fetch(100)
    assert (source.level, len(block)) == ("shared", 100)
    assert not lost & {code.decode() for code in client.smembers("kgs:{default}:unused")}
    client.close()


async def test_creates_go_on_without_redis(works: Works, redis_server: RedisServer) -> None:
    """Killed: the table answers, and the filler keeps the whole pool there. Back: it is used again by itself."""
    await works.fill()
    source = works.source()
    await source.fetch(100)
    redis_server.kill()
    for _ in range(3):
        assert len(await source.fetch(100)) == 100
        assert source.level == "durable"
    await works.fill()
    assert await works.unused() > 1_800
    redis_server.start()
    assert works.shared is not None
    for _ in range(600):
        if await works.shared.size() is not None:
            break
        await asyncio.sleep(0.05)
    await works.fill()
    await source.fetch(100)
    assert source.level == "shared"
    assert source.steps_down == 1


async def test_old_set_that_comes_back_is_given_up(works: Works) -> None:
    """A stale replica was promoted and holds codes that are in use: after a few refusals the set is thrown away,
    and no replacement comes from it."""
    await works.fill()
    assert works.shared is not None
    popped = await works.shared.pop(100)
    allocator = works.allocator()
    await works.shared.clear()
    await works.shared.add(popped)
    again = set()
    for _ in range(5):
        again.update(await allocator.take())
        await allocator.refused()
        assert not set(await allocator.replace(2)) & set(popped)
    assert again < set(popped)
    assert await works.shared.size() == 0
    assert not set(await allocator.take(100)) & set(popped)
    assert allocator.conflicts == 5
    await allocator.close()
