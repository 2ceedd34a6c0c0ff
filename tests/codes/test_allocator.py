"""Codes out of leased blocks: none twice, whatever fails on the way."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from laconic.codes.allocator import CodeAllocator
from laconic.codes.alphabet import decode, encode
from laconic.codes.cursor import Cursor as DatabaseCursor
from laconic.codes.maker import CodeMaker
from laconic.codes.permutation import SECRET_BYTES
from laconic.codes.rules import is_reserved
from laconic.codes.sources import CursorSource
from laconic.codes.store import CodeStore
from laconic.codes.unwanted import is_wanted
from laconic.errors import Unavailable
from laconic.storage.database import Database

MAKER = CodeMaker(bytes(SECRET_BYTES), 7)
PERMUTATION = MAKER.permutation
# The word whose counter the tests about reserved words start from: seven characters, as codes are.
WORD = "support"


class Cursor:
    """The database's cursor as the allocator sees it, with what a test wants to go wrong."""

    def __init__(self, start: int = 0) -> None:
        self.next = start
        self.leases: list[int] = []
        self.failures = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def lease(self, count: int) -> range:
        self.leases.append(count)
        await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise Unavailable("the database is away")
        self.next += count
        return range(self.next - count, self.next)


@pytest.fixture
def cursor() -> Cursor:
    return Cursor()


@pytest.fixture
async def allocator(cursor: Cursor) -> AsyncIterator[CodeAllocator]:
    allocator = CodeAllocator(CursorSource(cursor.lease, MAKER))
    yield allocator
    await allocator.close()


async def settle() -> None:
    """Lets every task that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_codes_are_the_permuted_counters(allocator: CodeAllocator) -> None:
    """In the order of the cursor, over the border of a block too."""
    codes = [(await allocator.take())[0] for _ in range(1_500)]
    assert codes == MAKER.make(range(2_000))[:1_500]


async def test_p2_concurrent_takers_never_share_a_code(allocator: CodeAllocator) -> None:
    """Singles and handfuls at once, over many blocks."""
    taken = await asyncio.gather(*(allocator.take(1 + number % 50) for number in range(500)))
    codes = [code for some in taken for code in some]
    assert [len(some) for some in taken] == [1 + number % 50 for number in range(500)]
    assert len(set(codes)) == len(codes) == 12_750


async def test_take_gives_as_many_as_asked_for(allocator: CodeAllocator) -> None:
    """More than a block holds, and none."""
    assert await allocator.take(0) == []
    assert len(set(await allocator.take(10_000))) == 10_000


async def test_replacements_come_from_the_fresh_source(allocator: CodeAllocator, cursor: Cursor) -> None:
    """As many as asked for, a few and many, none twice and none that the block has."""
    fresh = Cursor(start=50_000)
    allocator = CodeAllocator(CursorSource(cursor.lease, MAKER), CursorSource(fresh.lease, MAKER))
    given = [await allocator.replace(count) for count in (1, 2, 700, 700)]
    codes = [code for some in given for code in some]
    assert [len(some) for some in given] == [1, 2, 700, 700]
    assert codes == MAKER.make(range(50_000, 52_000))[:1_403]
    assert (fresh.leases, cursor.leases) == ([1_000, 1_000], [])


async def test_refused_codes_are_counted(allocator: CodeAllocator) -> None:
    """Custom codes that were there first: the rate of conflicts is watched."""
    assert allocator.conflicts == 0
    allocator.refused()
    assert allocator.conflicts == 1


async def test_next_block_is_leased_ahead(allocator: CodeAllocator, cursor: Cursor) -> None:
    """Half a block before it is needed, so that no create waits for the database."""
    await allocator.take(400)
    assert cursor.leases == [1_000]
    await allocator.take(200)
    await settle()
    assert len(cursor.leases) == 2
    cursor.gate.clear()
    await asyncio.wait_for(allocator.take(1_300), 10)


async def test_blocks_grow_when_they_come_too_late(allocator: CodeAllocator, cursor: Cursor) -> None:
    """Whoever had to wait asks for twice as many the next time, up to a bound."""
    for _ in range(12):
        await allocator.take(len(allocator) or 1)
        cursor.gate.clear()
        waiting = asyncio.create_task(allocator.take(1))
        await settle()
        cursor.gate.set()
        await waiting
    assert cursor.leases == sorted(cursor.leases)
    assert max(cursor.leases) == 64_000


async def test_failed_lease_is_told_and_the_next_take_tries_again(
    allocator: CodeAllocator, cursor: Cursor
) -> None:
    """Nothing is remembered of a failure but that it was one."""
    cursor.failures = 2
    for _ in range(2):
        with pytest.raises(Unavailable):
            await allocator.take()
    assert len(await allocator.take(5)) == 5


async def test_failure_of_long_ago_is_nobodys_problem(allocator: CodeAllocator, cursor: Cursor) -> None:
    """When leasing ahead has failed, the take that needs the block asks again instead of telling of it."""
    await allocator.take(400)
    cursor.failures = 1
    await allocator.take(200)
    await settle()
    assert cursor.failures == 0
    assert len(set(await allocator.take(600))) == 600


async def test_many_takers_of_an_empty_block_lease_once(allocator: CodeAllocator, cursor: Cursor) -> None:
    """A hundred creates at once are no reason for a hundred blocks."""
    cursor.gate.clear()
    waiting = [asyncio.create_task(allocator.take()) for _ in range(100)]
    await settle()
    cursor.gate.set()
    codes = [code for some in await asyncio.gather(*waiting) for code in some]
    assert cursor.leases == [1_000]
    assert len(set(codes)) == 100


async def test_taker_that_goes_away_takes_nothing_from_the_others(
    allocator: CodeAllocator, cursor: Cursor
) -> None:
    """A cancelled create leaves an allocator that works, and no code twice."""
    cursor.gate.clear()
    waiting = [asyncio.create_task(allocator.take()) for _ in range(10)]
    await settle()
    waiting[0].cancel()
    waiting[5].cancel()
    await settle()
    cursor.gate.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    codes = [code for some in outcomes if isinstance(some, list) for code in some]
    assert len(set(codes)) == len(codes) == 8


async def test_reserved_words_are_skipped() -> None:
    """A generated code is never a word that people expect a page behind."""
    assert is_reserved(WORD)
    counter = PERMUTATION.invert(decode(WORD))
    allocator = CodeAllocator(CursorSource(Cursor(counter - 1).lease, MAKER))
    codes = await allocator.take(3)
    around = [encode(PERMUTATION(number), 7) for number in range(counter - 1, counter + 10)]
    assert WORD in around
    assert codes == [code for code in around if is_wanted(code)][:3]
    await allocator.close()


async def test_exhausted_cursor_is_unavailable(database: Database) -> None:
    """Rather than codes that were given before: the message says what to do."""
    store = CodeStore(database)
    await store.lease("default", 7, PERMUTATION.size - 1_500)
    allocator = CodeAllocator(CursorSource(DatabaseCursor(store, MAKER).lease, MAKER))
    assert len(set(await allocator.take(900))) == 900
    for _ in range(2):
        with pytest.raises(Unavailable, match="LACONIC_CODE_LENGTH"):
            await allocator.take(900)
    await allocator.close()


# With a real cursor, on every engine.


def cursor_of(
    database: Database, region: str = "default", length: int = 7
) -> Callable[[int], Awaitable[range]]:
    maker = CodeMaker(bytes(SECRET_BYTES), length, region=region)
    return DatabaseCursor(CodeStore(database), maker).lease


async def test_p2_two_allocators_on_one_database_never_meet(database: Database) -> None:
    """As two workers have them."""
    workers = [CodeAllocator(CursorSource(cursor_of(database), MAKER)) for _ in range(3)]
    taken = await asyncio.gather(*(worker.take(40) for _ in range(100) for worker in workers))
    codes = [code for some in taken for code in some]
    assert len(set(codes)) == len(codes) == 12_000
    for worker in workers:
        await worker.close()


async def test_leases_do_not_overlap(database: Database) -> None:
    """However many ask at once, in one region and length; others have a row of their own."""
    lease = cursor_of(database)
    ranges = await asyncio.gather(*(lease(count) for count in range(1, 30)))
    counters = [counter for some in ranges for counter in some]
    assert sorted(counters) == list(range(sum(range(1, 30))))
    assert await cursor_of(database, region="other")(5) == range(5)
    assert await cursor_of(database, length=8)(5) == range(5)


async def test_secret_is_made_once(database: Database) -> None:
    """Whoever starts first; every process of the installation has the same."""
    made = await asyncio.gather(*(CodeStore(database).permutation_secret() for _ in range(5)))
    assert len(set(made)) == 1
    assert len(made[0]) == SECRET_BYTES
