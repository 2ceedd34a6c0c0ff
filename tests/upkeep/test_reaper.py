"""What the reaper retires, blanks and removes, what it leaves alone, and what it writes down."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from laconic import clock
from laconic.clock import DAY, HOUR, MINUTE
from laconic.errors import CleanupRunning, CodeTaken, LinkGone, Unavailable
from laconic.links.browse import Query
from laconic.redirect.lookup import Lookup
from laconic.redirect.model import Redirect, Tombstone, judge
from laconic.storage.database import Database, Statements
from laconic.storage.engines import open_database
from laconic.upkeep.lease import Lease
from laconic.upkeep.reaper import JOB, Plan, Reaper
from laconic.upkeep.sweeps import Sweeps
from tests.links.desk import DOMAIN, WORKSPACE, Desk


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[Desk]:
    desk = await Desk.open(database)
    yield desk
    await desk.close()


def _reaper(database: Database, **plan: Any) -> Reaper:
    return Reaper(database, Plan(**plan), Sweeps(database))


async def _age(database: Database, code: str, **columns: int) -> None:
    """Sets dates as if the time had passed."""
    for column, moment in columns.items():
        await database.execute(
            f"UPDATE short_link SET {column} = $1 WHERE domain_id = $2 AND short_code = $3",
            moment,
            DOMAIN,
            code,
        )


async def _expired(desk: Desk, ago: int = 2 * HOUR, **fields: Any) -> str:
    code = (await desk.make(**fields)).short_code
    await _age(desk.database, code, expires_at=clock.now() - ago)
    return code


async def _row(database: Database, code: str) -> tuple[Any, ...]:
    row = await database.fetch_one(
        "SELECT is_active, is_deleted, gone_reason, version FROM short_link WHERE domain_id = $1 AND short_code = $2",
        DOMAIN,
        code,
    )
    assert row is not None
    return (bool(row[0]), bool(row[1]), *row[2:])


async def _answer(database: Database, code: str) -> str:
    """What a visitor is told: a reason, or where to."""
    entry = judge(await Lookup(database)(DOMAIN, code), clock.now())
    return entry.reason if isinstance(entry, Tombstone) else "redirect"


async def _count(database: Database, table: str) -> int:
    row = await database.fetch_one(f"SELECT count(*) FROM {table}")
    assert row is not None
    return int(row[0])


async def test_links_are_retired_an_hour_after_their_expiry_and_no_other_is_touched(
    desk: Desk, database: Database
) -> None:
    """The hour is for clocks that differ. Visitors see no difference."""
    over = await _expired(desk)
    recent = await _expired(desk, ago=59 * MINUTE)
    ahead = (await desk.make(expires_in_hours=1)).short_code
    never = (await desk.make()).short_code
    disabled, deleted = await _expired(desk), await _expired(desk)
    await desk.edit(disabled, is_active=False)
    await desk.delete(deleted)
    untouched = [recent, ahead, never, disabled, deleted]
    before = [await _row(database, code) for code in untouched]
    answers = [await _answer(database, code) for code in (over, *untouched)]

    outcome = await _reaper(database).run()

    assert (outcome.retired, outcome.blanked, outcome.is_complete) == (1, 0, True)
    assert await _row(database, over) == (False, False, "expired", 2)
    assert [await _row(database, code) for code in untouched] == before
    assert [await _answer(database, code) for code in (over, *untouched)] == answers
    assert (await _reaper(database).run()).retired == 0


async def test_a_retired_link_lives_again_when_its_owner_extends_it(desk: Desk, database: Database) -> None:
    code = await _expired(desk)
    await _reaper(database).run()
    await desk.edit(code, expires_at=clock.now() + DAY)
    assert await _answer(database, code) == "redirect"
    assert (await _reaper(database).run()).retired == 0


async def test_links_that_are_extended_while_it_works_are_spared(desk: Desk, database: Database) -> None:
    """An owner who holds the row wins, whoever began first."""
    code = await _expired(desk)
    if not database.answers_at_once:
        holding, may_commit = asyncio.Event(), asyncio.Event()

        async def extend(statements: Statements) -> None:
            await statements.execute(
                "UPDATE short_link SET expires_at = $1, version = version + 1 WHERE short_code = $2",
                clock.now() + DAY,
                code,
            )
            holding.set()
            await may_commit.wait()

        owner = asyncio.create_task(database.transaction(extend))
        await holding.wait()
        reaping = asyncio.create_task(_reaper(database).run())
        await _until_somebody_waits_for_a_lock(database)
        may_commit.set()
        await owner
        assert (await reaping).retired == 0
    else:
        # One writer at a time: the two can only come one after the other.
        outcomes = await asyncio.gather(
            desk.edit(code, expires_at=clock.now() + DAY), _reaper(database).run(), return_exceptions=True
        )
        assert not [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
    assert await _answer(database, code) == "redirect"


async def _until_somebody_waits_for_a_lock(database: Database) -> None:
    async with asyncio.timeout(30):
        while True:
            row = await database.fetch_one("SELECT count(*) FROM pg_locks WHERE NOT granted")
            if row is not None and row[0]:
                return
            await asyncio.sleep(0.01)


async def test_it_works_in_batches(desk: Desk, database: Database) -> None:
    """Each is a transaction of its own."""
    for _ in range(25):
        await _expired(desk)
    outcome = await _reaper(database, batch_size=10).run()
    assert outcome.retired == 25
    stats = await _reaper(database).stats()
    assert (stats.total_cleaned, stats.last_batch_size) == (25, 5)


async def test_a_run_whose_time_is_over_leaves_the_rest_to_the_next(desk: Desk, database: Database) -> None:
    for _ in range(3):
        await _expired(desk)
    outcome = await _reaper(database, max_duration=0).run()
    assert (outcome.retired, outcome.is_complete) == (0, False)
    assert (await _reaper(database).run()).retired == 3


async def test_only_one_runs_at_a_time(desk: Desk, database: Database, migrated_url: str) -> None:
    """Wherever the other one is; a lease that has run out holds nobody."""
    other = await open_database(migrated_url)
    lease = Lease(other, JOB)
    assert await lease.hold()
    with pytest.raises(CleanupRunning):
        await _reaper(database).run()
    await lease.release()
    reaper = _reaper(database)
    results = await asyncio.gather(reaper.run(), reaper.run(), return_exceptions=True)
    assert [type(result).__name__ for result in results].count("CleanupRunning") == 1
    await other.close()


async def test_one_that_was_stopped_and_wakes_does_nothing(
    desk: Desk, database: Database, migrated_url: str
) -> None:
    """Another has taken the job: the step is undone."""
    code = await _expired(desk)
    late, other = _reaper(database), await open_database(migrated_url)
    assert await late._lease.hold()
    await database.execute("UPDATE job_lease SET expires_at = $2 WHERE name = $1", JOB, 0)
    assert await Lease(other, JOB).hold()
    with pytest.raises(Unavailable):
        await late._run(None)
    assert await _row(database, code) == (True, False, None, 1)
    await other.close()


async def test_what_is_long_gone_is_blanked_and_its_code_never_given_again(
    desk: Desk, database: Database
) -> None:
    """URL, title and metadata are removed; visitors are told the same as before."""
    deleted = (await desk.make(custom_code="gone1", title="A title", metadata={"a": 1})).short_code
    await desk.delete(deleted)
    retired = await _expired(desk, description="Words")
    await _reaper(database).run()
    disabled = (await desk.make()).short_code
    await desk.edit(disabled, is_active=False)
    for code in (deleted, retired, disabled):
        await _age(database, code, updated_at=clock.now() - 30 * DAY - MINUTE)
    fresh = (await desk.make()).short_code
    await desk.delete(fresh)

    assert (await _reaper(database).run()).blanked == 2

    rows = await database.fetch_all(
        "SELECT short_code, original_url, target_url, title, description, metadata FROM short_link"
    )
    blanked = {row[0]: tuple(row[1:]) for row in rows}
    assert blanked[deleted] == blanked[retired] == (None, None, None, None, "{}")
    assert blanked[fresh][0] == blanked[disabled][0] == "https://example.com/"
    assert [await _answer(database, code) for code in (deleted, retired)] == ["deleted", "expired"]
    with pytest.raises(CodeTaken):
        await desk.make(custom_code="gone1")
    for verb in (desk.get(retired), desk.edit(retired, expires_at=clock.now() + DAY), desk.delete(retired)):
        with pytest.raises(LinkGone):
            await verb
    listed = (await desk.browser.page(WORKSPACE, Query())).links
    assert [link.short_code for link in listed] == [disabled]


async def test_keys_sessions_answers_and_changes_go_when_their_time_is_over(
    desk: Desk, database: Database
) -> None:
    """API keys thirty days after their expiry, sessions a week, idempotency keys after a day, change rows when all have
    read them."""
    now = clock.now()
    for number, expires_at in enumerate([None, now + DAY, now - 29 * DAY, now - 31 * DAY], start=1):
        await database.execute(
            "INSERT INTO api_key (id, workspace_id, key_hash, key_prefix, name, created_at, expires_at, is_active,"
            " scopes) VALUES ($1, 1, $2, $3, 'x', $4, $5, TRUE, '[]')",
            number,
            b"hash%d" % number + bytes(27),
            f"lac_live_{number}",
            now,
            expires_at,
        )
    await database.execute(
        "INSERT INTO users (id, workspace_id, email, role, created_at, updated_at)"
        " VALUES (1, 1, 'a@example.com', 'admin', $1, $1)",
        now,
    )
    for number, expires_at in enumerate([now + HOUR, now - 8 * DAY], start=1):
        await database.execute(
            "INSERT INTO session (id, user_id, workspace_id, token_hash, created_at, expires_at)"
            " VALUES ($1, 1, 1, $2, $3, $4)",
            number,
            b"token%d" % number,
            now,
            expires_at,
        )
    for number, created_at in enumerate([now - 23 * HOUR, now - 25 * HOUR], start=1):
        await database.execute(
            "INSERT INTO idempotency_key (workspace_id, key, fingerprint, created_at) VALUES (1, $1, $2, $3)",
            f"key{number}",
            b"x",
            created_at,
        )
    for changed_at in (now - HOUR, now - 5 * HOUR):
        await database.execute(
            "INSERT INTO link_change (domain_id, short_code, version, changed_at) VALUES (1, 'abc', 2, $1)",
            changed_at,
        )
    reaper = _reaper(database)
    assert (await reaper.forecast()).removed == 4
    assert (await reaper.run()).removed == 4
    tables = ("api_key", "session", "idempotency_key", "link_change")
    assert [await _count(database, table) for table in tables] == [3, 1, 1, 1]


async def test_a_forecast_counts_and_changes_nothing(desk: Desk, database: Database) -> None:
    code = await _expired(desk)
    forecast = await _reaper(database).forecast()
    assert (forecast.retired, forecast.blanked) == (1, 0)
    assert await _row(database, code) == (True, False, None, 1)
    assert (await _reaper(database).stats()).successful_runs == 0


async def test_figures_of_all_runs_are_kept(desk: Desk, database: Database) -> None:
    """A run whose process died has failed."""
    empty = await _reaper(database).stats()
    assert (empty.last_cleanup_time, empty.total_cleaned, empty.is_running) == (None, 0, False)
    await _expired(desk)
    await _reaper(database).run()
    await database.execute("INSERT INTO cleanup_run (id, started_at) VALUES (7, $1)", clock.now() - HOUR)
    await _reaper(database).run()
    stats = await _reaper(database).stats()
    assert (stats.successful_runs, stats.failed_runs, stats.total_cleaned) == (2, 1, 1)
    assert stats.last_cleanup_time is not None
    assert abs(stats.last_cleanup_time - clock.now()) < HOUR
    assert stats.average_cleanup_ms > 0
    assert not stats.is_running


async def test_it_is_due_once_in_an_interval_whoever_does_it(desk: Desk, database: Database) -> None:
    """The processes of a deployment share the interval; a clock that was set back does not stop it."""
    first, second = _reaper(database), _reaper(database)
    await first.run_when_due()
    await second.run_when_due()
    await first.run_when_due()
    assert (await first.stats()).successful_runs == 1
    eager = _reaper(database, interval=0)
    await eager.run_when_due()
    assert (await first.stats()).successful_runs == 2
    await database.execute("UPDATE cleanup_run SET started_at = $1", clock.now() + DAY)
    await _reaper(database).run_when_due()
    assert (await first.stats()).successful_runs == 3


async def test_a_machine_whose_clock_is_a_day_ahead_loses_no_link(
    desk: Desk, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database's clock counts; where that is the machine's own, what was retired too early redirects all the same."""
    code = (await desk.make(expires_in_hours=12)).short_code
    with monkeypatch.context() as patch:
        real = clock.now
        patch.setattr(clock, "now", lambda: real() + DAY)
        patch.setattr("laconic.storage.sqlite_connect.now", lambda: real() + DAY)
        outcome = await _reaper(database).run()
    assert outcome.retired == (1 if database.answers_at_once else 0)
    entry = judge(await Lookup(database)(DOMAIN, code), clock.now())
    assert isinstance(entry, Redirect)
