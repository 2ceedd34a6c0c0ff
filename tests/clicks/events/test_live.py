"""Live clicks: who watches gets each once, and nobody else's."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from laconic.clicks.events import live
from laconic.clicks.events.live import LiveFeed, Watcher
from laconic.clicks.events.model import Place
from laconic.clicks.events.store import EventStore
from laconic.clock import MINUTE, SECOND, now
from laconic.errors import TooManyRequests, Unavailable
from tests.clicks.raw_events import event

Keep = Callable[..., Awaitable[None]]


@pytest.fixture
async def feed(event_store: EventStore) -> AsyncIterator[LiveFeed]:
    feed = LiveFeed(event_store, poll_seconds=0.02)
    yield feed
    await feed.close()


async def take(watcher: Watcher, count: int) -> list[int]:
    return [(await asyncio.wait_for(watcher.waiting.get(), 30)).event.id for _ in range(count)]


async def test_clicks_come_once_and_in_order(feed: LiveFeed, keep: Keep, links: tuple[int, ...]) -> None:
    """Those that were there before do not come; each has its link's code."""
    await keep(event(links[0], now()))
    async with feed.watch(1, None) as watcher:
        new = [event(link_id, now() + number) for number, link_id in enumerate(links)]
        await keep(*new)
        first = await asyncio.wait_for(watcher.waiting.get(), 30)
        assert (first.event.id, first.short_code) == (new[0]["id"], f"code{links[0]}")
        assert await take(watcher, 2) == [new[1]["id"], new[2]["id"]]
        later = event(links[0], now())
        await keep(later)
        assert await take(watcher, 1) == [later["id"]]
        assert watcher.waiting.empty()


async def test_a_click_that_comes_late_is_not_lost(
    feed: LiveFeed, keep: Keep, links: tuple[int, ...]
) -> None:
    """From another worker's journal, some seconds older than what was shown last."""
    async with feed.watch(1, None) as watcher:
        new, late = event(links[0], now()), event(links[0], now() - 5 * SECOND)
        await keep(new)
        assert await take(watcher, 1) == [new["id"]]
        await keep(late)
        assert await take(watcher, 1) == [late["id"]]


async def test_watchers_get_only_what_they_watch(feed: LiveFeed, keep: Keep, links: tuple[int, ...]) -> None:
    """A link's, their own workspace's; several watch at once."""
    async with (
        feed.watch(1, None) as all_,
        feed.watch(1, links[1]) as one,
        feed.watch(2, None) as other,
        feed.watch(2, links[1]) as foreign,
    ):
        clicks = [
            event(links[0], now()),
            event(links[1], now() + 1),
            event(links[2], now(), workspace_id=2),
        ]
        await keep(*clicks)
        assert set(await take(all_, 2)) == {clicks[0]["id"], clicks[1]["id"]}
        assert await take(one, 1) == [clicks[1]["id"]]
        assert await take(other, 1) == [clicks[2]["id"]]
        await keep(last := event(links[1], now() + 2))
        assert await take(one, 1) == [last["id"]]
        assert foreign.waiting.empty()
        assert other.waiting.empty()


async def test_whoever_comes_back_gets_what_was_missed(
    feed: LiveFeed, keep: Keep, links: tuple[int, ...]
) -> None:
    """Behind the last one seen, also when that is minutes ago; then what is new, nothing twice."""
    past = [event(links[0], now() - minutes * MINUTE) for minutes in (5, 4, 3)]
    await keep(*past)
    last = Place(past[0]["clicked_at"], past[0]["id"])
    async with feed.watch(1, links[0], last) as watcher:
        assert await take(watcher, 2) == [past[1]["id"], past[2]["id"]]
        await keep(new := event(links[0], now()))
        assert await take(watcher, 1) == [new["id"]]
        assert watcher.waiting.empty()


async def test_whoever_does_not_read_is_dropped(
    feed: LiveFeed, keep: Keep, links: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their queue does not grow; others are not held up."""
    monkeypatch.setattr(live, "_MOST_WAITING", 3)
    async with feed.watch(1, None) as lazy:
        await keep(*(event(links[0], now()) for _ in range(4)))
        await asyncio.wait_for(lazy.ended.wait(), 30)
        assert lazy.waiting.qsize() == 3


async def test_too_many_clicks_are_a_gap(
    feed: LiveFeed, keep: Keep, links: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest are shown, and that others were not."""
    monkeypatch.setattr(live, "_MOST_AT_ONCE", 5)
    async with feed.watch(1, None) as watcher:
        clicks = [event(links[0], now() + number) for number in range(9)]
        await keep(*clicks)
        first = await asyncio.wait_for(watcher.waiting.get(), 30)
        assert (first.event.id, first.is_gap) == (clicks[4]["id"], True)


async def test_watchers_are_bounded(feed: LiveFeed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_MOST_WATCHERS", 1)
    async with feed.watch(1, None):
        with pytest.raises(TooManyRequests):
            async with feed.watch(1, None):
                pass
    async with feed.watch(1, None):
        pass


async def test_nothing_is_asked_when_nobody_watches(feed: LiveFeed) -> None:
    """The task that asks ends with the last watcher."""
    before = asyncio.all_tasks()
    async with feed.watch(1, None):
        (task,) = asyncio.all_tasks() - before
    await asyncio.wait_for(task, 30)


async def test_closing_ends_every_watcher(feed: LiveFeed) -> None:
    async with feed.watch(1, None) as watcher:
        await feed.close()
        assert watcher.ended.is_set()
        with pytest.raises(Unavailable):
            async with feed.watch(1, None):
                pass
