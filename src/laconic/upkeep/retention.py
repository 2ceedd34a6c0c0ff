"""Workspaces that keep raw clicks for a shorter time than the installation: theirs are removed before the month is.

A month goes as a whole when it is too old for the installation. What a workspace wants gone earlier is removed row by
row, by the hour: every hour is looked through once for all workspaces, in bounded steps, and a row for each workspace
says how far it is done. Clicks that come later than that are not stored in the first place (`clicks/ingest`).
"""

from collections.abc import Awaitable, Callable

from laconic import clock
from laconic.clicks.events.store import EventStore
from laconic.clicks.keeping import shorter
from laconic.clicks.store import ClickStore
from laconic.clock import HOUR
from laconic.storage.database import Database
from laconic.storage.months import begin_of

# Clicks of all workspaces in one step: so much that ingest, which writes the same files, hardly waits.
_STEP = 20_000
# For a batch that was on its way when an hour was looked through.
_OVERLAP = HOUR


class Retention:
    def __init__(
        self,
        database: Database,
        installation: int,
        *,
        before_step: Callable[[], Awaitable[None]],
        now: Callable[[], int] = clock.now,
        step: int = _STEP,
    ) -> None:
        """`installation` is how long clicks are kept by default; `before_step` says by raising that another process
        has the job now."""
        self._events = EventStore(database)
        self._store = ClickStore(database)
        self._installation = installation
        self._before_step = before_step
        self._now = now
        self._step = step

    async def run(self) -> int:
        """How many clicks were removed."""
        spans = await self._spans()
        erased = 0
        for month in await self._events.months() if spans else ():
            erased += await self._sweep(month, spans)
        if spans:
            await self._store.keep_since({owner: end for owner, (_, end) in spans.items()})
        return erased

    async def _spans(self) -> dict[int, tuple[int, int]]:
        """By workspace: from where to where its clicks are to be removed, in whole hours."""
        known = await self._store.kept_since()
        spans = {}
        for owner, _, days in await self._store.choices():
            length = shorter(self._installation, days)
            end = (self._now() - length) // HOUR * HOUR
            begin = max(0, known.get(owner, 0) - _OVERLAP)
            if days is not None and length < self._installation and known.get(owner, 0) < end:
                spans[owner] = (begin, end)
        return spans

    async def _sweep(self, month: int, spans: dict[int, tuple[int, int]]) -> int:
        erased = 0
        start = max(begin_of(month), min(begin for begin, _ in spans.values()))
        end = min(begin_of(month + 1), max(end for _, end in spans.values()))
        while start < end:
            first = await self._events.first_of_all(month, start)
            if first is None or first >= end:
                break
            hour = first // HOUR * HOUR
            owners = sorted(owner for owner, (begin, until) in spans.items() if begin <= hour < until)
            if owners:
                erased += await self._hour(owners, month, max(hour, begin_of(month)))
            start = hour + HOUR
        return erased

    async def _hour(self, owners: list[int], month: int, start: int) -> int:
        erased, end = 0, start + HOUR
        while start < end:
            await self._before_step()
            until = await self._events.step_of_all(month, start, end, self._step)
            erased += await self._events.erase_of(owners, month, start, until)
            start = until
        return erased
