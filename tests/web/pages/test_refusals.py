"""What visitors see who are not sent on."""

import json
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from laconic.redirect.endpoint import Refusal
from laconic.web.pages.refusals import show_refusal, suggest
from tests.web.site import BROWSER, Site, form_token, outline

PAYLOADS = Path(__file__).parents[4] / "shared" / "data" / "xss_payloads.jsonl"


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("abc123)", "abc123"),
        ("abc123.", "abc123"),
        ("abc123).", "abc123"),
        ("<abc123>", "abc123"),
        ("“abc123”", "abc123"),
        ("abc123…", "abc123"),
        ("abc123。", "abc123"),
        ("abc123/", "abc123"),
        ("abc123", None),
        ("a" * 64, None),
        (").", None),
        ("abc.123", None),
        ("äbc", None),
    ],
)
def test_finds_the_code_that_was_meant(given: str, meant: str | None) -> None:
    """Punctuation that a text program took for a part of the link is left away, nothing else is."""
    assert suggest(given) == meant


async def test_offers_the_code_without_punctuation(client: httpx.AsyncClient) -> None:
    """`/abc123).` is a 400 whose page has a link to `/abc123`."""
    answer = await client.get("/abc123).", headers=BROWSER)
    assert answer.status_code == 400
    assert '<a href="/abc123">' in answer.text


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (400, "malformed", "This is not a short link"),
        (404, "unknown", "There is no such link"),
        (405, "method", "Links are followed with GET"),
        (410, "expired", "This link has expired"),
        (410, "deleted", "This link was deleted"),
        (410, "disabled", "This link is switched off"),
        (410, "taken_down", "This link was taken down"),
        (503, "unavailable", "Please try again"),
    ],
)
def test_says_why(status: int, reason: str, words: str) -> None:
    """Every refusal has a page and a problem document that say the same."""
    headers, page = show_refusal(Refusal(status, reason, "abc123"), True)
    assert dict(headers)[b"content-type"] == b"text/html; charset=utf-8"
    assert f"<h1>{words}</h1>" in page.decode()
    assert "<code>/abc123</code>" in page.decode()
    headers, document = show_refusal(Refusal(status, reason, "abc123"), False)
    assert dict(headers)[b"content-type"] == b"application/problem+json"
    assert json.loads(document)["title"] == words
    assert json.loads(document)["status"] == status


async def test_is_fenced_like_every_page(client: httpx.AsyncClient) -> None:
    """Refusals carry the security headers too, as pages and as documents, and are kept by nobody."""
    for headers in (BROWSER, {}):
        answer = await client.get("/unknown1", headers=headers)
        assert answer.status_code == 404
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"]
        assert answer.headers["cache-control"] == "no-store"


async def test_pages_of_the_framework_are_refused_in_kind(client: httpx.AsyncClient) -> None:
    """A person who asks for a page that is not there gets a page, the API's callers a problem document."""
    page = await client.get("/dashboard/nothing", headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    for path, headers in (("/dashboard/nothing", {}), ("/api/v1/nothing", BROWSER)):
        answer = await client.get(path, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def payloads() -> list[str]:
    if not PAYLOADS.exists():
        pytest.skip(f"{PAYLOADS} is missing")
    return [json.loads(line)["payload"] for line in PAYLOADS.read_text().splitlines()]


async def test_code_is_only_text(client: httpx.AsyncClient) -> None:
    """Whatever stands in a path adds no tag and no attribute to the page about it."""
    harmless = ("/a.b", "/a/b", "/ab)", "/ab/")
    shapes = [outline((await client.get(path, headers=BROWSER)).text) for path in harmless]
    for payload in payloads():
        answer = await client.get("/" + quote(f"x{payload}", safe=""), headers=BROWSER)
        assert answer.status_code in (400, 404)
        assert outline(answer.text) in shapes, payload
        answer = await client.get("/" + quote(f"x{payload}", safe="") + "+", headers=BROWSER)
        assert outline(answer.text) in shapes, payload


async def test_input_is_only_text(site: Site) -> None:
    """Whatever is put into the form adds no tag and no attribute to its answer, refused or made."""
    client = site.client
    token = form_token((await client.get("/", headers=BROWSER)).text)

    async def shape(url: str) -> tuple[int, list[tuple[str, ...]]]:
        answer = await client.post("/", data={"url": url, "token": token}, headers=BROWSER)
        return answer.status_code, outline(answer.text)

    refused, made = await shape("nothing"), await shape("https://example.com/")
    assert (refused[0], made[0]) == (400, 201)
    for payload in payloads():
        assert await shape(payload) in (refused, made), payload
        assert await shape(f"https://example.com/?q={payload}") == made, payload


async def test_target_is_only_text(site: Site) -> None:
    """Whatever a link leads to adds no tag and no attribute to its preview."""
    code = await site.make_link()
    harmless = outline((await site.client.get(f"/{code}+", headers=BROWSER)).text)
    for payload in payloads()[:80]:
        code = await site.make_link(original_url=f"https://example.com/?q={payload}")
        assert outline((await site.client.get(f"/{code}+", headers=BROWSER)).text) == harmless, payload
