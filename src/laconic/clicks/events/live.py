"""Clicks as they are counted, for whoever watches.

Each worker follows the database, so it shows the clicks that any worker has answered. One task asks for all of a
worker's watchers, once a second, and only while there are any. Clicks come in from several journals, not quite in
the order of their times: each look goes some seconds further back than the last and skips what was seen.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from laconic import clock
from laconic.clicks.events.model import ClickEvent, Place
from laconic.clicks.events.store import EventStore
from laconic.clock import HOUR, SECOND
from laconic.errors import TooManyRequests, Unavailable

_POLL_SECONDS = 1.0
# How much later than its neighbours a click may come into the database and still be shown.
_LOOK_BACK = 10 * SECOND
# More clicks than that in a second are no longer shown one by one.
_MOST_AT_ONCE = 500
# Whoever is that far behind does not read any more.
_MOST_WAITING = 2_000
_MOST_WATCHERS = 200
# Whoever comes back after longer than that begins anew.
_LONGEST_ABSENCE = HOUR


def _warn(error: Exception) -> None:
    import structlog  # here, because commands open the feed too and never log

    trace = None if isinstance(error, Unavailable) else error
    structlog.get_logger(__name__).warning("live clicks cannot be read", error=str(error), exc_info=trace)


class Shown(NamedTuple):
    """A click for a watcher; `is_gap` when others before it were left out."""

    event: ClickEvent
    short_code: str
    is_gap: bool = False


@dataclass(eq=False, slots=True)
class Watcher:
    """One client's queue. `held` is what has come while older clicks were still looked up."""

    waiting: "asyncio.Queue[Shown]" = field(default_factory=lambda: asyncio.Queue(_MOST_WAITING))
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    held: list[Shown] | None = field(default_factory=list)

    def begin_with(self, missed: list[Shown]) -> None:
        known = {one.event.id for one in missed}
        held, self.held = self.held or [], None
        self.give([*missed, *(one for one in held if one.event.id not in known)])

    def give(self, shown: list[Shown]) -> None:
        if self.held is not None:
            self.held += shown
            return
        try:
            for one in shown:
                self.waiting.put_nowait(one)
        except asyncio.QueueFull:
            self.ended.set()


@dataclass(slots=True)
class _Topic:
    """What some watchers watch: a link, or a whole workspace."""

    workspace_id: int
    link_id: int | None
    newest: int
    seen: dict[int, int] = field(default_factory=dict)  # id: clicked_at
    watchers: set[Watcher] = field(default_factory=set)

    def take_new(self, events: list[ClickEvent]) -> tuple[list[ClickEvent], bool]:
        """Those that were not seen before, oldest first; and whether there were too many to see all."""
        new = [event for event in reversed(events) if event.id not in self.seen]
        is_gap = len(events) == _MOST_AT_ONCE == len(new)
        self.seen.update((event.id, event.clicked_at) for event in new)
        self.newest = max([self.newest, *(event.clicked_at for event in new)])
        horizon = self.newest - _LOOK_BACK
        self.seen = {id_: moment for id_, moment in self.seen.items() if moment >= horizon}
        return new, is_gap


class LiveFeed:
    """Clicks for watchers, until `close`."""

    def __init__(
        self, store: EventStore, *, now: Callable[[], int] = clock.now, poll_seconds: float = _POLL_SECONDS
    ) -> None:
        self._store = store
        self._now = now
        self._poll_seconds = poll_seconds
        self._topics: dict[tuple[int, int | None], _Topic] = {}
        self._task: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    @contextlib.asynccontextmanager
    async def watch(
        self, workspace_id: int, link_id: int | None, last_seen: Place | None = None
    ) -> AsyncIterator[Watcher]:
        """A queue that gets every click that is counted from now on, or from behind `last_seen` on."""
        if self._closed.is_set():
            raise Unavailable("The server is stopping.")
        if sum(len(topic.watchers) for topic in self._topics.values()) >= _MOST_WATCHERS:
            raise TooManyRequests(10)
        topic = await self._topic(workspace_id, link_id)
        if last_seen is not None:
            # Another worker may have shown what this one's next look would find new.
            await self._tell(topic)
        watcher = Watcher()
        topic.watchers.add(watcher)
        try:
            watcher.begin_with(await self._missed(topic, last_seen) if last_seen is not None else [])
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._follow())
            yield watcher
        finally:
            topic.watchers.discard(watcher)
            if not topic.watchers:
                self._topics.pop((workspace_id, link_id), None)

    async def _topic(self, workspace_id: int, link_id: int | None) -> _Topic:
        known = self._topics.get((workspace_id, link_id))
        if known is not None:
            return known
        topic = _Topic(workspace_id, link_id, self._now())
        topic.take_new(await self._look(topic))  # what is there already is not new
        # Somebody else may have come meanwhile.
        return self._topics.setdefault((workspace_id, link_id), topic)

    async def _look(self, topic: _Topic) -> list[ClickEvent]:
        return await self._newest(topic, topic.newest - _LOOK_BACK)

    async def _newest(self, topic: _Topic, start: int) -> list[ClickEvent]:
        # Another machine's clock may be ahead of ours.
        end = self._now() + HOUR
        return await self._store.newest(topic.workspace_id, topic.link_id, start, end, _MOST_AT_ONCE)

    async def _missed(self, topic: _Topic, last_seen: Place) -> list[Shown]:
        events = await self._newest(topic, max(last_seen.clicked_at, self._now() - _LONGEST_ABSENCE))
        # What the topic has not seen comes with its next look.
        horizon = topic.newest - _LOOK_BACK
        missed = [
            event
            for event in reversed(events)
            if event.place > last_seen and (event.id in topic.seen or event.clicked_at < horizon)
        ]
        return await self._with_codes(topic, missed, is_gap=len(events) == _MOST_AT_ONCE)

    async def _follow(self) -> None:
        while self._topics and not self._closed.is_set():
            for topic in list(self._topics.values()):
                try:
                    await self._tell(topic)
                except Exception as error:
                    # Whatever it is, the next look may go well; silence would look like no clicks.
                    _warn(error)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closed.wait(), self._poll_seconds)

    async def _tell(self, topic: _Topic) -> None:
        new, is_gap = topic.take_new(await self._look(topic))
        if new:
            shown = await self._with_codes(topic, new, is_gap=is_gap)
            for watcher in list(topic.watchers):
                watcher.give(shown)

    async def _with_codes(self, topic: _Topic, events: list[ClickEvent], *, is_gap: bool) -> list[Shown]:
        if not events:
            return []
        codes = await self._store.codes_of(topic.workspace_id, sorted({one.short_link_id for one in events}))
        shown = [Shown(event, codes.get(event.short_link_id, "")) for event in events]
        return [shown[0]._replace(is_gap=is_gap), *shown[1:]]

    async def close(self) -> None:
        """Every watcher's queue ends."""
        self._closed.set()
        for topic in self._topics.values():
            for watcher in topic.watchers:
                watcher.ended.set()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
