"""Misses that the lane looks up itself, in front of a database that answers at once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from laconic.clock import SECOND, now
from laconic.redirect.hosts import Site as HostSite
from tests.redirect.gated import Gated
from tests.redirect.raw_http import request
from tests.redirect.serving import Site, open_site

pytestmark = pytest.mark.anyio


@pytest.fixture
async def quick_site(tmp_path: Path, gated: Gated) -> AsyncIterator[Site]:
    """The application behind it answers 200, and knows how often it was asked."""
    gated.gate.set()
    async with open_site(tmp_path / "quick", app=gated, looks_up=True) as site:
        yield site


async def test_a_miss_is_redirected_and_counted_by_the_lane(quick_site: Site, gated: Gated) -> None:
    """Looked up once; the next time it is a hit."""
    link_id = await quick_site.add("miss1", warm=False)
    async with await quick_site.connect() as client:
        for _ in range(3):
            answer = await client.ask(request("/miss1", "User-Agent: x"))
            assert (answer.status, answer.location) == (302, "https://example.com/miss1")
    clicks = quick_site.clicks(link_id)
    assert [click.user_agent for click in clicks] == [b"x"] * 3
    assert all(abs(click.moment - now()) < 60 * SECOND for click in clicks)
    counts = quick_site.services.cache.counts
    assert (counts.look_ups, counts.in_lane, gated.started) == (1, 1, 0)


@pytest.mark.parametrize(
    "target", ["/miss2?a=b", "/miss2?", "http://localhost/miss2", "http://localhost/miss2?a"]
)
async def test_a_miss_in_another_form_is_the_same_link(quick_site: Site, gated: Gated, target: str) -> None:
    """With a query behind it, or as an absolute URL."""
    link_id = await quick_site.add("miss2", warm=False)
    async with await quick_site.connect() as client:
        assert (await client.ask(request(target))).location == "https://example.com/miss2"
    assert (len(quick_site.clicks(link_id)), gated.started) == (1, 0)


async def test_a_miss_belongs_to_its_domain(quick_site: Site) -> None:
    """The same code elsewhere is another link."""
    quick_site.services.hosts.put("brand.example", HostSite(17))
    await quick_site.services.database.execute(
        "INSERT INTO domain (id, workspace_id, host, is_default, created_at)"
        " VALUES (17, 1, 'brand.example', FALSE, 1)"
    )
    await quick_site.add("miss3", warm=False)
    await quick_site.add("miss3", warm=False, domain_id=17, original_url="https://example.com/brand")
    async with await quick_site.connect() as client:
        brand = await client.ask(request("/miss3", host="brand.example"))
        assert brand.location == "https://example.com/brand"
        assert (await client.ask(request("/miss3"))).location == "https://example.com/miss3"


async def test_an_entry_past_its_time_is_looked_up_again(quick_site: Site, gated: Gated) -> None:
    """By the lane as well, also when it knows every byte of the request; then it is fresh again."""
    await quick_site.add("miss4")
    async with await quick_site.connect() as client:
        for version in (2, 3):
            await quick_site.services.database.execute(
                "UPDATE short_link SET target_url = $1, version = $2 WHERE short_code = 'miss4'",
                f"https://example.com/v{version}",
                version,
            )
            quick_site.services.cache.doubt_everything()
            for _ in range(2):
                answer = await client.ask(request("/miss4"))
                assert answer.location == f"https://example.com/v{version}"
    assert (quick_site.services.cache.counts.in_lane, gated.started) == (2, 0)


async def test_how_a_no_looks_is_for_the_application_to_say(quick_site: Site, gated: Gated) -> None:
    """It finds the answer remembered; nothing is counted."""
    deleted = await quick_site.add("miss5", warm=False, is_deleted=True, gone_reason="deleted")
    async with await quick_site.connect() as client:
        for code in ("miss5", "nobody"):
            assert (await client.ask(request(f"/{code}"))).status == 200
    assert quick_site.clicks(deleted) == []
    counts = quick_site.services.cache.counts
    assert (counts.look_ups, counts.asked_twice, counts.in_lane, gated.started) == (2, 2, 0, 2)


@pytest.mark.parametrize("path", ["/", "/live", "/stats?a", "/a.b", "/a/b", "//a", "/%61", "/" + "a" * 65])
async def test_what_cannot_be_a_code_is_not_looked_up(quick_site: Site, gated: Gated, path: str) -> None:
    """Nor is what the program answers itself."""
    async with await quick_site.connect() as client:
        assert (await client.ask(request(path))).status == 200
    assert (quick_site.services.cache.counts.look_ups, gated.started) == (0, 1)


async def test_a_miss_waits_for_the_answers_before_it(quick_site: Site, gated: Gated) -> None:
    """The lane has looked it up, but it is the application's turn."""
    await quick_site.add("miss6", warm=False)
    async with await quick_site.connect() as client:
        await client.send(request("/live") + request("/miss6"))
        assert [answer.status for answer in await client.answers(2)] == [200, 200]
        assert (await client.ask(request("/miss6"))).status == 302
