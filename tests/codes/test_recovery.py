"""A database that has forgotten leases, after a restore or a failover, never gives a code again."""

import asyncio
import shutil
from pathlib import Path

import pytest

from laconic.codes.high_water import HighWater
from laconic.codes.store import JUMP
from laconic.errors import Unavailable
from laconic.storage.database import Database
from laconic.storage.engines import migrate, open_database
from tests.codes.works import Works


async def _go_back(database: Database, counter: int) -> None:
    """As a restored backup has it."""
    await database.execute("UPDATE kgs_range SET next = $1", counter)


async def test_p2_cursor_below_the_high_water_mark_jumps(database: Database, tmp_path: Path) -> None:
    """The file beside the data remembers what the restored database does not; the old pool is discarded."""
    mark = HighWater(tmp_path / "mark")
    works = await Works.open(database, high_water=mark)
    await works.fill()
    backup = (await works.store.state("default", 7)).next
    old = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
    given = set(await works.allocator().take(5_000))
    assert mark.read() > backup
    await _go_back(database, backup)
    again = await Works.open(database, high_water=mark)
    more = set(await again.allocator().take(5_000))
    await again.fill()
    more |= set(await again.allocator().take(3_000))
    assert not more & (given | old)
    state = await works.store.state("default", 7)
    assert state.next > JUMP
    assert JUMP <= state.skipped < 2 * JUMP


async def test_p2_pool_of_a_restored_database_gives_nothing(database: Database, tmp_path: Path) -> None:
    """Its unused codes may have been used after the backup: they are refused before anybody has leased."""
    mark = HighWater(tmp_path / "mark")
    works = await Works.open(database, high_water=mark)
    await works.fill()
    mark.raise_to((await works.store.state("default", 7)).next + 1)
    source = works.source()
    await source.fetch(10)
    assert source.level == "cursor"
    assert (await works.store.state("default", 7)).next > JUMP
    assert await works.rows("reserved") == 0


async def test_p2_what_was_taken_from_the_pool_is_remembered(database: Database, tmp_path: Path) -> None:
    """The last thing before the disk was put back: a block out of the pool, and no counter was leased after it."""
    works = await Works.open(database, high_water=HighWater(tmp_path / "mark"))
    await works.fill()
    backup = await works.store.state("default", 7)
    first = works.source()
    given = (await first.fetch(100)).cut(1_000)
    assert first.level == "durable"
    await database.execute("UPDATE kgs_keys SET status = 'unused', allocated_at = NULL")
    await database.execute("UPDATE kgs_range SET next = $1, taken = $2", backup.next, backup.taken)
    again = works.source()
    more = (await again.fetch(100)).cut(1_000)
    assert again.level == "cursor"
    await works.fill()
    more += (await again.fetch(2_000)).cut(10_000)
    assert again.level == "durable"
    assert not set(given) & set(more)


async def test_filler_that_notices_a_restore_adds_nothing(database: Database, tmp_path: Path) -> None:
    """Its step ends there: what is in the pool must be discarded before anything is added."""
    works = await Works.open(database, high_water=HighWater(tmp_path / "mark"))
    filler = await works.fill()
    made = filler.made
    HighWater(tmp_path / "mark").raise_to(1_000_000)
    assert await filler.fill(100) == 0
    assert filler.made == made
    assert await filler.fill(0) == 0


async def test_start_notices_a_restore(database: Database, tmp_path: Path) -> None:
    """Before anything is given out."""
    works = await Works.open(database, high_water=HighWater(tmp_path / "mark"))
    await works.cursor.lease(10)
    await works.cursor.check()
    assert works.cursor.jumps == 0
    await _go_back(database, 5)
    await works.cursor.check()
    await works.cursor.check()
    assert works.cursor.jumps == 1


async def test_cursor_jumps_once(database: Database, tmp_path: Path) -> None:
    """Whoever comes next finds a cursor beyond the mark."""
    mark = HighWater(tmp_path / "mark")
    mark.raise_to(5_000)
    works = await Works.open(database, high_water=mark)
    leases = [await works.cursor.lease(100) for _ in range(3)]
    assert leases == [
        range(5_000 + JUMP, 5_100 + JUMP),
        range(5_100 + JUMP, 5_200 + JUMP),
        range(5_200 + JUMP, 5_300 + JUMP),
    ]


async def test_cursors_of_one_machine_are_no_restore(database: Database, tmp_path: Path) -> None:
    """Processes that lease at the same moment write the mark in another order than the database saw them."""
    works = [await Works.open(database, high_water=HighWater(tmp_path / "mark")) for _ in range(4)]
    await asyncio.gather(*(one.cursor.lease(10) for _ in range(50) for one in works))
    state = await works[0].store.state("default", 7)
    assert (state.next, state.skipped) == (2_000, 0)
    assert HighWater(tmp_path / "mark").read() == 2_000


@pytest.mark.parametrize("content", [b"", b"nonsense", b"12x"])
def test_mark_that_cannot_be_read_is_none(tmp_path: Path, content: bytes) -> None:
    """It is a witness more, not a condition; the next lease writes it anew."""
    (tmp_path / "mark").write_bytes(content)
    mark = HighWater(tmp_path / "mark")
    assert mark.read() == 0
    mark.raise_to(7)
    mark.raise_to(5)
    assert mark.read() == 7


def test_no_folder_no_mark(tmp_path: Path) -> None:
    """A command on another machine leaves no folder behind."""
    mark = HighWater(tmp_path / "none" / "mark")
    mark.raise_to(7)
    assert mark.read() == 0
    assert not (tmp_path / "none").exists()


async def test_disk_that_cannot_be_written_stops_no_create(database: Database, tmp_path: Path) -> None:
    """The lease is good; the mark is not written, and that is logged."""
    (tmp_path / "mark").mkdir()
    works = await Works.open(database, high_water=HighWater(tmp_path / "mark"))
    assert len(await works.allocator().take(10)) == 10


async def test_p2_another_lineage_jumps_and_discards_the_pool(database: Database) -> None:
    """As after a failover: the promoted server does not know the last leases, nor who took what from the pool."""
    works = await Works.open(database)
    await works.fill()
    before = await works.store.state("default", 7)
    await database.execute("UPDATE kgs_range SET lineage = $1, pool_lineage = $1", "1/00000001/5/7")
    assert (await works.store.state("default", 7)).unused == 0
    with pytest.raises(Unavailable):
        await works.cursor.reserve(10, "worker:a/1")
    assert (await works.cursor.lease(5)).start == before.next + JUMP
    old = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
    await works.fill()
    new = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
    assert not old & new


async def test_pool_alone_may_be_of_another_lineage(database: Database) -> None:
    """The cursor has been leased from since the failover, the pool not looked at: it is discarded all the same."""
    works = await Works.open(database)
    await works.fill()
    await database.execute("UPDATE kgs_range SET pool_lineage = $1", "1/00000001/5/7")
    old = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
    source = works.source()
    await source.fetch(10)
    assert source.level == "cursor"
    await works.fill()
    new = {row[0] for row in await database.fetch_all("SELECT short_code FROM kgs_keys")}
    assert not old & new
    await source.fetch(10)
    assert source.level == "durable"


async def test_p2_sqlite_file_put_back_from_a_backup(tmp_path: Path) -> None:
    """The whole story on the file itself: copied, used on, put back."""
    data, backup = tmp_path / "data", tmp_path / "backup"
    url = f"sqlite:///{data}/laconic.db"
    await migrate(url)

    async def take(count: int) -> set[str]:
        database = await open_database(url)
        works = await Works.open(database, high_water=HighWater(data / "mark"))
        await works.fill()
        allocator = works.allocator()
        codes = set(await allocator.take(count))
        await allocator.close()
        await database.close()
        return codes

    given = await take(1_000)
    backup.mkdir()
    for file in data.glob("laconic.db*"):
        shutil.copy(file, backup)
    given |= await take(3_000)
    for file in data.glob("laconic.db*"):
        file.unlink()
    for file in backup.iterdir():
        shutil.copy(file, data)
    assert not given & await take(5_000)
