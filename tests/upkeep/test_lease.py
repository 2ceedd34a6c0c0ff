"""One process of the deployment does a job; one that was stopped and wakes does no harm."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from laconic.clock import HOUR, SECOND
from laconic.errors import LeaseLost
from laconic.storage.database import Database, Statements
from laconic.storage.engines import open_database
from laconic.upkeep.lease import Lease


@pytest.fixture
async def other_database(migrated_url: str, database: Database) -> AsyncIterator[Database]:
    """Another process's view of the same database."""
    other = await open_database(migrated_url)
    yield other
    await other.close()


async def _expire(database: Database, job: str) -> None:
    """As if the holder had been stopped for long."""
    await database.execute("UPDATE job_lease SET expires_at = $2 WHERE name = $1", job, 0)


async def _write(lease: Lease, statements: Statements, name: str) -> None:
    await lease.fence(statements)
    await statements.execute(
        "INSERT INTO secret (name, value, created_at) VALUES ($1, $2, $3)", name, b"x", 0
    )


async def _written(database: Database) -> list[str]:
    return [row[0] for row in await database.fetch_all("SELECT name FROM secret ORDER BY name")]


async def test_one_of_many_holds_the_job(database: Database, other_database: Database) -> None:
    """Of those who ask at the same moment one gets it."""
    leases = [Lease(each, "reaper") for each in (database, other_database) * 8]
    held = await asyncio.gather(*(lease.hold() for lease in leases))
    assert sum(held) == 1
    assert [lease.is_held for lease in leases] == held


async def test_the_holder_keeps_it(database: Database, other_database: Database) -> None:
    """Asking again is how it is renewed; the others wait."""
    mine, other = Lease(database, "reaper"), Lease(other_database, "reaper")
    assert await mine.hold()
    for _ in range(3):
        assert await mine.hold()
        assert not await other.hold()


async def test_it_is_renewed_in_good_time(database: Database) -> None:
    """Past half of its time the end moves on, by the database's clock."""
    lease = Lease(database, "reaper", duration=SECOND // 1000)
    await lease.hold()
    before = await database.fetch_one("SELECT expires_at, token FROM job_lease")
    await asyncio.sleep(0.002)
    assert await lease.hold()
    after = await database.fetch_one("SELECT expires_at, token FROM job_lease")
    assert before is not None
    assert after is not None
    assert after[0] > before[0]
    assert after[1] == before[1]


async def test_jobs_do_not_meet(database: Database) -> None:
    """Each job has a lease of its own."""
    assert await Lease(database, "reaper").hold()
    assert await Lease(database, "codes").hold()


async def test_the_next_takes_an_expired_one(database: Database, other_database: Database) -> None:
    """A holder that died keeps the job no longer than the lease lasts, and the token grows."""
    dead, next_one = Lease(database, "reaper"), Lease(other_database, "reaper")
    await dead.hold()
    await _expire(database, "reaper")
    assert await next_one.hold()
    assert await database.fetch_all("SELECT holder, token FROM job_lease") == [(next_one.holder, 2)]


async def test_a_released_one_is_free_at_once(database: Database, other_database: Database) -> None:
    """A process that ends in order makes nobody wait; the token goes on growing."""
    mine, other = Lease(database, "reaper", duration=HOUR), Lease(other_database, "reaper")
    await mine.hold()
    await mine.release()
    assert not mine.is_held
    assert await other.hold()
    assert await database.fetch_all("SELECT token FROM job_lease") == [(2,)]


async def test_a_late_holder_writes_nothing(database: Database, other_database: Database) -> None:
    """It wakes after its lease was taken, believes that it has the job, and its fence undoes what it does."""
    late, next_one = Lease(database, "reaper"), Lease(other_database, "reaper")
    await late.hold()
    await _expire(database, "reaper")
    await next_one.hold()
    assert late.is_held
    with pytest.raises(LeaseLost):
        await database.transaction(lambda statements: _write(late, statements, "late"))
    await other_database.transaction(lambda statements: _write(next_one, statements, "next"))
    assert await _written(database) == ["next"]
    assert (late.is_held, late.losses) == (False, 1)
    assert not await late.hold()


async def test_a_late_holder_may_go_on_if_nobody_came(database: Database) -> None:
    """The token is what counts: a pause during which nobody took the job did no harm."""
    late = Lease(database, "reaper")
    await late.hold()
    await _expire(database, "reaper")
    await database.transaction(lambda statements: _write(late, statements, "late"))
    assert await _written(database) == ["late"]


async def test_nobody_takes_it_from_a_transaction_under_way(
    database: Database, other_database: Database
) -> None:
    """Past the fence the work is the holder's until it commits, and the fence has renewed the lease."""
    mine, other = Lease(database, "reaper"), Lease(other_database, "reaper")
    await mine.hold()
    await _expire(database, "reaper")
    taking: list[asyncio.Task[bool]] = []
    loop = asyncio.get_running_loop()

    async def work(statements: Statements) -> None:
        await mine.fence(statements)
        loop.call_soon_threadsafe(lambda: taking.append(loop.create_task(other.hold())))
        await _write(mine, statements, "mine")

    await database.transaction(work)
    await asyncio.sleep(0)
    assert not await taking[0]


async def test_who_has_no_lease_writes_nothing(database: Database) -> None:
    """A fence without a lease refuses."""
    lease = Lease(database, "reaper")
    with pytest.raises(LeaseLost):
        await database.transaction(lambda statements: _write(lease, statements, "none"))
    assert await _written(database) == []
