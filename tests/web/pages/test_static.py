"""Files and pages that lie beside the product: styles, docs, robots.txt, security.txt, the icon."""

import re
from datetime import datetime, timedelta

import httpx

from laconic.clock import now
from tests.web.site import BASE_URL, BROWSER


async def test_files_are_kept_for_a_year(client: httpx.AsyncClient) -> None:
    """A file's address holds a hash of it, so browsers may keep it; an old address gets what is here, unkept."""
    page = await client.get("/", headers=BROWSER)
    paths = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text)
    for path in paths:
        answer = await client.get(path)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["x-content-type-options"] == "nosniff"
        again = await client.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        old = await client.get(re.sub(r"/static/\w+/", "/static/0123456789ab/", path))
        assert (old.content, old.headers["cache-control"]) == (answer.content, "no-cache")


async def test_files_are_compressed_for_those_who_can(client: httpx.AsyncClient) -> None:
    """gzip by Accept-Encoding; the same bytes in the end."""
    page = await client.get("/", headers=BROWSER)
    found = re.search(r'href="(/static/[^"]+\.css)"', page.text)
    assert found
    packed = await client.get(found[1], headers={"accept-encoding": "gzip"})
    plain = await client.get(found[1], headers={"accept-encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


async def test_only_our_own_files_are_served(client: httpx.AsyncClient) -> None:
    """No path leads out of the folder."""
    for path in (
        "/static",
        "/static/",
        "/static/x/y.css",
        "/static/x/..%2Fhome.py",
    ):
        assert (await client.get(path)).status_code == 404, path


async def test_docs_need_no_other_host(client: httpx.AsyncClient) -> None:
    """Every file of the page at /docs comes from here, under the same strict policy."""
    page = await client.get("/docs", headers=BROWSER)
    assert "unsafe" not in page.headers["content-security-policy"]
    assert not re.search(r'(?:src|href)="(?!/)', page.text)
    paths = re.findall(r'<(?:script src|link rel="stylesheet" href)="([^"]+)"', page.text)
    assert len(paths) == 4
    for path in paths:
        packed = await client.get(path)
        assert packed.status_code == 200
        assert "immutable" in packed.headers["cache-control"]
        plain = await client.get(path, headers={"accept-encoding": "identity"})
        assert plain.content == packed.content


async def test_openapi_describes_the_api(client: httpx.AsyncClient) -> None:
    """The description names the API's paths and how to send a key, and leaves pages out."""
    answer = await client.get("/openapi.json")
    document = answer.json()
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert {"/api/v1/urls", "/api/v1/urls/{code}/qr", "/shorten"} <= document["paths"].keys()
    assert not {"/", "/docs", "/{code}+"} & document["paths"].keys()
    assert [scheme["scheme"] for scheme in document["components"]["securitySchemes"].values()] == ["bearer"]


async def test_robots_may_follow_links(client: httpx.AsyncClient) -> None:
    """Robots are kept from the API, not from short links: those that draw previews obey this file, too."""
    answer = await client.get("/robots.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert "Disallow: /api/\n" in answer.text
    assert "Disallow: /\n" not in answer.text


async def test_security_contact_is_valid_for_months(client: httpx.AsyncClient) -> None:
    """RFC 9116: a contact, and a moment in the future from which on it may be out of date."""
    answer = await client.get("/.well-known/security.txt")
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert fields["Contact"] == "mailto:security@localhost"
    assert fields["Canonical"] == f"{BASE_URL}/.well-known/security.txt"
    left = datetime.fromisoformat(fields["Expires"]).timestamp() - now() / 1_000_000
    assert timedelta(days=90).total_seconds() < left < timedelta(days=365).total_seconds()


async def test_icon_is_an_icon(client: httpx.AsyncClient) -> None:
    """An .ico with one picture in it."""
    answer = await client.get("/favicon.ico")
    assert answer.headers["content-type"] == "image/x-icon"
    assert answer.content.startswith(b"\0\0\1\0\1\0")
