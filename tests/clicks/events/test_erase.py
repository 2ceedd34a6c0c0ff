"""Erasing raw clicks."""

from collections.abc import Awaitable, Callable

import pytest

from laconic.clicks.events.browse import EventBrowser
from laconic.clicks.events.erase import Eraser, visitor_digest
from laconic.clicks.events.store import EventStore
from laconic.clock import DAY, HOUR, now
from laconic.errors import ChoiceRefused
from tests.clicks.raw_events import event

Keep = Callable[..., Awaitable[None]]


@pytest.fixture
def eraser(event_store: EventStore) -> Eraser:
    return Eraser(event_store)


async def left(store: EventStore, link_id: int, workspace_id: int = 1) -> int:
    return len((await EventBrowser(store).recent(workspace_id, link_id, 0, None, 1_000)).events)


async def test_a_links_clicks_are_erased_in_every_month(
    eraser: Eraser, event_store: EventStore, keep: Keep, links: tuple[int, ...]
) -> None:
    """All of them and no other's; a second time there is nothing to erase."""
    moments = [now() - days * DAY for days in (0, 0, 1, 31, 62, 93)]
    await keep(*(event(link_id, moment) for link_id in links for moment in moments))
    assert await eraser.link(1, links[0]) == 6
    assert await left(event_store, links[0]) == 0
    assert await left(event_store, links[1]) == 6
    assert await eraser.link(1, links[0]) == 0


async def test_many_clicks_are_erased_in_steps(
    eraser: Eraser, event_store: EventStore, keep: Keep, links: tuple[int, ...]
) -> None:
    """More than one step takes, many of them at one moment."""
    moment = now() - 2 * HOUR
    await keep(*(event(links[0], moment + number // 4_000) for number in range(12_000)))
    assert await eraser.link(1, links[0]) == 12_000


async def test_a_visitors_clicks_are_erased_on_every_link(
    eraser: Eraser, event_store: EventStore, keep: Keep, links: tuple[int, ...]
) -> None:
    one, other = b"\x01" * 16, b"\x02" * 16
    await keep(
        event(links[0], now(), visitor_hash=one),
        event(links[1], now() - 40 * DAY, visitor_hash=one),
        event(links[1], now(), visitor_hash=other),
        event(links[1], now(), visitor_hash=None),
        event(links[2], now(), visitor_hash=one, workspace_id=2),
    )
    assert await eraser.visitor(1, visitor_digest(one.hex().upper())) == 2
    assert (await left(event_store, links[0]), await left(event_store, links[1])) == (0, 2)
    assert await left(event_store, links[2], workspace_id=2) == 1


async def test_p8_a_link_of_another_tenant_keeps_its_clicks(
    eraser: Eraser, event_store: EventStore, keep: Keep, links: tuple[int, ...]
) -> None:
    await keep(event(links[0], now()))
    assert await eraser.link(2, links[0]) == 0
    assert await left(event_store, links[0]) == 1


@pytest.mark.parametrize("visitor", ["", "xyz", "abc", "00", "0" * 130, "zz" * 16, "٠٠" * 8])
def test_what_is_no_visitor_is_refused(visitor: str) -> None:
    """Above all nothing, which must not mean everybody."""
    with pytest.raises(ChoiceRefused):
        visitor_digest(visitor)
