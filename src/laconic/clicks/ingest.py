"""From the journals into the database: each click once, whatever dies in between.

A batch and the place it was read up to are committed together. So a crash before the commit repeats the
reading, and one after it goes on behind it.
"""

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import structlog
from numpy.typing import NDArray

from laconic import clock
from laconic.clicks.board import Board, IngestNumbers
from laconic.clicks.choices import Choices
from laconic.clicks.coded import Coded, Numbers
from laconic.clicks.columns import Columns
from laconic.clicks.enrich import Enricher
from laconic.clicks.position import Position
from laconic.clicks.reading import Batch, JournalFolder
from laconic.clicks.records import Clicks
from laconic.clicks.spike import Spike
from laconic.clicks.store import Addition, ClickStore
from laconic.clicks.visitors import VisitorHashes
from laconic.clock import DAY, SECOND
from laconic.errors import Conflict, Unavailable
from laconic.ids import IdSource
from laconic.storage.months import month_of

log = structlog.get_logger(__name__)

_PAUSE_SECONDS = 0.2
# What a workspace chooses about its clicks is in effect this much later; in return most batches need no query.
_REMEMBER_CHOICES_SECONDS = 0.9
_MOST_WORKSPACES = 1_000_000
# Yesterday's and the day before, for what another machine still has in its journal.
_KEEP_SALTS_DAYS = 2
# A batch grows while the backlog does, because clicks that share a link, a day and a browser share a row; and it
# shrinks when a transaction takes so long that a time-out is near.
_SMALLEST_BATCH = 1_000
_FIRST_BATCH = 10_000
_LARGEST_BATCH = 100_000
# Half of the other: a batch that has doubled is not at once too large.
_GROW_BELOW_SECONDS = 3.0
_SHRINK_ABOVE_SECONDS = 6.0


class Ingest:
    """Drains every journal of one folder."""

    def __init__(
        self,
        folder: Path,
        store: ClickStore,
        enricher: Enricher,
        *,
        now: Callable[[], int] = clock.now,
        monotonic: Callable[[], float] = clock.monotonic,
        spike: Spike | None = None,
        pause_seconds: float = _PAUSE_SECONDS,
    ) -> None:
        self.numbers = IngestNumbers()
        self.batch_size = _FIRST_BATCH
        self._journals = JournalFolder(folder, monotonic=monotonic)
        self._store = store
        self._enricher = enricher
        self._now = now
        self._monotonic = monotonic
        self._spike = spike or Spike()
        self._pause_seconds = pause_seconds
        self._ids = IdSource()
        self._salts: dict[int, bytes] = {}
        self._hashes = VisitorHashes(self._salts.__getitem__)
        self._salts_from = 0
        self._positions: dict[str, Position] = {}
        self._workspaces: dict[int, int] = {}
        self._months: set[int] = set()
        self._choices = Choices(enricher.privacy)
        self._choices_until = float("-inf")
        # By journal: the moment of the oldest click that was seen and is not applied.
        self._oldest: dict[str, int] = {}
        self._is_failing = False

    @property
    def lag_seconds(self) -> float:
        """How old the oldest click is that is not applied; 0 when all are."""
        if not self._oldest:
            return 0.0
        return max(0.0, (self._now() - min(self._oldest.values())) / SECOND)

    async def run(self, stopping: asyncio.Event, board: Board | None = None) -> None:
        """Until told to stop; then to the end, so that nothing that was answered waits for the next start."""
        if board is not None:
            self.numbers = board.ingest
        while not stopping.is_set():
            applied = await self._try_to_drain()
            if board is not None:
                board.ingest = self.numbers
            if applied and self._oldest:
                continue  # a backlog
            # Clicks that gather meanwhile cost together hardly more than one: without a pause a thousand a second, ten to a
            # batch, took a processor for themselves.
            await self._spike.let_pass(applied, stopping)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), self._pause_seconds)
        while await self._try_to_drain():
            pass

    async def _try_to_drain(self) -> int:
        """What cannot be applied now stays in the journal and is read again."""
        try:
            applied = await self.drain_once()
        except Unavailable as error:
            if not self._is_failing:
                log.warning("clicks wait in the journal", error=str(error))
            self._is_failing = True
            # Perhaps it was only too much at once.
            self.batch_size = max(_SMALLEST_BATCH, self.batch_size // 2)
            return 0
        self._is_failing = False
        return applied

    async def drain_once(self) -> int:
        """One batch of each journal; how many clicks were applied."""
        applied = 0
        moment = self._now()
        self._enricher.refresh()
        await self._forget_salts()
        for journal_id in self._journals.journals():
            applied += await self._drain(journal_id)
        self.numbers.looked_at = moment
        self.numbers.journal_bytes = self._journals.size()
        return applied

    async def _drain(self, journal_id: str) -> int:
        # Asked before reading: what a live writer appends after the reading is seen the next time.
        is_finished = self._journals.is_abandoned(journal_id)
        since = self._positions.get(journal_id) or await self._store.position(journal_id)
        batch = self._journals.read(journal_id, since, self.batch_size, is_finished=is_finished)
        self.numbers.foreign_segments += batch.foreign_segments
        if batch.oldest is not None:
            self._note_oldest(journal_id, batch.oldest)
        if batch.reached != since and not await self._apply(batch):
            return 0
        self._settle(batch)
        if is_finished and not len(batch.clicks):
            await self._delete(journal_id)
        return len(batch.clicks)

    async def _apply(self, batch: Batch) -> bool:
        # Until it is certain what became of the batch, the database alone knows the position.
        self._positions.pop(batch.journal_id, None)
        began = self._monotonic()
        additions = [await self._addition(clicks) for clicks in await self._by_day(batch.clicks)]
        try:
            await self._store.apply(batch, additions)
        except Conflict:
            return False
        self._adapt(batch, self._monotonic() - began)
        return True

    async def _by_day(self, clicks: Clicks) -> list[Clicks]:
        """Clicks of known links, day by day; within a day in the order they were written."""
        known = clicks.where(await self._have_workspaces(clicks.link_ids))
        self.numbers.unknown_links += len(clicks) - len(known)
        present = self._now()
        ahead = int(np.count_nonzero(known.moments > present))
        if ahead:
            self.numbers.clamped += ahead
            known = dataclasses.replace(known, moments=np.minimum(known.moments, present))
        days = known.moments // DAY
        return [known.where(days == day) for day in np.unique(days)]

    async def _addition(self, clicks: Clicks) -> Addition:
        moment = int(clicks.moments[0])
        day = moment // DAY
        if day not in self._salts:
            self._salts[day] = await self._store.salt(day)
        await self._prepare_month(month_of(moment))
        choices = await self._current_choices()
        columns = Columns.from_clicks(clicks, self._enricher, self._hashes, self._workspaces, choices)
        present = self._now()
        too_old = choices.too_old(columns.workspaces.rows(), columns.moments.tolist(), present)
        return Addition(columns, self._ids.take_many(present, len(clicks)), too_old)

    async def _current_choices(self) -> Choices:
        if self._monotonic() >= self._choices_until:
            # Asked before the query: what changes while it is under way is not remembered for longer.
            until = self._monotonic() + _REMEMBER_CHOICES_SECONDS
            self._choices = Choices(self._enricher.privacy, await self._store.choices())
            self._choices_until = until
        return self._choices

    async def _forget_salts(self) -> None:
        """Those of days that are over: from then on nobody can tell who was who."""
        oldest = self._now() // DAY - _KEEP_SALTS_DAYS
        if self._salts_from != oldest:
            await self._store.forget_salts(oldest)
            self._salts_from = oldest
            for day in [day for day in self._salts if day < oldest]:
                del self._salts[day]

    async def _prepare_month(self, month: int) -> None:
        if month in self._months:
            return
        # Without room of its own a month's clicks are kept all the same, and moved later.
        with contextlib.suppress(Unavailable):
            await self._store.prepare_months(month, 1)
            self._months.add(month)

    async def _have_workspaces(self, link_ids: Numbers) -> NDArray[np.bool_]:
        """Which of these links the database knows; their workspaces are then in memory."""
        links = Coded.from_numbers(link_ids)
        unknown = [link_id for link_id in links.values if link_id not in self._workspaces]
        if unknown:
            if len(self._workspaces) > _MOST_WORKSPACES:
                self._workspaces.clear()
                unknown = list(links.values)
            self._workspaces.update(await self._store.workspaces_of(unknown))
        return np.array([link_id in self._workspaces for link_id in links.values], bool)[links.places]

    def _adapt(self, batch: Batch, seconds: float) -> None:
        if seconds > _SHRINK_ABOVE_SECONDS:
            self.batch_size = max(_SMALLEST_BATCH, self.batch_size // 2)
        elif batch.is_full and seconds < _GROW_BELOW_SECONDS:
            self.batch_size = min(_LARGEST_BATCH, self.batch_size * 2)

    def _settle(self, batch: Batch) -> None:
        """After the commit."""
        self._positions[batch.journal_id] = batch.reached
        self.numbers.applied += len(batch.clicks)
        self.numbers.skipped_bytes += batch.skipped_bytes
        # After a full batch more waits behind it, about as old as its last click.
        self._note_oldest(batch.journal_id, batch.newest if batch.is_full else None)
        self._journals.delete_before(batch.journal_id, batch.segment)

    def _note_oldest(self, journal_id: str, moment: int | None) -> None:
        self._oldest.pop(journal_id, None)
        if moment is not None:
            self._oldest[journal_id] = moment
        self.numbers.oldest = min(self._oldest.values(), default=0)

    async def _delete(self, journal_id: str) -> None:
        self._journals.delete_segments(journal_id)
        await self._store.forget(journal_id)
        self._journals.delete_lock(journal_id)
        self._positions.pop(journal_id, None)
