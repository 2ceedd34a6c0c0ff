"""/{code}+: where a link leads, before following it."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.site import BASE_URL, BROWSER, Site, open_site


@pytest.fixture
async def site(migrated_url: str, tmp_path: Path) -> AsyncIterator[Site]:
    """The preview has a statement of its own, so it is tested on every engine."""
    async with open_site(migrated_url, tmp_path / "data") as site:
        yield site


async def test_shows_where_a_link_leads(site: Site) -> None:
    """The whole target as text and link, the host plainly, the day and the QR code; no counts."""
    target = "https://www.example.com/way?a=1&b=%3Cb%3E#end"
    code = await site.make_link(original_url=target, title="Nobody's business")
    answer = await site.client.get(f"/{code}+", headers=BROWSER)
    assert answer.status_code == 200
    escaped = target.replace("&", "&amp;")
    assert f'<a href="{escaped}" rel="noreferrer noopener nofollow ugc">{escaped}</a>' in answer.text
    assert '<h1 class="host">www.example.com</h1>' in answer.text
    assert re.search(r'<time datetime="\d{4}-\d\d-\d\dT[\d:.]+Z">\d{1,2} \w+ \d{4}</time>', answer.text)
    assert f'alt="QR code of {BASE_URL}/{code}"' in answer.text
    assert "Nobody" not in answer.text
    assert "click" not in answer.text
    assert answer.headers["x-robots-tag"] == "noindex"


async def test_tells_programs_in_json(site: Site) -> None:
    """A program gets the same facts as JSON, and no more."""
    code = await site.make_link(original_url="https://EXAMPLE.com/ä b")
    answer = await site.client.get(f"/{code}+")
    document = answer.json()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", document.pop("created_at"))
    assert document == {
        "short_code": code,
        "short_url": f"{BASE_URL}/{code}",
        "original_url": "https://EXAMPLE.com/ä b",
        "target_url": "https://example.com/%C3%A4%20b",
        "host": "example.com",
    }


async def test_shows_a_look_alike_host_for_what_it_is(site: Site) -> None:
    """A Cyrillic а in a name is seen: the host stands there as browsers look it up."""
    code = await site.make_link(original_url="https://exаmple.com/")
    answer = await site.client.get(f"/{code}+", headers=BROWSER)
    assert '<h1 class="host">xn--exmple-4nf.com</h1>' in answer.text


async def test_looking_is_no_click(site: Site) -> None:
    """A preview writes nothing to the click journal; the redirect does."""
    code = await site.make_link()
    before = site.journal_bytes()
    await site.client.get(f"/{code}+", headers=BROWSER)
    assert site.journal_bytes() == before
    await site.client.get(f"/{code}")
    assert site.journal_bytes() != before


async def test_follows_an_edit_at_once(site: Site) -> None:
    """The preview never shows an old target."""
    code = await site.make_link()
    await site.client.get(f"/{code}+")
    await site.client.patch(f"/api/v1/urls/{code}", json={"original_url": "https://example.org/new"})
    assert (await site.client.get(f"/{code}+")).json()["target_url"] == "https://example.org/new"


async def test_refuses_as_the_link_would(site: Site) -> None:
    """Unknown is 404, gone is 410 with its reason, malformed is 400; as a page and as a problem document."""
    await site.make_link(custom_code="gone1")
    await site.client.delete("/api/v1/urls/gone1")
    await site.make_link(custom_code="off12")
    await site.client.patch("/api/v1/urls/off12", json={"is_active": False})
    for path, status, code in (
        ("/unknown1+", 404, "link_unknown"),
        ("/gone1+", 410, "link_deleted"),
        ("/off12+", 410, "link_disabled"),
        ("/a.b+", 400, "code_malformed"),
        ("/++", 400, "code_malformed"),
    ):
        answer = await site.client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        page = await site.client.get(path, headers=BROWSER)
        assert (page.status_code, page.headers["content-type"]) == (status, "text/html; charset=utf-8")


async def test_is_public(closed_site: Site) -> None:
    """Where everything else needs a key, the preview does not."""
    answer = await closed_site.client.get("/unknown1+")
    assert answer.status_code == 404


async def test_is_for_looking_only(site: Site) -> None:
    """HEAD works, POST takes the page's own form and nothing else, other methods are refused."""
    code = await site.make_link()
    assert (await site.client.head(f"/{code}+")).status_code == 200
    answer = await site.client.post(f"/{code}+", json={})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    answer = await site.client.put(f"/{code}+")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
