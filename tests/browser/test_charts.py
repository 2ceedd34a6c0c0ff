"""Pages with charts, in a real browser, with the clicks of a campaign."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from laconic.clock import MINUTE, now
from tests.browser.window import Scheme, Size, Window, open_window
from tests.clicks.raw_events import event
from tests.flows.server import LaconicServer
from tests.web.seeding import campaign, seed

_MOST_BYTES = 300_000
_PAGES = ("/dashboard", "/dashboard/links/spring26", "/dashboard/links/quiet1")


@pytest.fixture(scope="module")
def campaigns(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LaconicServer]:
    """A server in open mode with two links that were followed for weeks, and one that nobody has followed."""
    with LaconicServer(tmp_path_factory.mktemp("campaigns")) as server:
        clicks, events = [], []
        with server.client() as client:
            for code, a_day in (("spring26", 25), ("podcast", 8), ("quiet1", 0)):
                body = {
                    "original_url": f"https://example.com/{code}",
                    "custom_code": code,
                    "title": f"About {code}",
                }
                link_id = int(client.post("/api/v1/urls", json=body).raise_for_status().json()["id"])
                clicks += campaign(link_id, now(), days=65, a_day=a_day) if a_day else []
                events += [event(link_id, now() - n * MINUTE) for n in range(12) if a_day]
        # Not in this thread: Playwright's loop runs in it.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, seed(server.database_url, clicks, events)).result()
        yield server


@pytest.fixture
def look(chromium: Browser, campaigns: LaconicServer) -> Iterator[Any]:
    opened: list[Window] = []

    def open_one(size: Size = "desktop", scheme: Scheme = "light", **options: Any) -> Window:
        opened.append(open_window(chromium, campaigns.base_url, size, scheme, **options))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_charts_are_for_everybody_and_move_nothing(look: Any, size: Size) -> None:
    """Nothing that axe-core calls serious, no scrolling sideways, no layout shift when charts and live clicks load."""
    wrong: list[str] = []
    one = look(size)
    for path in _PAGES:
        assert one.goto(path) == 200
        expect(one.page.locator(".pulse")).to_have_attribute("data-state", "on")
        if one.layout_shift() > 0.001:
            wrong.append(f"{path}: its layout shifts by {one.layout_shift():.4f}: {one.shifted()}")
        one.page.evaluate(
            "document.querySelectorAll('main details').forEach((part) => { part.open = true; })"
        )
        wrong += [f"{path}: {finding}" for finding in one.grave_findings_in_all_colours()]
        if one.has_sideways_scroll():
            wrong.append(f"{path}: scrolls sideways")
    assert not wrong, "\n".join(wrong)


def test_a_click_arrives_live(look: Any, campaigns: LaconicServer) -> None:
    """At the top of the list and in the figure, without loading the page again; bots are counted as bots."""
    one = look()
    one.goto("/dashboard/links/spring26")
    expect(one.page.locator(".pulse")).to_have_attribute("data-state", "on")
    people, bots = (one.page.locator(f'[data-figure="{name}"]') for name in ("people", "bots"))
    before = [int(figure.inner_text().replace(",", "")) for figure in (people, bots)]
    agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0"
    with campaigns.client() as visitor:
        headers = {"user-agent": agent, "referer": "https://news.example.com/<b>story</b>"}
        visitor.get("/spring26", headers=headers)
        visitor.get("/spring26", headers={"user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)"})
    newest = one.page.locator(".live li.new")
    expect(newest).to_have_count(2, timeout=30_000)
    expect(newest.filter(has_text="news.example.com")).to_contain_text("Firefox, Windows")
    expect(people).to_have_text(f"{before[0] + 1:,}")
    expect(bots).to_have_text(f"{before[1] + 1:,}")


def test_the_first_click_offers_the_charts(look: Any, campaigns: LaconicServer) -> None:
    """Whoever waits for it on the page of a new link need not think of reloading."""
    with campaigns.client() as visitor:
        body = {"original_url": "https://example.com/first", "custom_code": "first1"}
        visitor.post("/api/v1/urls", json=body).raise_for_status()
        one = look("phone")
        one.goto("/dashboard/links/first1")
        expect(one.page.locator(".pulse")).to_have_attribute("data-state", "on")
        visitor.get("/first1")
    one.page.get_by_role("link", name="show the charts").click(timeout=30_000)
    expect(one.page.locator("svg.timeline").first).to_be_visible()


def test_the_pointer_shows_the_table_s_numbers(look: Any) -> None:
    """Wherever it is over a drawing: the numbers of that day, and nothing once it has left."""
    one = look()
    one.goto("/dashboard/links/spring26")
    plot = one.page.locator("[data-chart]").first
    plot.hover(position={"x": 3, "y": 100})
    first = one.page.locator(".chart table tbody tr").first.locator("th, td").all_text_contents()
    tip = plot.locator(".tip")
    expect(tip.locator("strong")).to_have_text(first[0])
    expect(tip).to_contain_text(first[1])
    one.page.mouse.move(1, 1)
    expect(tip).to_have_count(0)


def test_charts_are_light_and_there_without_scripts(look: Any) -> None:
    """All that a first visit loads is at most 300 kB; without JavaScript the same drawings and tables are shown."""
    for path in _PAGES[:2]:
        one = look()
        session = one.context.new_cdp_session(one.page)
        session.send("Network.enable")
        received: list[float] = []
        session.on(
            "Network.loadingFinished", lambda got, into=received: into.append(got["encodedDataLength"])
        )
        one.goto(path)
        expect(one.page.locator(".pulse")).to_have_attribute("data-state", "on")
        assert 0 < sum(received) <= _MOST_BYTES, f"{path}: {sum(received):.0f} bytes"
        print(f"{path}: {sum(received):,.0f} bytes")
        plain = look(script=False)
        plain.goto(path)
        expect(plain.page.locator("svg.timeline")).to_have_count(2)
        expect(plain.page.locator("svg.world")).to_be_visible()
        plain.context.close()
