"""Pages with charts, over HTTP."""

from html import unescape
from typing import Any

import httpx
import pytest

from laconic.clock import DAY, now
from laconic.links.model import LinkDraft
from laconic.workspaces.model import command_actor
from tests.clicks.raw_events import event
from tests.clicks.rollups import Counted
from tests.web.seeding import campaign, seed
from tests.web.site import BROWSER, Site, outline

_HOSTILE = "\"><script>alert(1)</script>'<svg onload=alert(2)>"


@pytest.fixture
def browser(site: Site) -> httpx.AsyncClient:
    """Somebody with a browser, in open mode."""
    site.client.headers.update(BROWSER)
    return site.client


async def _link_id(site: Site, code: str) -> int:
    return int((await site.client.get(f"/api/v1/urls/{code}")).json()["id"])


async def _page(client: httpx.AsyncClient, path: str, status: int = 200) -> str:
    answer = await client.get(path)
    assert answer.status_code == status, answer.text
    return answer.text


async def test_a_link_without_clicks_says_what_to_do_next(site: Site, browser: httpx.AsyncClient) -> None:
    """Its short URL to copy, its QR code, and a place where the first click will arrive; no empty charts."""
    code = await site.make_link(title="Spring sale")
    page = await _page(browser, f"/dashboard/links/{code}")
    assert "No clicks yet" in page
    assert f'data-copy="http://localhost:8000/{code}"' in page
    assert f'src="/api/v1/urls/{code}/qr?' in page
    assert f'data-live="/api/v1/clicks/live?code={code}"' in page
    assert 'class="timeline"' not in page
    picture = await browser.get(f"/api/v1/urls/{code}/qr?size=304")
    assert picture.status_code == 200


async def test_an_empty_workspace_asks_for_its_first_link(browser: httpx.AsyncClient) -> None:
    """Not a page of noughts."""
    page = await _page(browser, "/dashboard")
    assert "Make the first link" in page
    assert 'href="/dashboard/new-link"' in page


async def test_charts_show_what_the_api_reports(
    site: Site, browser: httpx.AsyncClient, empty_database: str
) -> None:
    """People, bots and visitors of thirty days are the same numbers; the map and every list are there."""
    code = await site.make_link(title="Spring sale")
    await seed(empty_database, campaign(await _link_id(site, code), now(), days=40, a_day=20))
    page = await _page(browser, f"/dashboard/links/{code}")
    report = (await browser.get(f"/api/v1/urls/{code}/analytics")).json()
    for figure, field in (
        ("people", "human_clicks"),
        ("bots", "bot_clicks"),
        ("visitors", "unique_visitors"),
    ):
        assert f'<span data-figure="{figure}">{report["totals"][field]:,}</span>' in page
    for heading in (
        "Countries",
        "Referrers",
        "Devices",
        "Browsers",
        "Systems",
        "Hours of the week",
        "Visitors by day",
    ):
        assert f">{heading}</h2>" in page
    assert "<title>Germany: " in page
    assert page.count('<td class="shade') == 7 * 24
    assert "Direct or unknown" in page
    overview = await _page(browser, "/dashboard")
    assert f'href="/dashboard/links/{code}"' in overview
    assert "Spring sale" in overview


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard/links/{code}"])
async def test_exports_lead_to_the_same_time(
    site: Site, browser: httpx.AsyncClient, empty_database: str, path: str
) -> None:
    """CSV and JSON of the very period that the page shows, and of the same traffic."""
    code = await site.make_link()
    link_id = await _link_id(site, code)
    await seed(
        empty_database, [Counted(link_id, now() - DAY, times=3), Counted(link_id, now() - 20 * DAY, times=50)]
    )
    page = await _page(browser, path.format(code=code) + "?days=7")
    links = [
        unescape(part.partition('"')[0]) for part in page.split('href="')[1:] if part.startswith("/api/v1/")
    ]
    assert len(links) == (2 if path == "/dashboard" else 4)
    answers = [await browser.get(link) for link in links]
    assert [answer.status_code for answer in answers] == [200] * len(links)
    assert answers[0].headers["content-type"].startswith("text/csv")
    assert answers[1].json()["totals"]["human_clicks"] == 3
    assert answers[1].json()["traffic"] == "humans"


async def test_a_time_that_cannot_be_is_told_beside_one_that_can(
    site: Site, browser: httpx.AsyncClient, empty_database: str
) -> None:
    """422 with the reason, in a page that is still of use."""
    code = await site.make_link()
    await seed(empty_database, [Counted(await _link_id(site, code), now() - DAY)])
    for query, words in {
        "from=2026-02-30": "neither a date nor a time",
        "days=365&interval=hour": "at most 31 days",
        "tz=Mars/Base": "no time zone",
        "tz=%00": "no time zone",
        "from=2030-01-02&to=2030-01-01": "must lie before",
        "from=1999-01-01": "between the years 2000 and 2100",
    }.items():
        page = await _page(browser, f"/dashboard/links/{code}?{query}", 422)
        assert words in page
        assert 'class="timeline"' in page


async def test_every_choice_has_a_page(site: Site, browser: httpx.AsyncClient, empty_database: str) -> None:
    """And what is nonsense is as if it had not been said."""
    code = await site.make_link()
    await seed(empty_database, campaign(await _link_id(site, code), now(), days=9, a_day=10))
    queries = (
        "days=1 days=7 days=90 days=365 traffic=bots traffic=all interval=hour&days=7 tz=Asia/Kathmandu"
        " days=nonsense&traffic=%00&interval=%F0 from=2026-01-01&to=2026-01-01 from=2000-01-01&to=2000-01-05"
        " tz=Pacific/Apia&from=2011-12-28&to=2012-01-02&interval=day from=2030-01-01&to=2030-02-01"
    )
    for query in queries.split():
        for path in ("/dashboard", f"/dashboard/links/{code}"):
            await _page(browser, f"{path}?{query}")


async def test_a_browser_s_own_zone_is_taken_where_none_is_chosen(
    site: Site, browser: httpx.AsyncClient, empty_database: str
) -> None:
    """The cookie that the script keeps; one that holds nonsense is as good as none."""
    code = await site.make_link()
    await seed(empty_database, [Counted(await _link_id(site, code), now() - DAY)])
    for kept, zone in (("Europe%2FBerlin", "Europe/Berlin"), ("../../etc", "UTC"), ("%22%3E", "UTC")):
        answer = await browser.get(f"/dashboard/links/{code}", headers={"cookie": f"laconic_zone={kept}"})
        assert f'name="tz" type="text" value="{zone}"' in answer.text
    chosen = await browser.get(
        f"/dashboard/links/{code}?tz=Asia/Tokyo", headers={"cookie": "laconic_zone=Europe%2FBerlin"}
    )
    assert 'value="Asia/Tokyo"' in chosen.text


async def test_whatever_comes_from_outside_stays_text(
    site: Site, browser: httpx.AsyncClient, empty_database: str
) -> None:
    """Titles, referrers and every other value change no tag and no attribute of the page."""
    pages: list[list[tuple[str, ...]]] = []
    clicks: list[Counted] = []
    events: list[dict[str, Any]] = []
    codes = [await site.make_link(title=text) for text in ("tame", _HOSTILE)]
    for code, value in zip(codes, ("tame", _HOSTILE), strict=True):
        names = ("referer", "browser", "os", "city", "language", "device_type")
        clicks.append(Counted(await _link_id(site, code), now() - DAY, values=dict.fromkeys(names, value)))
        referer = f"https://example.com/{value}"
        events.append(event(clicks[-1].link_id, now() - DAY, referer=referer, city=value, browser=value))
    await seed(empty_database, clicks, events)
    for code in codes:
        page = await _page(browser, f"/dashboard/links/{code}")
        assert "<script>alert" not in page
        assert "<svg onload" not in page
        pages.append(outline(page))
    assert pages[0] == pages[1]
    assert "<script>alert" not in await _page(browser, "/dashboard")


async def test_another_workspace_s_link_has_no_page(
    site: Site, browser: httpx.AsyncClient, empty_database: str
) -> None:
    """It looks like one that nobody has, and its clicks are in no chart of ours."""
    made = await site.services.tenants.create(command_actor(1), "Others", "others")
    draft = LinkDraft("https://example.com/theirs", custom_code="theirs1", title="Theirs")
    link = (await site.services.creator.create(made.id, None, draft, command_actor(made.id))).link
    await seed(empty_database, [Counted(link.id, now() - DAY, times=7)], workspace_id=made.id)
    await site.make_link(title="Ours")
    await _page(browser, "/dashboard/links/theirs1", 404)
    overview = await _page(browser, "/dashboard")
    assert "Theirs" not in overview
    assert '<span data-figure="people">0</span>' in overview
