"""Ingest: every click once, whatever dies in between. Each test runs on every engine."""

import asyncio
import os
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from laconic.clicks.ingest import Ingest
from laconic.clicks.journal import SEGMENT_HEAD, Journal
from laconic.clicks.store import ClickStore
from laconic.clock import SECOND
from laconic.errors import OutcomeUnknown, Unavailable
from laconic.storage.database import Database, Statements
from laconic.storage.engines import open_database
from tests.clicks.records import (
    MOMENT,
    click_on,
    die_after_clicks,
    files,
    flip_byte,
    open_ingest,
    record_places,
    segments,
)

pytestmark = pytest.mark.anyio


class _Clock:
    """Both clocks of an ingest, turned by hand."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> int:
        return MOMENT + int(self.seconds - 1_000.0) * SECOND


class _FailingDatabase:
    """A database whose next transaction fails, before its commit or after it."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.fails: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def transaction(self, work: Callable[[Statements], Awaitable[Any]]) -> Any:
        fails, self.fails = self.fails, None

        async def dying(statements: Statements) -> None:
            await work(statements)
            raise Unavailable("killed before the commit")

        result = await self._inner.transaction(dying if fails == "before" else work)
        if fails == "after":
            raise OutcomeUnknown("committed, but nobody was told")
        return result


@pytest.fixture
def failing(clicks_database: Database) -> _FailingDatabase:
    return _FailingDatabase(clicks_database)


def _ingest(folder: Path, database: Any) -> Ingest:
    clock = _Clock()
    return open_ingest(folder, ClickStore(database), now=clock.now, monotonic=clock.monotonic)


async def _totals(database: Database) -> dict[int, int]:
    return {row[0]: row[1] for row in await database.fetch_all("SELECT link_id, clicks FROM link_total")}


async def _positions(database: Database) -> int:
    row = await database.fetch_one("SELECT count(*) FROM journal_position")
    assert row is not None
    return int(row[0])


async def test_clicks_of_a_living_worker_are_counted(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """Each link gets its own, with the moment of the last one; a second look adds nothing."""
    journal = Journal(folder)
    click_on(journal, 101, count=3)
    click_on(journal, 102, count=2, moment=MOMENT + 500)
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 5
    assert await ingest.drain_once() == 0
    rows = await database.fetch_all(
        "SELECT link_id, workspace_id, clicks, last_clicked_at FROM link_total ORDER BY link_id"
    )
    assert [tuple(row) for row in rows] == [(101, 1, 3, MOMENT + 2), (102, 1, 2, MOMENT + 501)]
    click_on(journal, 101)
    assert await ingest.drain_once() == 1
    assert await _totals(database) == {101: 4, 102: 2}
    journal.close()


async def test_an_older_click_does_not_turn_the_time_back(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """Journals are drained in any order; the last click stays the last."""
    journal = Journal(folder)
    ingest = open_ingest(folder, store)
    click_on(journal, 101, moment=MOMENT)
    await ingest.drain_once()
    click_on(journal, 101, moment=MOMENT - SECOND)
    await ingest.drain_once()
    row = await database.fetch_one("SELECT last_clicked_at FROM link_total WHERE link_id = 101")
    assert row is not None
    assert row[0] == MOMENT
    journal.close()


async def test_a_living_worker_keeps_its_journal(folder: Path, store: ClickStore) -> None:
    """However often it is drained, nothing that may still grow is deleted."""
    journal = Journal(folder)
    click_on(journal, 101)
    ingest = open_ingest(folder, store)
    for _ in range(3):
        await ingest.drain_once()
    assert len(segments(folder)) == 1
    assert [name.partition(".")[2] for name in files(folder)] == ["segment", "lock"]
    journal.close()


async def test_a_dead_workers_journal_is_drained_and_deleted(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """Files, lock and position: nothing is left of it but the clicks."""
    die_after_clicks(folder, 101, count=7)
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 7
    assert await ingest.drain_once() == 0
    assert not files(folder)
    assert await _positions(database) == 0
    assert await _totals(database) == {101: 7}


async def test_a_worker_that_died_before_its_first_click_leaves_nothing(
    folder: Path, store: ClickStore
) -> None:
    """An empty journal is deleted too."""
    Journal(folder).close()
    assert await open_ingest(folder, store).drain_once() == 0
    assert not files(folder)


async def test_segments_are_deleted_once_applied(folder: Path, store: ClickStore, database: Database) -> None:
    """All but the one in use; and their clicks are counted once."""
    journal = Journal(folder, segment_bytes=1_000)
    for _ in range(20):
        click_on(journal, 101, count=5)
    assert len(segments(folder)) > 5
    assert await open_ingest(folder, store).drain_once() == 100
    assert len(segments(folder)) == 1
    click_on(journal, 101)
    assert await open_ingest(folder, store).drain_once() == 1
    assert await _totals(database) == {101: 101}
    journal.close()


async def test_positions_survive_the_ingest_process(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """A new one goes on where the old one committed."""
    journal = Journal(folder)
    for _ in range(5):
        click_on(journal, 101, count=2)
        assert await open_ingest(folder, store).drain_once() == 2
    assert await _totals(database) == {101: 10}
    journal.close()


async def test_a_large_backlog_goes_in_batch_by_batch(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """A batch is bounded, wherever in a segment it ends; the lag is seen until the last one is in."""
    journal = Journal(folder, segment_bytes=700_000)
    for _ in range(45):
        click_on(journal, 101, count=1_000)
    ingest = open_ingest(folder, store, now=lambda: MOMENT + 90 * SECOND)
    ingest.batch_size = 20_000
    applied = [await ingest.drain_once()]
    assert ingest.lag_seconds == pytest.approx(90, abs=1)
    while ingest.lag_seconds:
        applied.append(await ingest.drain_once())
    assert applied[0] == 20_000
    assert sum(applied) == 45_000
    assert await _totals(database) == {101: 45_000}
    journal.close()


async def test_clicks_of_an_unknown_link_stop_nobody(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """A link that is not in the database (any more) is passed over, the rest of the batch counts."""
    journal = Journal(folder)
    click_on(journal, 101, count=2)
    click_on(journal, 999, count=5)
    click_on(journal, 102)
    ingest = open_ingest(folder, store)
    await ingest.drain_once()
    assert await _totals(database) == {101: 2, 102: 1}
    assert await ingest.drain_once() == 0
    journal.close()


# Damage.


async def test_a_torn_last_record_of_a_dead_worker_is_no_click(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """Its answer never went out. What stands before it counts, and the journal goes away."""
    journal = Journal(folder)
    click_on(journal, 101, count=3)
    (path,) = segments(folder)
    start, end = record_places(path)[-1]
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), bytes(end - start - 10), start + 10)
    journal.close()
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 2
    assert await ingest.drain_once() == 0
    assert await _totals(database) == {101: 2}
    assert not files(folder)


@pytest.mark.parametrize("place", [0, 3, 4, 20, 60])
async def test_what_follows_a_damaged_record_is_found(
    folder: Path, store: ClickStore, database: Database, place: int
) -> None:
    """One wrong byte costs one click, in whatever field it is, and is counted."""
    journal = Journal(folder)
    click_on(journal, 101, count=10)
    (path,) = segments(folder)
    start, end = record_places(path)[4]
    flip_byte(path, start + place)
    journal.close()
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 9
    assert ingest.numbers.skipped_bytes == end - start
    await ingest.drain_once()
    assert await _totals(database) == {101: 9}
    assert not files(folder)


async def test_what_follows_a_lost_page_is_found(folder: Path, store: ClickStore) -> None:
    """A power cut may keep a later page of a file and lose an earlier one."""
    journal = Journal(folder)
    for _ in range(100):
        click_on(journal, 101, count=10)
    (path,) = segments(folder)
    places = record_places(path)
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), bytes(8_192), 16_384)
    journal.close()
    lost = sum(1 for start, end in places if end > 16_384 and start < 16_384 + 8_192)
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 1_000 - lost
    assert ingest.numbers.skipped_bytes >= 8_192


async def test_damage_in_a_finished_segment_stops_nothing(folder: Path, store: ClickStore) -> None:
    """The worker lives and has gone over to the next segment: this one will not get better."""
    journal = Journal(folder, segment_bytes=1_000)
    for _ in range(20):
        click_on(journal, 101, count=2)
    path = segments(folder)[0]
    flip_byte(path, record_places(path)[1][0] + 30)
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 39
    assert ingest.numbers.skipped_bytes > 0
    journal.close()


async def test_a_bad_record_at_a_live_tail_is_not_there_yet(
    folder: Path, clicks_database: Database, database: Database
) -> None:
    """It may be half written: it is waited for, for ever, and counts when it is whole."""
    journal = Journal(folder)
    click_on(journal, 101, count=3)
    (path,) = segments(folder)
    flip_byte(path, record_places(path)[2][0] + 30)
    clock = _Clock()
    ingest = open_ingest(folder, ClickStore(clicks_database), now=clock.now, monotonic=clock.monotonic)
    assert await ingest.drain_once() == 2
    for _ in range(3):
        clock.seconds += 1_000
        assert await ingest.drain_once() == 0
    flip_byte(path, record_places(path)[1][1] + 30)
    assert await ingest.drain_once() == 1
    assert ingest.numbers.skipped_bytes == 0
    assert await _totals(database) == {101: 3}
    journal.close()


@pytest.mark.parametrize("place", [0, 30])
async def test_damage_before_a_live_tail_is_passed_over_in_time(
    folder: Path, clicks_database: Database, place: int
) -> None:
    """With sound records behind it, a record that stays bad for two seconds is damaged; no earlier."""
    journal = Journal(folder)
    click_on(journal, 101, count=5)
    (path,) = segments(folder)
    flip_byte(path, record_places(path)[2][0] + place)
    clock = _Clock()
    ingest = open_ingest(folder, ClickStore(clicks_database), now=clock.now, monotonic=clock.monotonic)
    assert await ingest.drain_once() == 2
    clock.seconds += 1.9
    assert await ingest.drain_once() == 0
    clock.seconds += 0.1
    assert await ingest.drain_once() == 2
    click_on(journal, 101)
    assert await ingest.drain_once() == 1
    assert len(segments(folder)) == 1
    journal.close()


async def test_a_gap_between_segments_hides_nothing(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """A failover may forget that segments were applied and deleted; those that follow still count."""
    journal = Journal(folder, segment_bytes=SEGMENT_HEAD.size + 500)
    for _ in range(10):
        click_on(journal, 101, count=4)
    for path in segments(folder)[1:3]:
        path.unlink()
    journal.close()
    ingest = open_ingest(folder, store)
    assert await ingest.drain_once() == 32
    await ingest.drain_once()
    assert not files(folder)
    assert await _totals(database) == {101: 32}


# Death between reading and commit.


async def test_a_batch_that_was_not_committed_is_read_again(
    folder: Path, failing: _FailingDatabase, database: Database
) -> None:
    """Killed inside the transaction: nothing of it is there, and all of it comes later, once."""
    journal = Journal(folder)
    click_on(journal, 101, count=5)
    ingest = _ingest(folder, failing)
    failing.fails = "before"
    with pytest.raises(Unavailable):
        await ingest.drain_once()
    assert await _totals(database) == {}
    assert await ingest.drain_once() == 5
    assert await ingest.drain_once() == 0
    assert await _totals(database) == {101: 5}
    journal.close()


async def test_a_batch_whose_commit_was_in_doubt_is_not_applied_twice(
    folder: Path, failing: _FailingDatabase, database: Database
) -> None:
    """It was committed, but the connection broke before the answer: the database alone knows the position."""
    journal = Journal(folder)
    click_on(journal, 101, count=5)
    ingest = _ingest(folder, failing)
    failing.fails = "after"
    with pytest.raises(OutcomeUnknown):
        await ingest.drain_once()
    click_on(journal, 101, count=2)
    assert await ingest.drain_once() == 2
    assert await _totals(database) == {101: 7}
    journal.close()


async def test_two_ingests_cannot_apply_the_same_batch(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """One that was thought dead still runs: the second to commit finds that the position has moved."""
    journal = Journal(folder)
    first, second = open_ingest(folder, store), open_ingest(folder, store)
    for _ in range(3):
        click_on(journal, 101, count=4)
        # Both know the same position; then one is ahead and the other does not know.
        assert await first.drain_once() == 4
        assert await second.drain_once() in (0, 4)
    await second.drain_once()
    assert await _totals(database) == {101: 12}
    click_on(journal, 101)
    assert await first.drain_once() + await first.drain_once() == 1
    assert await _totals(database) == {101: 13}
    journal.close()


async def test_two_ingests_at_the_very_beginning_cannot_either(
    folder: Path, clicks_database: Database, migrated_url: str, database: Database
) -> None:
    """Neither has a position yet, and both commit at the same time."""
    other = await open_database(migrated_url, writes="clicks")
    journal = Journal(folder)
    click_on(journal, 101, count=1_000)
    ingests = [_ingest(folder, clicks_database), _ingest(folder, other)]
    applied = await asyncio.gather(*(ingest.drain_once() for ingest in ingests))
    assert sorted(applied) == [0, 1_000]
    assert await _totals(database) == {101: 1_000}
    await other.close()
    journal.close()


async def test_files_left_by_an_ingest_that_died_after_its_commit_are_not_counted_again(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """Between the commit and the deletion there is nothing that could go wrong twice."""
    journal = Journal(folder, segment_bytes=1_000)
    for _ in range(10):
        click_on(journal, 101, count=5)
    kept = {path: path.read_bytes() for path in segments(folder)}
    assert await open_ingest(folder, store).drain_once() == 50
    for path, data in kept.items():
        path.write_bytes(data)
    journal.close()
    ingest = open_ingest(folder, store)
    await ingest.drain_once()
    await ingest.drain_once()
    assert await _totals(database) == {101: 50}
    assert not files(folder)


async def test_whatever_dies_every_click_counts_once(
    folder: Path, failing: _FailingDatabase, database: Database
) -> None:
    """P3 in small: workers and ingests come and go at random, commits fail or are in doubt; the sum is exact."""
    chance = random.Random(20261115)
    written = 0
    journals = [Journal(folder, segment_bytes=2_000)]
    ingest = _ingest(folder, failing)
    for _ in range(150):
        action = chance.choice(
            ["click", "click", "click", "drain", "before", "after", "ingest dies", "worker dies"]
        )
        if action == "click":
            count = chance.randrange(1, 8)
            click_on(chance.choice(journals), chance.choice([101, 102, 103]), count=count)
            written += count
        elif action == "ingest dies":
            ingest = _ingest(folder, failing)
        elif action == "worker dies":
            journals.pop(chance.randrange(len(journals))).close()
            journals += [
                Journal(folder, segment_bytes=2_000) for _ in range(chance.randrange(0 if journals else 1, 3))
            ]
        else:
            failing.fails = action if action != "drain" else None
            try:
                await ingest.drain_once()
            except Unavailable:
                pass
    for journal in journals:
        journal.close()
    failing.fails = None
    while await ingest.drain_once():
        pass
    await ingest.drain_once()
    assert sum((await _totals(database)).values()) == written
    assert not files(folder)
    assert await _positions(database) == 0


# Running.


async def test_the_lag_is_the_age_of_the_oldest_click_that_waits(
    folder: Path, failing: _FailingDatabase
) -> None:
    """It grows while the database is away and is nothing when all is applied."""
    journal = Journal(folder)
    click_on(journal, 101, count=3)
    clock = _Clock()
    ingest = open_ingest(folder, ClickStore(failing), now=clock.now, monotonic=clock.monotonic)
    assert ingest.lag_seconds == 0
    failing.fails = "before"
    with pytest.raises(Unavailable):
        await ingest.drain_once()
    clock.seconds += 30
    assert ingest.lag_seconds == 30
    await ingest.drain_once()
    assert ingest.lag_seconds == 0
    journal.close()


async def test_a_stopped_ingest_applies_what_is_there_first(
    folder: Path, store: ClickStore, database: Database
) -> None:
    """The last clicks of the web workers do not wait for the next start."""
    journal = Journal(folder)
    click_on(journal, 101, count=3)
    journal.close()
    stopping = asyncio.Event()
    stopping.set()
    await open_ingest(folder, store).run(stopping)
    assert await _totals(database) == {101: 3}


async def test_an_ingest_without_a_database_stops_in_order(
    folder: Path, clicks_database: Database, links: tuple[int, ...]
) -> None:
    """What it could not apply stays in the journal for the next start."""
    journal = Journal(folder)
    click_on(journal, 101, count=3)
    await clicks_database.close()
    stopping = asyncio.Event()
    running = asyncio.create_task(_ingest(folder, clicks_database).run(stopping))
    await asyncio.sleep(0)
    stopping.set()
    await running
    assert len(segments(folder)) == 1
    journal.close()
