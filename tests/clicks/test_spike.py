"""A spike of redirects: its clicks wait in the journal while the processors are busy, and no longer than they may."""

import asyncio
from pathlib import Path

import pytest

from laconic.clicks.journal import Journal
from laconic.clicks.spike import Spike, idle_seconds
from laconic.clicks.store import ClickStore
from tests.clicks.records import click_on, open_ingest

pytestmark = pytest.mark.anyio

MANY = 5_000


class _Processors:
    """Busy until told otherwise; each look takes a moment of their own clock."""

    def __init__(self, seconds_a_look: float = 0.001) -> None:
        self.looks = 0
        self.is_busy = True
        self._news: asyncio.Queue[None] = asyncio.Queue()
        self._idle = 0.0
        self._seconds = 0.0
        self._seconds_a_look = seconds_a_look

    def idle_seconds(self) -> float:
        self.looks += 1
        self._news.put_nowait(None)
        self._seconds += self._seconds_a_look
        self._idle += 0.0 if self.is_busy else 1_000.0
        return self._idle

    def monotonic(self) -> float:
        return self._seconds

    async def looked_at(self, times: int) -> None:
        """Until somebody has looked so many times more."""
        for _ in range(times):
            await self._news.get()


def _spike(processors: _Processors) -> Spike:
    return Spike(idle_seconds=processors.idle_seconds, monotonic=processors.monotonic)


async def test_clicks_wait_while_redirects_need_the_processors(folder: Path, store: ClickStore) -> None:
    """What comes behind a large batch is applied once there is room for it, or at the end."""
    processors = _Processors()
    journal = Journal(folder)
    click_on(journal, 101, count=MANY)
    ingest = open_ingest(folder, store, spike=_spike(processors))
    stopping = asyncio.Event()
    running = asyncio.create_task(ingest.run(stopping))
    await processors.looked_at(2)
    click_on(journal, 101, count=MANY)
    await processors.looked_at(2)
    assert ingest.numbers.applied == MANY
    processors.is_busy = False
    # Two that end the wait, and one that begins the next: behind the second batch.
    await processors.looked_at(3)
    assert ingest.numbers.applied == 2 * MANY
    processors.is_busy = True
    click_on(journal, 101, count=1)
    stopping.set()
    await running
    assert ingest.numbers.applied == 2 * MANY + 1
    journal.close()


async def test_a_backlog_is_worked_at_whatever_the_processors_do(folder: Path, store: ClickStore) -> None:
    """Nobody waits between the batches of what is late already."""
    processors = _Processors()
    journal = Journal(folder)
    click_on(journal, 101, count=3 * MANY)
    ingest = open_ingest(folder, store, spike=_spike(processors))
    ingest.batch_size = 2 * MANY
    stopping = asyncio.Event()
    running = asyncio.create_task(ingest.run(stopping))
    await processors.looked_at(1)
    assert ingest.numbers.applied == 3 * MANY
    stopping.set()
    await running
    journal.close()


class _Counted(Spike):
    """Knows how often a batch was through."""

    def __init__(self) -> None:
        super().__init__()
        self.batches = 0
        self.news = asyncio.Event()

    async def let_pass(self, applied: int, stopping: asyncio.Event) -> None:
        self.batches += 1
        self.news.set()


async def test_clicks_of_a_moment_are_applied_together(folder: Path, store: ClickStore) -> None:
    """Behind each batch there is a pause, or ten clicks at a time would keep a processor busy."""
    spike = _Counted()
    journal = Journal(folder)
    click_on(journal, 101, count=1)
    ingest = open_ingest(folder, store, spike=spike, pause_seconds=3600.0)
    stopping = asyncio.Event()
    running = asyncio.create_task(ingest.run(stopping))
    await spike.news.wait()
    click_on(journal, 101, count=1)
    for _ in range(20):
        # Each takes as long as a look of ingest at its position.
        await store.position("nobody's")
    assert (spike.batches, ingest.numbers.applied) == (1, 1)
    stopping.set()
    await running
    assert ingest.numbers.applied == 2
    journal.close()


async def test_few_clicks_wait_for_nothing() -> None:
    """Looking would take longer than applying them."""
    processors = _Processors(seconds_a_look=1.0)
    await _spike(processors).let_pass(MANY - 1, asyncio.Event())
    assert processors.looks == 0


async def test_a_spike_is_no_longer_than_ten_seconds() -> None:
    """What lasts longer is worked at beside the redirects."""
    processors = _Processors(seconds_a_look=1.0)
    await _spike(processors).let_pass(MANY, asyncio.Event())
    assert processors.looks == 10


@pytest.mark.parametrize(("idle", "looks"), [(0.99, 10), (1.0, 2)])
async def test_half_a_processor_is_room_enough(idle: float, looks: int) -> None:
    """Idle for so long in two seconds."""
    processors = _Processors(seconds_a_look=1.0)
    spike = Spike(
        idle_seconds=lambda: processors.idle_seconds() + idle * processors.looks,
        monotonic=processors.monotonic,
    )
    await spike.let_pass(MANY, asyncio.Event())
    assert processors.looks == looks


async def test_a_spike_ends_when_the_process_does() -> None:
    """It is told to stop, and has clicks to apply before."""
    stopping = asyncio.Event()
    waiting = asyncio.create_task(Spike(idle_seconds=lambda: 0.0).let_pass(MANY, stopping))
    await asyncio.sleep(0)
    stopping.set()
    await waiting


async def test_idle_time_is_that_of_this_machine() -> None:
    """It never runs backwards."""
    before = idle_seconds()
    await asyncio.sleep(0.05)
    assert 0 < before <= idle_seconds()
