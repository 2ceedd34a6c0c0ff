"""Recent clicks by page, and exports, across months."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from laconic.clicks.events.browse import EventBrowser, Page
from laconic.clicks.events.model import Place
from laconic.clicks.events.store import EventStore
from laconic.clock import DAY, HOUR, now
from laconic.errors import ChoiceRefused
from tests.clicks.raw_events import VISITOR, event

Keep = Callable[..., Awaitable[None]]


@pytest.fixture
def browser(event_store: EventStore) -> EventBrowser:
    return EventBrowser(event_store)


def clicks_of_months(link_id: int, count: int = 60) -> list[dict[str, Any]]:
    """Over some three months, several at the same moment."""
    chance = random.Random(3)
    moments = [now() - chance.randrange(90) * DAY - chance.randrange(3) * HOUR for _ in range(count)]
    return [event(link_id, moment) for moment in moments]


def in_order(events: list[dict[str, Any]]) -> list[int]:
    return [one["id"] for one in sorted(events, key=lambda one: (one["clicked_at"], one["id"]))]


async def walk(browser: EventBrowser, link_id: int, limit: int) -> list[int]:
    seen: list[int] = []
    page = Page([], "")
    while page.next_cursor is not None:
        page = await browser.recent(1, link_id, 0, page.next_cursor or None, limit)
        assert len(page.events) <= limit
        seen += [one.id for one in page.events]
    return seen


async def test_pages_meet_every_click_once_newest_first(
    browser: EventBrowser, keep: Keep, links: tuple[int, ...]
) -> None:
    """From month to month, also where many came at the same moment."""
    own = clicks_of_months(links[0])
    await keep(*own, *clicks_of_months(links[1]))
    for limit in (1, 7, 60, 100):
        assert await walk(browser, links[0], limit) == in_order(own)[::-1]


async def test_a_click_has_all_its_fields(browser: EventBrowser, keep: Keep, links: tuple[int, ...]) -> None:
    """The visitor as hexadecimal digits; nothing of the tenant."""
    moment = now()
    one = event(links[0], moment)
    await keep(one)
    page = await browser.recent(1, links[0], moment - HOUR, None, 10)
    (shown,) = [found.document("code101") for found in page.events]
    assert shown == {
        **{name: one[name] for name in one if name not in ("short_link_id", "workspace_id", "visitor_hash")},
        "id": str(one["id"]),
        "clicked_at": shown["clicked_at"],
        "short_code": "code101",
        "visitor": VISITOR.hex(),
    }


async def test_what_is_not_known_is_null(browser: EventBrowser, keep: Keep, links: tuple[int, ...]) -> None:
    nothing = dict.fromkeys(("ip_address", "visitor_hash", "user_agent", "referer", "country", "city"))
    await keep(event(links[0], now(), **nothing, device_type="unknown"))
    (found,) = (await browser.recent(1, links[0], 0, None, 10)).events
    document = found.document("x")
    assert document["visitor"] is document["ip_address"] is document["country"] is None


async def test_exports_hold_the_time_that_was_asked_for(
    browser: EventBrowser, keep: Keep, links: tuple[int, ...]
) -> None:
    """Oldest first; the end is not part of it."""
    own = clicks_of_months(links[0])
    await keep(*own)
    start, end = sorted(one["clicked_at"] for one in own)[10], sorted(one["clicked_at"] for one in own)[50]
    for first, last in ((0, now() + DAY), (start, end)):
        inside = [one for one in own if first <= one["clicked_at"] < last]
        found = [one.id async for batch in browser.export(1, links[0], first, last) for one in batch]
        assert found == in_order(inside)


async def test_exports_go_on_behind_a_full_batch(
    browser: EventBrowser, keep: Keep, links: tuple[int, ...]
) -> None:
    """Every click once, whatever the size of a batch, with thousands at one moment."""
    moment = now() - HOUR
    events = [event(links[0], moment + (number > 3_000)) for number in range(4_500)]
    await keep(*events)
    batches = [batch async for batch in browser.export(1, links[0], 0, now())]
    assert len(batches) == 3
    assert [one.id for batch in batches for one in batch] == in_order(events)


async def test_p8_clicks_of_other_tenants_are_not_there(
    browser: EventBrowser, keep: Keep, links: tuple[int, ...]
) -> None:
    await keep(event(links[0], now(), workspace_id=2))
    assert (await browser.recent(1, links[0], 0, None, 10)).events == []
    assert [batch async for batch in browser.export(1, links[0], 0, now() + DAY)] == []


@pytest.mark.parametrize(
    "cursor", ["", "x", "1-", "-1", "1-2-3", "9" * 18 + "-1", "1-" + "9" * 19, "1 - 2", "١-٢"]
)
async def test_only_cursors_that_were_given_out_are_taken(browser: EventBrowser, cursor: str) -> None:
    with pytest.raises(ChoiceRefused):
        await browser.recent(1, 1, 0, cursor, 10)


def test_a_place_is_read_back() -> None:
    place = Place(now(), 10**17)
    assert Place.from_text(str(place)) == place
