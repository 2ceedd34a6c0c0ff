"""The reaper: every quarter of an hour it retires links whose time is over and blanks those that are long gone.

No redirect depends on it: expiry is judged on every read. It keeps lists short and rows small. One process of the
deployment does it, by a lease; each step is a transaction of its own, and between two steps others have their turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from laconic import clock
from laconic.clock import DAY, HOUR, MINUTE, SECOND
from laconic.errors import CleanupRunning, LaconicError, Unavailable
from laconic.ids import IdSource
from laconic.links.ended.store import EndedStore
from laconic.storage.database import Database, Statements
from laconic.upkeep import store, sweeps
from laconic.upkeep.lease import Lease
from laconic.upkeep.sweeps import Sweeps
from laconic.workspaces.audit.record import Event, record_oversight
from laconic.workspaces.model import Actor

# The plain logger: commands open the reaper too, and structlog would double their start.
log = logging.getLogger(__name__)

JOB = "reaper"
_Step = Callable[[Statements], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the operator has set; durations in microseconds."""

    interval: int = 15 * MINUTE
    batch_size: int = 1_000
    buffer_time: int = HOUR
    max_duration: int = 5 * MINUTE
    purge_after: int = 30 * DAY


@dataclass(slots=True)
class Outcome:
    """What one run has done. `is_complete` is false when its time was over first: the next one goes on."""

    retired: int = 0
    blanked: int = 0
    removed: int = 0
    duration_ms: float = 0.0
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a run would do now."""

    retired: int
    blanked: int
    removed: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Of all runs, in the words of GET /api/admin/cleanup/stats."""

    last_cleanup_time: int | None
    total_cleaned: int
    last_batch_size: int
    successful_runs: int
    failed_runs: int
    average_cleanup_ms: float
    is_running: bool


@dataclass(frozen=True, slots=True)
class Run:
    """One run as it was written down; `finished_at` is None for one that is under way, or whose process died."""

    started_at: int
    finished_at: int | None
    retired: int
    blanked: int
    removed: int
    last_batch: int
    error: str | None


class Reaper:
    """Belongs to one loop."""

    def __init__(self, database: Database, plan: Plan, removal: Sweeps) -> None:
        self._database = database
        self._plan = plan
        self._removal = removal
        self._ended = EndedStore(database)
        self._lease = Lease(database, JOB)
        self._ids = IdSource()
        self._look_at = 0.0
        self._is_busy = False

    async def run_when_due(self) -> None:
        """Due is what no process of the deployment has done for an interval. Failures are logged; it comes again."""
        if clock.monotonic() < self._look_at:
            return
        try:
            self._look_at = clock.monotonic() + await self._seconds_left()
            if self._look_at > clock.monotonic():
                return
            outcome = await self.run()
            if outcome.retired or outcome.blanked:
                log.info("cleaned: %d links retired, %d blanked", outcome.retired, outcome.blanked)
        except CleanupRunning:
            pass
        except Unavailable as error:
            log.warning("the reaper could not do its work: %s", error)

    async def _seconds_left(self) -> float:
        last = await store.last_start(self._database)
        if last is None:
            return 0.0
        left = last + self._plan.interval - await store.database_moment(self._database)
        # A start that is still to come says that the clock was set back.
        return left / SECOND if 0 < left <= self._plan.interval else 0.0

    async def run(self, actor: Actor | None = None) -> Outcome:
        """One run, now. Raises CleanupRunning when one is under way anywhere. `actor` is who wants it; None: its
        time has come, and its row of `cleanup_run` says all there is to say."""
        if self._is_busy:
            raise CleanupRunning
        self._is_busy = True
        try:
            if not await self._lease.hold():
                raise CleanupRunning
            return await self._run(actor)
        finally:
            self._is_busy = False

    async def _run(self, actor: Actor | None) -> Outcome:
        run_id = self._ids.take(clock.now())
        outcome = Outcome()
        begun = clock.monotonic()
        error: str | None = "The run was cut off."
        try:
            await self._fenced(partial(self._begin, run_id, actor))
            await self._clean(run_id, outcome, begun + self._plan.max_duration / SECOND)
            error = None
        except LaconicError as failure:
            error = str(failure)
            raise
        finally:
            outcome.duration_ms = (clock.monotonic() - begun) * 1000
            await self._end(run_id, outcome, error)
        return outcome

    async def _begin(self, run_id: int, actor: Actor | None, statements: Statements) -> int:
        moment = await store.database_moment(statements)
        await store.insert_run(statements, run_id, moment)
        if actor is not None:
            await record_oversight(statements, None, actor, Event("cleanup.run", run_id, None), moment)
        return 0

    async def _clean(self, run_id: int, outcome: Outcome, deadline: float) -> None:
        plan = self._plan
        retire = partial(sweeps.retire, run_id=run_id, buffer_time=plan.buffer_time, limit=plan.batch_size)
        blank = partial(sweeps.blank, run_id=run_id, purge_after=plan.purge_after, limit=plan.batch_size)
        while (step := await self._step(retire, deadline)) > 0:
            outcome.retired += step
        while (step := await self._step(blank, deadline)) > 0:
            outcome.blanked += step
        outcome.removed = await self._removal.run()
        outcome.is_complete = clock.monotonic() < deadline

    async def _step(self, work: _Step, deadline: float) -> int:
        """A bounded transaction, and then a pause as long: others shall have at least half of the time."""
        begun = clock.monotonic()
        if begun >= deadline:
            return 0
        done = await self._fenced(work)
        await asyncio.sleep(min(clock.monotonic() - begun, 1.0) if done else 0)
        return done

    async def _fenced(self, work: _Step) -> int:
        """Done only if the lease is still ours: a process that was stopped and wakes up late does nothing."""

        async def guarded(statements: Statements) -> int:
            await self._lease.fence(statements)
            return await work(statements)

        return await self._database.transaction(guarded)

    async def _end(self, run_id: int, outcome: Outcome, error: str | None) -> None:
        """Should it fail, the next run says that this one has."""
        try:
            await store.end_run(self._database, run_id, outcome.removed, error)
            await self._lease.release()
        except LaconicError as failure:
            log.warning("the reaper could not write down how its run ended: %s", failure)

    async def forecast(self) -> Forecast:
        """What a run would do now; nothing is changed."""
        moment = await store.database_moment(self._database)
        return Forecast(
            await self._ended.count_expired(moment - self._plan.buffer_time),
            await self._ended.count_gone(moment - self._plan.purge_after),
            await self._removal.count(),
        )

    async def runs(self, limit: int) -> list[Run]:
        """The newest first."""
        return [Run(*row) for row in await store.read_runs(self._database, limit)]

    async def stats(self) -> Stats:
        runs = await store.read_runs(self._database)
        ended = [run for run in runs if run[1] is not None]
        good = [run for run in ended if run[6] is None]
        took = [run[1] - run[0] for run in good]
        return Stats(
            last_cleanup_time=ended[0][1] if ended else None,
            total_cleaned=sum(run[2] for run in runs),
            last_batch_size=next((run[5] for run in runs if run[5]), 0),
            successful_runs=len(good),
            failed_runs=len(ended) - len(good),
            average_cleanup_ms=round(sum(took) / len(took) / 1000, 1) if took else 0.0,
            is_running=len(ended) < len(runs) and await store.is_leased(self._database, JOB),
        )
