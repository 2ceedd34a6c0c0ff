"""The start page: a form for people, a line of JSON for programs."""

import re
from pathlib import Path

import httpx
import pytest

from laconic import __version__
from tests.web.site import BASE_URL, BROWSER, Site, form_token, open_site

TARGET = "https://example.com/a/long/way?to=go"


async def send(client: httpx.AsyncClient, url: str, **headers: str) -> httpx.Response:
    """Opens the page as a browser does, and sends its form."""
    page = await client.get("/", headers=BROWSER)
    fields = {"url": url, "token": form_token(page.text)}
    return await client.post("/", data=fields, headers={**BROWSER, **headers})


async def test_tells_programs_what_it_is(client: httpx.AsyncClient) -> None:
    """A program that asks for / learns the service and its version."""
    answer = await client.get("/")
    assert answer.json() == {"service": "url-shortener", "name": "laconic", "version": __version__}
    assert answer.headers["vary"] == "accept"


async def test_shows_people_a_form(client: httpx.AsyncClient) -> None:
    """A browser gets a page with a labelled field and a token that is bound to its cookie."""
    answer = await client.get("/", headers=BROWSER)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert '<label for="url">' in answer.text
    assert len(form_token(answer.text)) == 64
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert "samesite=lax" in answer.headers["set-cookie"].lower()


async def test_page_is_fenced(client: httpx.AsyncClient) -> None:
    """No inline script or style, no other host, no frame around it."""
    answer = await client.get("/", headers=BROWSER)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"]
    assert not re.search(r"<style|style=|<script(?! src=)|\son\w+=", answer.text)
    assert not re.search(r'(?:src|href|action)="(?!/)', answer.text)


async def test_form_makes_a_link(site: Site) -> None:
    """The answer shows the short link, its QR code, where it leads and the way to its preview."""
    answer = await send(site.client, TARGET)
    assert answer.status_code == 201
    short = re.search(rf'<a href="{BASE_URL}/(\w+)">localhost:8000/\1</a>', answer.text)
    assert short
    assert TARGET in answer.text
    assert f'href="http://localhost:8000/{short[1]}+"' in answer.text
    assert f'data-copy="{BASE_URL}/{short[1]}"' in answer.text
    assert 'src="data:image/svg+xml;base64,' in answer.text
    redirect = await site.client.get(f"/{short[1]}")
    assert redirect.headers["location"] == TARGET


async def test_form_answers_programs_in_json(client: httpx.AsyncClient) -> None:
    """A script that sends the page's form and does not accept HTML gets the link as JSON."""
    answer = await send(client, TARGET, accept="application/json")
    assert answer.status_code == 201
    assert answer.json()["original_url"] == TARGET


@pytest.mark.parametrize(
    ("url", "status", "words"),
    [
        ("", 400, "The URL is empty."),
        ("example.com", 400, "Did you mean https://example.com/?"),
        ("javascript:alert(1)", 400, "Links lead to http and https URLs only"),
        ("http://192.168.0.1/", 400, "private or reserved address"),
        ("https://example.com/" + "a" * 2048, 413, "at most 2048 are allowed"),
    ],
)
async def test_refusal_is_told_beside_the_field(
    client: httpx.AsyncClient, url: str, status: int, words: str
) -> None:
    """What is wrong stands in words at the field, and the input is kept."""
    answer = await send(client, url)
    assert answer.status_code == status
    alert = re.search(r'id="url-error" role="alert">(.*?)</p>', answer.text)
    assert alert
    assert words in alert[1]
    assert f'value="{url}"' in answer.text
    assert 'aria-invalid="true"' in answer.text


async def test_form_without_its_token_does_nothing(site: Site) -> None:
    """A page elsewhere can post a form, but it cannot know the token: 403, and the input is kept."""
    for fields in ({"url": TARGET}, {"url": TARGET, "token": "0" * 64}, {"url": TARGET, "token": "ä"}):
        await site.client.get("/", headers=BROWSER)
        answer = await site.client.post("/", data=fields, headers=BROWSER)
        assert answer.status_code == 403
        assert f'value="{TARGET}"' in answer.text
    assert (await site.client.get("/api/v1/urls")).json()["items"] == []


async def test_token_of_another_browser_is_refused(client: httpx.AsyncClient) -> None:
    """The token of one browser's cookie is worth nothing with another's."""
    theirs = form_token((await client.get("/", headers=BROWSER)).text)
    client.cookies.clear()
    ours = form_token((await client.get("/", headers=BROWSER)).text)
    assert theirs != ours
    answer = await client.post("/", data={"url": TARGET, "token": theirs}, headers=BROWSER)
    assert answer.status_code == 403


async def test_token_serves_several_tabs(client: httpx.AsyncClient) -> None:
    """A second tab does not spoil the form in the first."""
    first = form_token((await client.get("/", headers=BROWSER)).text)
    await client.get("/", headers=BROWSER)
    answer = await client.post("/", data={"url": TARGET, "token": first}, headers=BROWSER)
    assert answer.status_code == 201


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://localhost:8001", 403),
        ("origin", BASE_URL, 201),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "same-origin", 201),
    ],
)
async def test_browser_tells_who_sends_a_form(
    client: httpx.AsyncClient, header: str, value: str, status: int
) -> None:
    """Even with a good token a form from another origin is refused."""
    answer = await send(client, TARGET, **{header: value})
    assert answer.status_code == status


async def test_other_bodies_are_refused(client: httpx.AsyncClient) -> None:
    """Only what a form sends is read here: 415 for another type, 400 for bytes that are no text."""
    answer = await client.post("/", json={"url": TARGET})
    assert answer.status_code == 415
    kind = {"content-type": "application/x-www-form-urlencoded"}
    for body in (b"url=%FF", b"url=\xff", b"&".join(b"a=1" for _ in range(100))):
        answer = await client.post("/", content=body, headers=kind)
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")


async def test_closed_page_asks_for_a_key(closed_site: Site) -> None:
    """Where a key is needed there is no form that cannot work; sending one anyway is a 401."""
    answer = await closed_site.client.get("/", headers=BROWSER)
    assert answer.status_code == 200
    assert "<form" not in answer.text
    assert "Authorization: Bearer" in answer.text
    sent = await closed_site.client.post("/", data={"url": TARGET}, headers=BROWSER)
    assert sent.status_code == 401


async def test_page_is_closed_through_a_proxy(client: httpx.AsyncClient) -> None:
    """Open mode is for this machine alone: a forwarded visitor sees no form."""
    answer = await client.get("/", headers={**BROWSER, "x-forwarded-for": "203.0.113.7"})
    assert "<form" not in answer.text


async def test_anyone_may_create_at_a_rate(empty_database: str, tmp_path: Path) -> None:
    """With LACONIC_OPEN looking costs nothing, and who is too fast is told when to come back."""
    options = {"host": "0.0.0.0", "open": True, "base_url": "https://short.example"}
    async with open_site(empty_database, tmp_path / "data", **options) as site:
        site.client.base_url = httpx.URL("https://short.example")
        pages = [await site.client.get("/", headers=BROWSER) for _ in range(30)]
        assert "__Host-laconic_form=" in pages[0].headers["set-cookie"]
        assert "secure" in pages[0].headers["set-cookie"].lower()
        statuses = [(await send(site.client, TARGET)).status_code for _ in range(20)]
        assert set(statuses) == {201}
        answer = await send(site.client, TARGET)
        while answer.status_code == 201:
            answer = await send(site.client, TARGET)
        assert answer.status_code == 429
        assert int(answer.headers["retry-after"]) >= 1
        assert "try again in 1 second." in answer.text


async def test_first_page_is_light(client: httpx.AsyncClient) -> None:
    """All that the first page loads has at most 100 kB over the wire; it is far less."""
    page = await client.get("/", headers=BROWSER)
    loaded = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    assert len(loaded) == 5
    sizes = [len(page.content)]
    for path in loaded:
        file = await client.get(path)
        sizes.append(int(file.headers["content-length"]))
    assert sum(sizes) <= 20_000


async def test_head_and_wrong_methods(client: httpx.AsyncClient) -> None:
    """HEAD is answered like GET; anything else names what is allowed."""
    for path in ("/", "/docs", "/robots.txt", "/favicon.ico", "/.well-known/security.txt", "/openapi.json"):
        answer = await client.head(path, headers=BROWSER)
        assert answer.status_code == 200, path
        answer = await client.delete(path)
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed"), path
        allowed = {"GET", "HEAD", "POST"} if path == "/" else {"GET", "HEAD"}
        assert set(answer.headers["allow"].split(", ")) == allowed
