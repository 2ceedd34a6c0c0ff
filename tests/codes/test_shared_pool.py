"""The pool in Redis: asked first, never needed, never believed. What the table does not confirm is nobody's."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from laconic.clock import DAY, now
from laconic.codes.high_water import HighWater
from laconic.codes.shared_pool import SharedPool
from laconic.codes.watch import PoolWatch
from laconic.errors import Unavailable
from laconic.storage import redis
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
async def store(redis_server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[RedisStore]:
    """Patient: on a busy machine 50 ms pass, and what is told here is not what happens then."""
    monkeypatch.setattr(redis, "_SECONDS", 5.0)
    store = open_redis(redis_server.url())
    yield store
    await store.close()


@pytest.fixture
async def works(database: Database, store: RedisStore) -> Works:
    return await Works.open(database, shared=SharedPool(store, "default"))


async def pop(works: Works, count: int) -> list[str]:
    assert works.shared is not None
    return await works.shared.pop(count)


async def size(works: Works) -> int:
    assert works.shared is not None
    found = await works.shared.size()
    assert found is not None
    return found


async def put_back(works: Works, codes: list[str]) -> None:
    """As an old replica does that was promoted: its set is all there is."""
    assert works.shared is not None
    await works.shared.clear()
    await works.shared.add(codes)


async def report(works: Works, store: RedisStore) -> dict[str, Any]:
    allocator = works.allocator()
    watch = PoolWatch(works.store, works.maker, allocator, store, min_size=works.pool_min_size)
    return await watch.report()


async def test_half_of_the_pool_is_offered_in_redis(works: Works) -> None:
    """And a worker takes from there first, in blocks that leave enough for the others. The rows go when it does."""
    await works.fill()
    offered, unused = await size(works), await works.unused()
    assert 950 <= offered <= 1_000
    assert 2_000 <= unused < 2_100
    source = works.source()
    block = await source.fetch(1_000)
    assert (source.level, len(block)) == ("shared", 100)
    assert await size(works) == offered - 100
    assert await works.unused() == unused - 100
    assert await works.rows("reserved") == 0


async def test_codes_are_counted_once(works: Works, store: RedisStore) -> None:
    """Those in Redis are a part of the pool, and say so in the figures by tier; what Redis invents does not count."""
    await works.fill()
    before = await report(works, store)
    (region,) = before["regions"]
    assert before["pool_size"] == await works.unused() == region["durable"] + region["shared"]
    assert region["shared"] == await size(works)
    await works.shared_source().fetch(100)
    after = await report(works, store)
    assert after["pool_size"] == before["pool_size"] - 100
    await put_back(works, [f"old{number:04}" for number in range(5_000)])
    (region,) = (await report(works, store))["regions"]
    assert (region["durable"], region["shared"]) == (0, after["pool_size"])


async def test_p2_who_takes_from_redis_and_who_takes_from_the_table_never_meet(works: Works) -> None:
    """Both take the same rows, at the same moment; each row goes to one of them."""
    await works.fill()
    shared = [works.shared_source() for _ in range(4)]
    blocks, reserved = await asyncio.gather(
        asyncio.gather(*(source.fetch(100) for _ in range(3) for source in shared)),
        asyncio.gather(*(reserve(works, 100, f"worker:{number}/1") for number in range(10))),
    )
    codes = [code for block in blocks for code in block.cut(1_000)]
    codes += [code for some in reserved for code in some]
    assert len(codes) == len(set(codes)) > 1_000
    await works.unused()


async def reserve(works: Works, count: int, holder: str = "worker:a/1") -> list[str]:
    return await works.cursor.reserve(count, holder)


async def test_pool_is_offered_anew_when_redis_was_flushed(works: Works, redis_server: RedisServer) -> None:
    """Creates go on from the table meanwhile, and nothing is lost: the rows were there all the time."""
    await works.fill()
    unused = await works.unused()
    assert unused >= 2_000
    source, client = works.source(), client_of(redis_server)
    client.flushall()
    client.close()
    block = await source.fetch(100)
    assert (source.level, len(block)) == ("durable", 100)
    assert await works.unused() == unused - 100
    await works.fill()
    block = await source.fetch(100)
    assert (source.level, len(block)) == ("shared", 100)


async def test_answer_that_is_lost_burns_nothing(works: Works) -> None:
    """A worker that dies between Redis and the table has taken nothing; the codes are offered again some day."""
    await works.fill()
    unused = await works.unused()
    lost = await pop(works, 10_000)
    assert await works.unused() == unused
    everything = await reserve(works, 10_000)
    assert set(lost) < set(everything)


async def test_offered_codes_do_not_grow_old(works: Works) -> None:
    """On a quiet site they stand in Redis for months; the sweep of blocks and keys leaves them alone."""
    await works.fill()
    await works.database.execute("UPDATE kgs_keys SET created_at = $1", now() - 400 * DAY)
    offered = await size(works)
    filler = works.filler()
    await filler.run_to_rest()
    assert filler.dropped == 0
    assert await size(works) == offered
    assert len(await works.shared_source().fetch(100)) == 100


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


async def test_a_small_gap_in_redis_is_offered_again(works: Works) -> None:
    """A fiftieth of the pool is worth the way, less is not."""
    works.pool_min_size = 2_040
    await works.fill()
    missing = works.pool_min_size // 2 - await size(works)
    await pop(works, 39 - missing)
    await works.fill()
    assert works.pool_min_size // 2 - await size(works) == 39
    await pop(works, 1)
    await works.fill()
    # Pages are drawn at random, so that a few may be left for the next time.
    assert works.pool_min_size // 2 - await size(works) < 39


async def test_p2_old_set_that_comes_back_gives_nothing(
    works: Works, caplog: pytest.LogCaptureFixture
) -> None:
    """A stale replica was promoted and holds codes that were taken: the same fetch goes on to the table, the set is
    thrown away, and that is told once, however often it happens in a row."""
    caplog.set_level("WARNING", "laconic.codes")
    await works.fill()
    shared, taken = works.shared_source(), []
    for _ in range(3):
        taken += (await shared.fetch(100)).cut(1_000)
    source = works.source(shared)
    for start in (0, 100, 200):
        await put_back(works, taken[start : start + 100])
        block = await source.fetch(100)
        assert (source.level, len(block)) == ("durable", 100)
        assert not set(block.cut(1_000)) & set(taken)
        assert await size(works) == 0
    assert shared.cleared == 3
    told = [record.getMessage() for record in caplog.records]
    assert told == ["Redis offered 100 codes that are gone from the pool; its set is made anew"]
    await works.fill()
    assert len(await source.fetch(100)) == 100
    assert source.level == "shared"


async def test_few_old_codes_among_many_good_ones_are_left_out(works: Works) -> None:
    """A program took some of the codes that were offered: the rest of the block is good, and the set is kept."""
    await works.fill()
    block = await pop(works, 100)
    gone = await works.cursor.claim(block[:30])
    assert sorted(gone) == sorted(block[:30])
    await put_back(works, block)
    source = works.shared_source()
    assert sorted((await source.fetch(100)).cut(1_000)) == sorted(block[30:])
    assert source.cleared == 0


async def test_p2_old_set_and_a_restored_database_give_nothing(works: Works, tmp_path: Path) -> None:
    """The rows are back as well, unused: they are refused until they are discarded, and are gone from then on."""
    works = await Works.open(works.database, shared=works.shared, high_water=HighWater(tmp_path / "mark"))
    await works.fill()
    before = await works.store.state("default", 7)
    rows = await works.database.fetch_all("SELECT short_code FROM kgs_keys")
    taken = (await works.shared_source().fetch(100)).cut(1_000)
    await works.cursor.lease(10)
    # As the backup has it, and the old Redis.
    await works.database.insert_many(
        "kgs_keys", ("short_code", "region", "created_at"), [(code, "default", 0) for code in taken]
    )
    await works.database.execute("UPDATE kgs_range SET next = $1, taken = $2", before.next, before.taken)
    await put_back(works, taken)
    with pytest.raises(Unavailable):
        await works.shared_source().fetch(100)
    await put_back(works, taken)
    source = works.source()
    given = (await source.fetch(100)).cut(1_000)
    assert source.level == "cursor"
    await works.filler().run_to_rest()
    await put_back(works, taken)
    given += (await source.fetch(100)).cut(1_000)
    assert source.level == "durable"
    assert not set(given) & {row[0] for row in rows}


async def test_p2_old_set_of_another_code_length_gives_nothing(works: Works) -> None:
    """LACONIC_CODE_LENGTH was raised while Redis was full."""
    await works.fill()
    longer = await Works.open(works.database, length=8, shared=works.shared)
    source = longer.source()
    codes = (await source.fetch(100)).cut(1_000)
    await longer.fill()
    codes += (await source.fetch(100)).cut(1_000)
    await longer.fill()
    codes += (await source.fetch(100)).cut(1_000)
    assert source.level == "shared"
    assert {len(code) for code in codes} == {8}
