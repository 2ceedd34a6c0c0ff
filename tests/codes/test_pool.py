"""The durable pool: filled ahead of need, by one filler, and taken from in blocks."""

import asyncio
from collections import Counter
from collections.abc import Sequence

import pytest

from laconic import clock
from laconic.clock import HOUR, now
from laconic.codes import pool, sources
from laconic.codes.pool import KEEP_KEYS
from laconic.codes.sources import largest_pooled_block
from laconic.codes.store import JUMP, Fence
from laconic.codes.unwanted import is_wanted
from laconic.errors import LeaseLost, Unavailable
from laconic.storage.database import Database
from laconic.upkeep.lease import Lease
from tests.codes.works import FreeLease, Works


@pytest.fixture
async def works(database: Database) -> Works:
    return await Works.open(database)


async def _reserve(works: Works, count: int, holder: str = "worker:a/1") -> list[str]:
    return await works.cursor.reserve(count, holder)


async def test_filler_keeps_the_pool_full(works: Works) -> None:
    """Up to the minimum and hardly more; then it rests."""
    filler = await works.fill()
    assert works.pool_min_size <= await works.unused() < works.pool_min_size + 100
    made = filler.made
    assert made == await works.unused()
    for _ in range(3):
        assert await filler.step() > 0
    assert filler.made == made


async def test_one_step_makes_one_batch_at_most(works: Works) -> None:
    """However much is missing: other work of the process gets its turn."""
    filler = works.filler(batch_size=100)
    await filler.step()
    for steps in range(1, 4):
        await filler.step()
        assert 0 < await works.unused() <= 100 * steps


async def test_a_batch_is_put_in_small_transactions_where_creates_wait_for_them(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQLite: there is one writer. Each holds neighbours, so that it writes to few pages."""
    sizes: list[int] = []
    in_order: list[str] = []
    put = works.store.put

    async def measured(region: str, length: int, codes: Sequence[str], fence: Fence) -> None:
        sizes.append(len(codes))
        in_order.extend(codes)
        await put(region, length, codes, fence)

    filler = works.filler()
    await filler.step()
    monkeypatch.setattr(works.store, "put", measured)
    made = await filler.fill(5_000)
    assert sum(sizes) == made == await works.unused()
    most = 2_000 if works.store.has_row_locks else 250
    assert {*sizes[:-1]} == {most}
    assert sizes[-1] <= most
    assert in_order == sorted(in_order)


async def test_pool_below_the_low_water_mark_is_filled_at_once(works: Works) -> None:
    """A little that is missing waits for the next look; much does not."""
    filler = await works.fill()
    await _reserve(works, 200)
    assert await filler.step() > 0
    await _reserve(works, 900)
    assert await filler.step() == 0
    assert await works.unused() > 1_200


async def test_codes_in_the_pool_are_wanted_ones(works: Works) -> None:
    """Words and look-alikes are left out when the pool is filled."""
    await works.fill()
    rows = await works.database.fetch_all("SELECT short_code FROM kgs_keys")
    assert all(is_wanted(row[0]) for row in rows)
    assert (await works.store.state("default", 7)).next > len(rows)


async def test_p2_nobody_gets_a_code_twice(works: Works) -> None:
    """Takers at the same moment, and fillers too."""
    await works.fill()
    blocks = await asyncio.gather(
        *(_reserve(works, 150, f"worker:{number}/1") for number in range(20)), works.filler().step()
    )
    codes = [code for block in blocks if isinstance(block, list) for code in block]
    assert len(codes) == len(set(codes)) > 1_500
    assert await works.rows("reserved") == len(codes)


async def test_reserved_codes_say_whose_they_are(works: Works) -> None:
    """Since when, and by whom they are held."""
    await works.fill()
    before = now()
    codes = await _reserve(works, 10, "worker:host:1/7")
    rows = await works.database.fetch_all(
        "SELECT short_code, allocated_to_service, allocated_at FROM kgs_keys WHERE status = 'reserved'"
    )
    assert {row[0] for row in rows} == set(codes)
    assert all(row[1] == "worker:host:1/7" and before <= row[2] <= now() for row in rows)


async def test_takers_begin_anywhere(works: Works) -> None:
    """What is taken says nothing about what is taken next, and the pool is not eaten up from one end."""
    await works.fill()
    firsts = [(await _reserve(works, 1))[0][0] for _ in range(60)]
    assert len(set(firsts)) > 20


async def test_taking_goes_round(works: Works) -> None:
    """From the end of the pool to its beginning: whoever asks for more than there is gets all of it."""
    await works.fill()
    everything = await works.unused()
    assert len(set(await _reserve(works, 10_000))) == everything
    assert await _reserve(works, 10) == []
    assert await works.unused() == 0


async def test_blocks_leave_when_they_are_used_up(works: Works) -> None:
    """So the table is the pool and two blocks a worker, however many links there are."""
    await works.fill()
    source = works.source()
    filler = works.filler()
    for _ in range(60):
        assert len(await source.fetch(1_000)) == 100
        await filler.step()
    assert source.taken["durable"] == 6_000
    assert await works.rows("reserved") == 200


@pytest.mark.parametrize(("pool_size", "block"), [(0, 50), (1_019, 50), (1_020, 51), (100_000, 5_000)])
def test_a_block_is_a_twentieth_of_the_pool(pool_size: int, block: int) -> None:
    """Workers must not empty a small pool between them; fewer than fifty would not be worth the way."""
    assert largest_pooled_block(pool_size) == block


async def test_a_large_block_is_reserved_in_pieces(works: Works, monkeypatch: pytest.MonkeyPatch) -> None:
    """Creates of SQLite wait for one piece at most; pieces of the block before the last go with those of the next."""
    for name in ("_RESERVED_AT_A_TIME", "_RESERVED_BESIDE_CREATES"):
        monkeypatch.setattr(sources, name, 30)
    await works.fill()
    source = works.source()
    codes: list[str] = []
    for _ in range(4):
        block = await source.fetch(100)
        assert len(block) == 100
        codes += block.cut(100)
        assert await works.rows("reserved") <= 200
    assert len(set(codes)) == 400
    rows = await works.database.fetch_all(
        "SELECT allocated_to_service, count(*) FROM kgs_keys WHERE status = 'reserved' GROUP BY 1"
    )
    assert sorted(row[1] for row in rows) == [10, 10, 30, 30, 30, 30, 30, 30]


async def test_blocks_of_dead_workers_are_burnt(works: Works) -> None:
    """They leave after an hour and are given to nobody; a program's keys stay for a month; used ones go at once."""
    filler = await works.fill()
    old, kept, forgotten, used = [
        await _reserve(works, 10, holder) for holder in ("worker:dead/1", "key:1", "key:2", "key:3")
    ]

    async def set_(codes: list[str], change: str, value: object) -> None:
        for code in codes:
            await works.database.execute(f"UPDATE kgs_keys SET {change} WHERE short_code = $2", value, code)

    await set_(old, "allocated_at = $1", now() - 2 * HOUR)
    await set_(kept, "allocated_at = $1", now() - 2 * HOUR)
    await set_(forgotten, "allocated_at = $1", now() - KEEP_KEYS - HOUR)
    await set_(used, "status = 'used', allocated_to_url_id = $1", 5)
    filler = works.filler()
    await filler.run_to_rest()
    rows = await works.database.fetch_all("SELECT short_code FROM kgs_keys WHERE status <> 'unused'")
    assert {row[0] for row in rows} == set(kept)
    assert filler.dropped == 30
    assert not set(old) & set(await _reserve(works, 10_000))


async def test_finished_rows_are_swept_until_few_are_left(
    works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bounded number in each step, then every ten seconds: the table is not searched all the time."""
    seconds = 1_000.0
    monkeypatch.setattr(clock, "monotonic", lambda: seconds)
    monkeypatch.setattr(pool, "_SWEEP_ROWS", 10)
    filler = await works.fill()

    async def finish(count: int) -> None:
        codes = await works.store.unused_page("default", "", count)
        for code in codes:
            await works.database.execute("UPDATE kgs_keys SET status = 'used' WHERE short_code = $1", code)
        await works.database.execute("UPDATE kgs_range SET taken = taken + $1", count)

    await finish(20)
    seconds += 10
    for dropped in (10, 20, 20):
        await filler.step()
        assert filler.dropped == dropped
    await finish(3)
    seconds += 9
    await filler.step()
    assert filler.dropped == 20
    seconds += 1
    await filler.step()
    assert filler.dropped == 23


async def test_late_filler_adds_nothing(works: Works) -> None:
    """It was stopped past its lease while it held a batch; another fills by now."""
    late = Lease(works.database, "codes")
    filler = works.filler(late)
    await filler.run_to_rest()
    await works.database.execute("UPDATE job_lease SET expires_at = $1", 0)
    next_lease = Lease(works.database, "codes")
    assert await next_lease.hold()
    before = await works.unused()
    with pytest.raises(LeaseLost):
        await filler.fill(100)
    assert await works.unused() == before
    assert await filler.step() > 0
    assert await works.unused() == before


async def test_who_has_no_lease_does_nothing(works: Works) -> None:
    """Two upkeep processes, one filler."""
    holder = Lease(works.database, "codes")
    await holder.hold()
    assert await works.filler(Lease(works.database, "codes")).step() > 0
    assert (await works.store.state("default", 7)).pooled == 0


async def test_new_filler_counts_anew(works: Works) -> None:
    """Should the counters ever be wrong, a new holder of the lease puts them right."""
    await works.fill()
    await works.database.execute("DELETE FROM kgs_keys WHERE short_code < $1", "U")
    await works.fill()
    assert works.pool_min_size <= await works.unused() < works.pool_min_size + 100


async def test_another_code_length_discards_the_old_codes(database: Database) -> None:
    """Whoever sets LACONIC_CODE_LENGTH gets codes of that length at once."""
    await (await Works.open(database, length=6)).fill()
    works = await Works.open(database, length=7)
    source = works.source()
    assert len(await source.fetch(100)) == 100
    assert source.level == "cursor"
    await works.fill()
    rows = await database.fetch_all("SELECT length(short_code), count(*) FROM kgs_keys GROUP BY 1")
    assert [row[0] for row in rows] == [7]
    assert rows[0][1] == await works.unused()


async def test_pool_of_another_database_is_not_touched(works: Works) -> None:
    """Nobody takes from a pool that must be discarded, and nobody fills it, until it is empty."""
    await works.fill()
    place = (await works.store.state("default", 7)).next
    assert await works.store.jump("default", 7) == place + JUMP
    with pytest.raises(Unavailable):
        await _reserve(works, 10)
    with pytest.raises(Unavailable):
        await works.store.put("default", 7, ["abcdefg"], FreeLease().fence)
    old = {row[0] for row in await works.database.fetch_all("SELECT short_code FROM kgs_keys")}
    await works.fill()
    new = {row[0] for row in await works.database.fetch_all("SELECT short_code FROM kgs_keys")}
    assert not old & new
    assert len(new) == await works.unused()


async def test_worker_steps_down_and_up_again(works: Works, caplog: pytest.LogCaptureFixture) -> None:
    """Empty pool: made on the fly. Filled pool: back, without being told. Each step down counts and is told once."""
    caplog.set_level("WARNING", "laconic.codes")
    source = works.source()
    seen: Counter[str] = Counter()
    for filled in (False, False, True, True, False, False, True):
        if filled:
            await works.fill()
        else:
            await works.database.execute("DELETE FROM kgs_keys")
        await source.fetch(10)
        seen[source.level] += 1
    assert seen == {"cursor": 4, "durable": 3}
    assert source.steps_down == 1
    assert source.taken == {"cursor": 40, "durable": 30}
    assert [record.getMessage() for record in caplog.records] == [
        "codes come from cursor instead of durable: empty"
    ]


async def test_p2_allocators_and_fillers_at_once(works: Works) -> None:
    """Workers that outrun the filler take from the pool and from the cursor by turns; no code comes twice."""
    allocators = [works.allocator() for _ in range(6)]
    filling = asyncio.create_task(works.filler().run(stopping := asyncio.Event()))
    taken = await asyncio.gather(*(allocator.take(37) for _ in range(60) for allocator in allocators))
    stopping.set()
    await filling
    codes = [code for some in taken for code in some]
    assert len(codes) == len(set(codes)) == 6 * 60 * 37
    for allocator in allocators:
        await allocator.close()
