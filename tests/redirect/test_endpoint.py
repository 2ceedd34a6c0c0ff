"""Redirects that the lane has not answered: every refusal, as a page and as a document, and a database that is away."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laconic.clicks.journal import Journal
from laconic.clock import SECOND
from laconic.redirect.cache import RedirectCache
from laconic.redirect.endpoint import RedirectEndpoint
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Hosts, Site
from laconic.redirect.model import LinkRow
from laconic.settings import Settings
from laconic.storage.engines import migrate
from laconic.web.pages.refusals import show_refusal
from laconic.wiring import open_services
from tests.clicks.records import clicks_of
from tests.redirect.links import NOON, Clock, Rows, link
from tests.servers import PostgresServer

pytestmark = pytest.mark.anyio

_BROWSER = (b"accept", b"text/html,application/xhtml+xml,*/*;q=0.8")


@dataclass(frozen=True, slots=True)
class _Shown:
    status: int
    headers: dict[bytes, bytes]
    body: bytes


class _Visitor:
    """Asks an endpoint as a server would."""

    def __init__(self, cache: RedirectCache, journal: Journal, *proxies: str) -> None:
        hosts = Hosts(1, {"localhost": 1})
        hosts.put("brand.example", Site(7, not_found_target="https://brand.example/none"))
        self._endpoint = RedirectEndpoint(cache, hosts, journal, TrustedProxies(proxies), show_refusal)

    async def ask(
        self, path: str, *headers: tuple[bytes, bytes], method: str = "GET", host: bytes = b"localhost"
    ) -> _Shown:
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(b"host", host), *headers],
            "client": ("203.0.113.9", 5),
        }
        await self._endpoint(scope, None, send)
        start, body = sent
        names = [name for name, _ in start["headers"]]
        assert len(names) == len(set(names)), names
        return _Shown(start["status"], dict(start["headers"]), body["body"])


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def rows() -> Rows:
    return Rows()


@pytest.fixture
def cache(rows: Rows, clock: Clock) -> RedirectCache:
    cache = RedirectCache(rows, now=clock, monotonic=clock.monotonic)
    cache.following()
    return cache


@pytest.fixture
async def visitor(cache: RedirectCache, tmp_path: Path) -> AsyncIterator[_Visitor]:
    journal = Journal(tmp_path / "journal")
    yield _Visitor(cache, journal)
    journal.close()


def _assert_page(shown: _Shown, status: int) -> str:
    assert shown.status == status
    assert shown.headers[b"content-type"].startswith(b"text/html")
    assert shown.headers[b"content-length"] == b"%d" % len(shown.body)
    assert shown.headers[b"cache-control"] == b"no-store"
    return shown.body.decode()


def _assert_document(shown: _Shown, status: int, code: str) -> None:
    assert shown.status == status
    assert shown.headers[b"content-type"] == b"application/problem+json"
    assert shown.headers[b"content-length"] == b"%d" % len(shown.body)
    assert shown.headers[b"cache-control"] == b"no-store"
    assert (b"allow" in shown.headers, b"retry-after" in shown.headers) == (status == 405, status == 503)
    document = json.loads(shown.body)
    assert (document["status"], document["code"]) == (status, code)
    assert document["title"]


async def test_a_known_code_is_redirected(visitor: _Visitor, rows: Rows, tmp_path: Path) -> None:
    """With the headers of a hit, and a click with all that the request told."""
    rows.rows[1, "abc"] = link()
    shown = await visitor.ask(
        "/abc", (b"user-agent", b"Mozilla"), (b"referer", b"r"), (b"accept-language", b"de")
    )
    assert (shown.status, shown.headers[b"location"]) == (302, b"https://example.com/v1")
    assert shown.headers[b"cache-control"] == b"private, no-cache, no-store, must-revalidate"
    assert (shown.headers[b"content-length"], shown.body) == (b"0", b"")
    (click,) = clicks_of(tmp_path / "journal")
    assert (click.link_id, click.address, click.user_agent) == (42, b"203.0.113.9", b"Mozilla")
    assert (click.referrer, click.language) == (b"r", b"de")


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ([], b"203.0.113.9"),
        ([b"198.51.100.7"], b"198.51.100.7"),
        ([b"198.51.100.7", b"203.0.113.9"], b"198.51.100.7"),
        ([b"198.51.100.7", b"198.51.100.8"], b"198.51.100.8"),
    ],
)
async def test_a_trusted_proxy_tells_the_visitors_address(
    cache: RedirectCache, rows: Rows, tmp_path: Path, forwarded: list[bytes], address: bytes
) -> None:
    """All its lines together, the last one most; without any, the address is its own."""
    rows.rows[1, "abc"] = link()
    with contextlib.closing(Journal(tmp_path / "journal")) as journal:
        visitor = _Visitor(cache, journal, "203.0.113.9")
        others = [(b"accept", b"192.0.2.8"), (b"x-real-ip", b"192.0.2.9")]
        await visitor.ask("/abc", *((b"x-forwarded-for", line) for line in forwarded), *others)
    assert [click.address for click in clicks_of(tmp_path / "journal")] == [address]


async def test_the_host_names_the_domain(visitor: _Visitor, rows: Rows) -> None:
    """Each domain has codes of its own."""
    rows.rows[1, "abc"] = link(1)
    rows.rows[7, "abc"] = link(2)
    assert (await visitor.ask("/abc")).headers[b"location"] == b"https://example.com/v1"
    brand = await visitor.ask("/abc", host=b"brand.example")
    assert brand.headers[b"location"] == b"https://example.com/v2"


_GONE: list[tuple[LinkRow | None, int, str]] = [
    (None, 404, "link_unknown"),
    (link(is_deleted=True, is_active=False, gone_reason="deleted"), 410, "link_deleted"),
    (link(is_active=False, gone_reason="disabled"), 410, "link_disabled"),
    (link(is_active=False, gone_reason="taken_down"), 410, "link_taken_down"),
    (link(is_active=False, gone_reason="expired"), 410, "link_expired"),
    (link(expires_at=NOON - 1), 410, "link_expired"),
]


@pytest.mark.parametrize(("row", "status", "code"), _GONE)
async def test_a_no_says_why(
    visitor: _Visitor, rows: Rows, row: LinkRow | None, status: int, code: str, tmp_path: Path
) -> None:
    """404 when nobody ever made the link, 410 with the reason when it is gone; a page for people; never a click."""
    if row is not None:
        rows.rows[1, "abc"] = row
    for _ in range(2):
        _assert_document(await visitor.ask("/abc"), status, code)
        _assert_document(await visitor.ask("/abc", (b"accept", b"application/json")), status, code)
        assert "abc" in _assert_page(await visitor.ask("/abc", _BROWSER), status)
    assert clicks_of(tmp_path / "journal") == []
    assert rows.asked == 1


async def test_a_domain_may_send_on_who_follows_no_link_of_its(
    visitor: _Visitor, rows: Rows, tmp_path: Path
) -> None:
    """A code that nobody ever made, without a click; what is gone or malformed is refused there as elsewhere."""
    rows.rows[7, "gone"] = link(is_active=False, gone_reason="disabled")
    shown = await visitor.ask("/nobody", host=b"brand.example")
    assert (shown.status, shown.headers[b"location"], shown.body) == (302, b"https://brand.example/none", b"")
    assert (shown.headers[b"content-length"], shown.headers[b"expires"]) == (b"0", b"0")
    assert (await visitor.ask("/gone", host=b"brand.example")).status == 410
    assert (await visitor.ask("/a.b", host=b"brand.example")).status == 400
    assert (await visitor.ask("/nobody")).status == 404
    assert clicks_of(tmp_path / "journal") == []


@pytest.mark.parametrize("path", ["/a." + "b" * 100, "/a/" + "b" * 100])
async def test_of_what_is_no_code_64_characters_are_shown(visitor: _Visitor, path: str) -> None:
    """However long it is."""
    page = (await visitor.ask(path, _BROWSER)).body.decode()
    assert path[1:65] in page
    assert path[1:66] not in page


@pytest.mark.parametrize("code", ["a.b", "a b", "a" * 65, "äöü", "a\x00", "<script>", "a=b", "abc,", "�"])
async def test_what_cannot_be_a_code_is_refused_before_any_look_up(
    visitor: _Visitor, rows: Rows, code: str
) -> None:
    """400, and nothing of it is put into a page unescaped."""
    _assert_document(await visitor.ask(f"/{code}"), 400, "code_malformed")
    page = _assert_page(await visitor.ask(f"/{code}", _BROWSER), 400)
    assert "<script>" not in page
    assert rows.asked == 0


async def test_sixty_four_characters_may_be_a_code(visitor: _Visitor, rows: Rows) -> None:
    """Whatever the settings for new ones say."""
    rows.rows[1, "a" * 64] = link()
    assert (await visitor.ask("/" + "a" * 64)).status == 302


@pytest.mark.parametrize("path", ["/a/b", "/abc/", "//", "/a/<script>"])
async def test_a_path_of_several_parts_is_unknown(visitor: _Visitor, rows: Rows, path: str) -> None:
    """404, not 400: it is a page that does not exist."""
    _assert_document(await visitor.ask(path), 404, "link_unknown")
    assert "<script>" not in _assert_page(await visitor.ask(path, _BROWSER), 404)
    assert rows.asked == 0


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_other_methods_are_refused(visitor: _Visitor, rows: Rows, method: str, tmp_path: Path) -> None:
    """405 with Allow, whether the link exists or not."""
    rows.rows[1, "abc"] = link()
    for path in ("/abc", "/nobody"):
        shown = await visitor.ask(path, method=method)
        _assert_document(shown, 405, "method_not_allowed")
        assert shown.headers[b"allow"] == b"GET, HEAD"
        _assert_page(await visitor.ask(path, _BROWSER, method=method), 405)
    assert clicks_of(tmp_path / "journal") == []


async def test_head_shows_the_headers_of_get(visitor: _Visitor, rows: Rows, tmp_path: Path) -> None:
    """Of a redirect and of every refusal; without a body and without a click."""
    rows.rows[1, "abc"] = link()
    for path in ("/abc", "/nobody", "/a.b", "/a/b"):
        for accept in ((b"accept", b"*/*"), _BROWSER):
            head = await visitor.ask(path, accept, method="HEAD")
            assert head.body == b""
            assert clicks_of(tmp_path / "journal") == []
    for path in ("/abc", "/nobody", "/a.b", "/a/b"):
        head, got = await visitor.ask(path, method="HEAD"), await visitor.ask(path)
        assert (head.status, head.headers) == (got.status, got.headers)


# The database is away.


async def test_without_the_database_nobody_is_told_that_a_link_does_not_exist(
    visitor: _Visitor, rows: Rows
) -> None:
    """P6: 503 with Retry-After, as a document and as a page."""
    rows.is_away = True
    shown = await visitor.ask("/abc")
    _assert_document(shown, 503, "unavailable")
    assert shown.headers[b"retry-after"] == b"1"
    shown = await visitor.ask("/abc", _BROWSER)
    _assert_page(shown, 503)
    assert shown.headers[b"retry-after"] == b"1"
    shown = await visitor.ask("/abc", method="HEAD")
    assert (shown.status, shown.body) == (503, b"")


async def test_without_the_database_refusals_that_need_none_go_on(visitor: _Visitor, rows: Rows) -> None:
    """What cannot be a code, and what is asked for in a wrong way."""
    rows.is_away = True
    assert (await visitor.ask("/a.b")).status == 400
    assert (await visitor.ask("/a/b")).status == 404
    assert (await visitor.ask("/abc", method="POST")).status == 405


async def test_without_the_database_known_links_go_on_and_count(
    visitor: _Visitor, rows: Rows, clock: Clock, tmp_path: Path
) -> None:
    """P7, past the minute after which they would be checked."""
    rows.rows[1, "abc"] = link()
    await visitor.ask("/abc")
    rows.is_away = True
    clock.moment += 600 * SECOND
    assert (await visitor.ask("/abc")).status == 302
    assert len(clicks_of(tmp_path / "journal")) == 2


@pytest.mark.parametrize("row", [row for row, _, _ in _GONE if row is None or row.gone_reason != "deleted"])
async def test_without_the_database_an_old_no_is_not_repeated(
    visitor: _Visitor, rows: Rows, clock: Clock, row: LinkRow | None
) -> None:
    """P6: the link may have been made, switched on or prolonged since."""
    if row is not None:
        rows.rows[1, "abc"] = row
    assert (await visitor.ask("/abc")).status in (404, 410)
    rows.is_away = True
    clock.moment += 61 * SECOND
    assert (await visitor.ask("/abc")).status == 503


async def test_a_database_server_that_dies_and_comes_back(tmp_path: Path) -> None:
    """A real one: known links go on, others answer 503 and never 404, and then all is well again."""
    with PostgresServer() as server:
        url = server.url()
        await migrate(url)
        settings = Settings(data=str(tmp_path), database_url=url, base_url="http://localhost:8000")
        async with open_services(settings) as services:
            for number, code in enumerate(("known", "other"), start=1):
                await services.database.execute(
                    "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url)"
                    " VALUES ($1, 1, 1, $2, 'https://example.com/')",
                    number,
                    code,
                )
            journal = Journal(tmp_path / "journal")
            services.cache.following()
            visitor = _Visitor(services.cache, journal)
            assert (await visitor.ask("/known")).status == 302
            assert (await visitor.ask("/nobody")).status == 404
            server.kill()
            services.cache.lost()
            assert (await visitor.ask("/known")).status == 302
            for code in ("other", "nobody", "brandnew"):
                shown = await visitor.ask(f"/{code}")
                assert (shown.status, shown.headers[b"retry-after"]) == (503, b"1")
            server.start()
            assert await _status_in_the_end(visitor, services.cache, "/other") == 302
            assert await _status_in_the_end(visitor, services.cache, "/nobody") == 404
            journal.close()


async def _status_in_the_end(visitor: _Visitor, cache: RedirectCache, path: str) -> int:
    """Other than 503: the breaker lets one through now and then, and a busy server may not answer that one in time."""
    async with asyncio.timeout(60):
        while True:
            cache._failed_until.clear()
            status = (await visitor.ask(path)).status
            if status != 503:
                return status
            await asyncio.sleep(0.05)
