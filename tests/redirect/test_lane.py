"""The lane over raw sockets: what it answers, for which link, and what it counts."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from laconic.clock import HOUR, SECOND, now
from laconic.redirect.hosts import Site as HostSite
from laconic.redirect.lane import hits, lane_protocol
from tests.redirect.raw_http import Client, Closed, let_the_server_read, request, until
from tests.redirect.serving import Site, open_site, run

pytestmark = pytest.mark.anyio


# Hits.


async def test_a_hit_is_redirected_and_counted(site: Site, client: Client) -> None:
    """All headers that keep a browser from remembering it, the date, and what the visitor's request told."""
    link_id = await site.add("hit1")
    before = site.lane.answered
    answer = await client.ask(
        request(
            "/hit1", "User-Agent: Mozilla/5.0", "Referer: https://news.example/", "Accept-Language: de,en"
        )
    )
    assert answer.status == 302
    assert answer.headers == [
        ("date", site.lane.date.decode().removeprefix("date: ").strip()),
        ("location", "https://example.com/hit1"),
        ("cache-control", "private, no-cache, no-store, must-revalidate"),
        ("pragma", "no-cache"),
        ("expires", "0"),
        ("content-length", "0"),
    ]
    assert site.lane.answered == before + 1
    (click,) = site.clicks(link_id)
    assert (click.address, click.user_agent) == (b"127.0.0.1", b"Mozilla/5.0")
    assert (click.referrer, click.language) == (b"https://news.example/", b"de,en")
    assert abs(click.moment - now()) < 60 * SECOND


async def test_the_click_is_on_disk_before_the_answer(site: Site, client: Client) -> None:
    """No answer without its click on record: whoever has the answer can count."""
    link_id = await site.add("hit2")
    for count in range(1, 6):
        await client.ask(request("/hit2"))
        assert len(site.clicks(link_id)) == count


async def test_headers_may_be_spelled_in_any_way(site: Site, client: Client) -> None:
    """Names of headers have no letter case."""
    link_id = await site.add("case1")
    for names in ("hOST: localhost\r\nuser-AGENT: x", "host: localhost\r\nUSER-AGENT: x"):
        assert (await client.ask(f"GET /case1 HTTP/1.1\r\n{names}\r\n\r\n".encode())).status == 302
    assert [click.user_agent for click in site.clicks(link_id)] == [b"x", b"x"]


async def test_names_of_headers_are_remembered_within_bounds(site: Site) -> None:
    """A thousand spellings of at most 64 characters; one that is not remembered is understood all the same."""
    link_id = await site.add("names")
    protocol = lane_protocol(site.lane)
    agents = ["User-Agent: first", "X" * 64 + ": y", "X" * 65 + ": y", *(f"X{n}: y" for n in range(1_200))]
    async with run(site.app, protocol) as running, await running.connect() as client:
        await client.ask(request("/names", *agents))
        await client.ask(request("/names", "USER-agent: second"))
    assert {b"User-Agent", b"X" * 64} < protocol.spellings.keys()
    assert not {b"X" * 65, b"USER-agent"} & protocol.spellings.keys()
    assert len(protocol.spellings) == 1_000
    assert [click.user_agent for click in site.clicks(link_id)] == [b"first", b"second"]


async def test_codes_have_a_letter_case(site: Site, client: Client) -> None:
    """abcd and ABCD are two codes."""
    await site.add("AbCd")
    assert (await client.ask(request("/AbCd"))).status == 302
    assert (await client.ask(request("/abcd"))).status == 404


@pytest.mark.parametrize("warm", [True, False])
async def test_head_is_answered_without_a_click(site: Site, client: Client, warm: bool) -> None:
    """By the lane and by the endpoint; the answer has the same headers."""
    code = f"head{warm:d}"
    link_id = await site.add(code, warm=warm)
    before = site.lane.answered
    head = await client.ask(request(f"/{code}", method="HEAD"), to_head=True)
    assert (head.status, head.location) == (302, f"https://example.com/{code}")
    assert site.lane.answered == before + warm
    assert site.clicks(link_id) == []
    got = await client.ask(request(f"/{code}"))
    assert [header for header in got.headers if header[0] != "date"] == [
        header for header in head.headers if header[0] != "date"
    ]
    assert len(site.clicks(link_id)) == 1


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
async def test_a_link_is_followed_with_get_and_head_alone(site: Site, client: Client, method: str) -> None:
    """405 with what is allowed, also when the lane knows the link; and no click."""
    code = f"m{method.lower()}"
    link_id = await site.add(code)
    for headers in ([], ["Content-Length: 0"]):
        answer = await client.ask(request(f"/{code}", *headers, method=method))
        assert answer.status == 405
        assert answer.header("allow") == "GET, HEAD"
    assert site.clicks(link_id) == []


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    "header",
    ["Sec-Purpose: prefetch", "Sec-Purpose: prefetch;prerender", "Purpose: Prefetch", "X-Moz: prefetch"],
)
async def test_fetching_ahead_is_no_click(site: Site, client: Client, header: str, warm: bool) -> None:
    """The browser gets its redirect, and the visitor has not followed the link (yet)."""
    code = site.new_code()
    link_id = await site.add(code, warm=warm)
    assert (await client.ask(request(f"/{code}", header))).status == 302
    assert site.clicks(link_id) == []
    assert (await client.ask(request(f"/{code}", "Sec-Purpose: something-else"))).status == 302
    assert len(site.clicks(link_id)) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("warm", [True, False])
async def test_a_link_chooses_its_status(site: Site, client: Client, status: int, warm: bool) -> None:
    """Temporary ones are never stored, permanent ones for a day."""
    code = f"s{status}{warm:d}"
    await site.add(code, warm=warm, redirect_status=status)
    answer = await client.ask(request(f"/{code}"))
    assert answer.status == status
    stored = answer.header("cache-control")
    assert stored == (
        "private, no-cache, no-store, must-revalidate" if status in (302, 307) else "private, max-age=86400"
    )


@pytest.mark.parametrize("warm", [True, False])
async def test_a_browser_keeps_a_permanent_redirect_no_longer_than_it_lives(
    site: Site, client: Client, warm: bool
) -> None:
    """The max-age ends before the link does."""
    code = f"perm{warm:d}"
    expires_at = now() + HOUR
    await site.add(code, warm=warm, redirect_status=301, expires_at=expires_at)
    answer = await client.ask(request(f"/{code}"))
    kept = int((answer.header("cache-control") or "").removeprefix("private, max-age="))
    assert kept > 3_000
    assert now() + kept * SECOND <= expires_at


async def test_an_expired_link_never_redirects(site: Site, client: Client) -> None:
    """P5: it was in the lane's cache when its time came."""
    expires_at = now() + SECOND // 4
    link_id = await site.add("exp1", expires_at=expires_at)
    answer = await client.ask(request("/exp1"))
    while answer.status == 302:
        answer = await client.ask(request("/exp1"))
    assert answer.status == 410
    assert json.loads(answer.body)["code"] == "link_expired"
    assert all(click.moment < expires_at for click in site.clicks(link_id))


@pytest.mark.parametrize(("microsecond", "answered"), [(-1, 1), (0, 0)])
async def test_the_lane_answers_to_the_last_microsecond_of_an_entry(
    own_site: Site, monkeypatch: pytest.MonkeyPatch, microsecond: int, answered: int
) -> None:
    """And not in the one in which it must be checked again: then the application does."""
    await own_site.add("last1")
    (entry,) = own_site.lane.entries.values()
    moment = entry.fresh_until + microsecond
    monkeypatch.setattr(hits, "nanoseconds", lambda: 1000 * moment)
    async with await own_site.connect() as client:
        assert (await client.ask(request("/last1"))).status == 302
    assert own_site.lane.answered == answered


async def test_the_lane_does_not_answer_what_is_in_doubt(own_site: Site) -> None:
    """When changes are no longer told, every entry is checked before it is used."""
    await own_site.add("dbt1")
    async with await own_site.connect() as client:
        await client.ask(request("/dbt1"))
        await own_site.services.database.execute(
            "UPDATE short_link SET target_url = 'https://example.com/new', version = 2 WHERE short_code = 'dbt1'"
        )
        own_site.services.cache.lost()
        assert (await client.ask(request("/dbt1"))).location == "https://example.com/new"


# Connections that stay, and connections that end.


async def test_a_connection_is_kept(site: Site, client: Client) -> None:
    """HTTP/1.1 says so by saying nothing."""
    await site.add("keep")
    for _ in range(5):
        answer = await client.ask(request("/keep"))
        assert answer.status == 302
        assert answer.header("connection") is None


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    ("version", "header"),
    [
        ("1.1", "Connection: close"),
        ("1.1", "connection: Close"),
        ("1.1", "Connection: foo, close"),
        ("1.0", "X: y"),
        ("1.0", "Connection: keep-alive"),
        ("1.0", "Connection: close"),
    ],
)
async def test_a_last_request_ends_the_connection(site: Site, version: str, header: str, warm: bool) -> None:
    """The answer says so, and then the server closes; HTTP/1.0 is always a last request."""
    code = site.new_code()
    link_id = await site.add(code, warm=warm)
    async with await site.connect() as client:
        answer = await client.ask(request(f"/{code}", header, version=version))
        assert answer.status == 302
        assert answer.is_last
        assert await client.rest() == b""
    assert len(site.clicks(link_id)) == 1


@pytest.mark.parametrize("warm", [True, False])
async def test_what_follows_a_last_request_is_not_answered(site: Site, warm: bool) -> None:
    """And not counted either."""
    code = f"after{warm:d}"
    link_id = await site.add(code, warm=warm)
    async with await site.connect() as client:
        await client.send(request(f"/{code}", "Connection: close") + request(f"/{code}") * 3)
        assert (await client.answer()).is_last
        assert await client.rest() == b""
    assert len(site.clicks(link_id)) == 1


async def test_http_1_0_needs_no_host(site: Site, client: Client) -> None:
    """It means the default domain."""
    await site.add("old1")
    assert (await client.ask(request("/old1", version="1.0", host=None))).status == 302


# Pipelines.


async def test_pipelined_hits_are_answered_in_order(site: Site, client: Client) -> None:
    """Hundreds in one packet, each counted."""
    ids = [await site.add(f"pipe{number}") for number in range(10)]
    await client.send(b"".join(request(f"/pipe{number % 10}") for number in range(300)))
    answers = await client.answers(300)
    assert [answer.location for answer in answers] == [
        f"https://example.com/pipe{number % 10}" for number in range(300)
    ]
    assert [len(site.clicks(link_id)) for link_id in ids] == [30] * 10


async def test_pipelined_requests_of_all_kinds_are_answered_in_order(site: Site) -> None:
    """Hits, misses, refusals, the API, bodies; and what is no request at all comes last, behind all of them."""
    for number in range(4):
        await site.add(f"mixh{number}")
        await site.add(f"mixm{number}", warm=False)
    body = b'{"url": "https://example.org/"}'
    create = request(
        "/shorten", "Content-Type: application/json", f"Content-Length: {len(body)}", method="POST"
    )
    requests = [
        (request("/mixh0"), 302, "mixh0"),
        (request("/mixm0"), 302, "mixm0"),
        (request("/mixh1"), 302, "mixh1"),
        (request("/live"), 200, None),
        (request("/mixh2"), 302, "mixh2"),
        (request("/nobody"), 404, None),
        (create + body, 201, None),
        (request("/mixm1", "Content-Length: 3") + b"abc", 302, "mixm1"),
        (request("/mixh3", method="POST"), 405, None),
        (request("/mixm2"), 302, "mixm2"),
        (request("/mixh3"), 302, "mixh3"),
        (request("/mixm3", "Transfer-Encoding: chunked") + b"3\r\nabc\r\n0\r\n\r\n", 302, "mixm3"),
        (b"\x00this is no request\r\n\r\n", 400, None),
    ]
    async with await site.connect() as client:
        await client.send(b"".join(sent for sent, _, _ in requests))
        answers = await client.answers(len(requests))
        assert [answer.status for answer in answers] == [status for _, status, _ in requests]
        for answer, (_, _, code) in zip(answers, requests, strict=True):
            assert code is None or answer.location == f"https://example.com/{code}"
        assert answers[-1].is_last
        assert await client.rest() == b""


async def test_a_hit_waits_for_the_slow_answer_before_it(tmp_path: Path) -> None:
    """The application takes its time; what the lane could answer at once keeps its place."""
    gate = asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        await gate.wait()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async with open_site(tmp_path, app=slow) as site:
        await site.add("fast")
        async with await site.connect() as client:
            await client.send(request("/slow") + request("/fast") + request("/slow"))
            connection = await site.running.connection_of(client)
            await until(lambda: len(connection.pipeline) == 2)
            assert site.lane.answered == 0
            gate.set()
            # Behind the slow one it has become the application's, too.
            assert [answer.status for answer in await client.answers(3)] == [200, 200, 200]
            assert (await client.ask(request("/fast"))).status == 302


# Which link.


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    "target",
    [
        "/{}?utm_source=x",
        "/{}?",
        "/{}?a=/b?c",
        "/{}#fragment",
        "http://localhost/{}",
        "http://LOCALHOST:8000/{}?q",
        "HTTP://localhost/{}",
        "https://localhost/{}",
        "http://user@localhost/{}",
        "http://unknown.example/{}",
    ],
)
async def test_the_same_link_in_another_form(site: Site, client: Client, target: str, warm: bool) -> None:
    """With a query or a fragment behind it, or as an absolute URL; each is one click."""
    code = site.new_code()
    link_id = await site.add(code, warm=warm)
    answer = await client.ask(request(target.format(code)))
    assert (answer.status, answer.location) == (302, f"https://example.com/{code}")
    assert len(site.clicks(link_id)) == 1


async def test_a_percent_encoded_code_is_the_code(site: Site, client: Client) -> None:
    """%61 is an a, to the endpoint if not to the lane; a slash that is encoded is a slash."""
    await site.add("abca")
    assert (await client.ask(request("/%61bc%61"))).location == "https://example.com/abca"
    assert (await client.ask(request("/abca%2Fx"))).status == 404
    assert (await client.ask(request("/abca%00"))).status == 400
    assert (await client.ask(request("/%E4%BD%A0"))).status == 400
    assert (await client.ask(request("/%FF"))).status == 400


@pytest.mark.parametrize("path", ["/two/parts", "//abcd", "/abcd/", "/a/../b"])
async def test_a_path_of_several_parts_is_no_code(site: Site, client: Client, path: str) -> None:
    """404; nothing is tidied up."""
    assert (await client.ask(request(path))).status == 404


@pytest.fixture
async def domain(site: Site) -> int:
    """A second domain, known to the server from its start."""
    known = site.services.hosts.domain_of(b"brand.example")
    assert known != 1
    return known


@pytest.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """The shared site of this module has two domains."""
    folder = tmp_path_factory.mktemp("site")
    async with open_site(folder) as site:
        await site.services.database.execute(
            "INSERT INTO domain (id, workspace_id, host, is_default, verified_at, created_at)"
            " VALUES (7, 1, 'brand.example', FALSE, $1, $1)",
            1_700_000_000_000_000,
        )
    async with open_site(folder) as site:
        yield site


@pytest.mark.parametrize(
    "host", ["brand.example", "BRAND.example", "brand.example:8000", "brand.example.", "brand.example.:80"]
)
@pytest.mark.parametrize("warm", [True, False])
async def test_a_code_belongs_to_its_domain(
    site: Site, client: Client, domain: int, host: str, warm: bool
) -> None:
    """However the name is spelled, and the same code elsewhere is another link."""
    code = site.new_code()
    ours = await site.add(code, domain_id=domain, warm=warm, original_url="https://example.com/brand")
    theirs = await site.add(code, warm=warm)
    assert (await client.ask(request(f"/{code}", host=host))).location == "https://example.com/brand"
    assert (await client.ask(request(f"/{code}"))).location == f"https://example.com/{code}"
    assert (len(site.clicks(ours)), len(site.clicks(theirs))) == (1, 1)


async def test_a_host_that_becomes_a_domain_is_heard_of_on_open_connections(
    site: Site, client: Client
) -> None:
    """The very same bytes mean another link from then on, and the old one again when the domain is given up."""
    code = site.new_code()
    await site.add(code)
    await site.add(code, domain_id=7, original_url="https://example.com/brand")
    ask = request(f"/{code}", host="late.example")
    for _ in range(3):
        assert (await client.ask(ask)).location == f"https://example.com/{code}"
    site.services.hosts.put("late.example", HostSite(7))
    for _ in range(3):
        assert (await client.ask(ask)).location == "https://example.com/brand"
    site.services.hosts.drop("late.example", 7)
    site.services.hosts.put("brand.example", HostSite(7))
    assert (await client.ask(ask)).location == f"https://example.com/{code}"


@pytest.mark.parametrize("host", ["unknown.example", "127.0.0.1:8000", "[::1]:8000", "[::1]", "a b", "x:y"])
async def test_an_unknown_host_means_the_default_domain(site: Site, client: Client, host: str) -> None:
    """A server that is reached is meant."""
    code = site.new_code()
    await site.add(code)
    assert (await client.ask(request(f"/{code}", host=host))).status == 302


async def test_an_absolute_url_names_the_domain(site: Site, client: Client, domain: int) -> None:
    """Whatever the Host header says (RFC 9112, section 3.2.2), for the lane and for the application."""
    await site.add("abs1", domain_id=domain, original_url="https://example.com/brand")
    await site.add("abs1")
    for target, place in (
        ("http://brand.example/abs1", "brand"),
        ("http://user:word@brand.example:80/abs1", "brand"),
        ("HTTPS://brand.example/abs1", "brand"),
        ("http://localhost/abs1", "abs1"),
    ):
        for host in ("brand.example", "localhost"):
            for extra in ([], ["Content-Length: 0"]):
                answer = await client.ask(request(target, *extra, host=host))
                assert answer.location == f"https://example.com/{place}"


async def test_an_absolute_url_without_a_path_means_the_root(client: Client) -> None:
    """With a query behind it as well (RFC 9112, section 3.2.1)."""
    root = await client.ask(request("/"))
    for target in ("http://localhost", "http://localhost?a=b", "HTTP://localhost/?a=b"):
        answer = await client.ask(request(target))
        assert (answer.status, len(answer.body)) == (root.status, len(root.body))


async def test_a_key_cannot_be_forged_by_the_target(site: Site, client: Client, domain: int) -> None:
    """`<domain number>/code` as a request target would reach another domain's entry."""
    await site.add("forge", domain_id=domain)
    answer = await client.ask(request("7/forge", host="localhost"))
    assert answer.status == 400


# Split heads.


async def test_a_request_may_come_byte_by_byte(site: Site, client: Client) -> None:
    """A hit and a miss."""
    await site.add("slowhit")
    await site.add("slowmis", warm=False)
    for code in ("slowhit", "slowmis"):
        for byte in request(f"/{code}", "User-Agent: Mozilla/5.0"):
            await client.send(bytes([byte]))
            await let_the_server_read()
        assert (await client.answer()).location == f"https://example.com/{code}"


async def test_two_requests_may_be_cut_anywhere(site: Site, client: Client) -> None:
    """Between any two bytes."""
    link_id = await site.add("cutme")
    data = request("/cutme", "User-Agent: x", "Accept-Language: de") + request("/cutme?q", "Referer: y")
    for cut in range(1, len(data)):
        await client.send(data[:cut])
        await let_the_server_read()
        await client.send(data[cut:])
        assert [answer.status for answer in await client.answers(2)] == [302, 302]
    assert len(site.clicks(link_id)) == 2 * (len(data) - 1)


async def test_empty_lines_before_a_request_are_ignored(site: Site, client: Client) -> None:
    """RFC 9112, section 2.2."""
    await site.add("crlf")
    assert (await client.ask(b"\r\n\r\n" + request("/crlf"))).status == 302


# Whose address.


@pytest.fixture
async def behind_proxy(tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(tmp_path, trusted_proxies=("127.0.0.1", "10.0.0.0/8")) as site:
        yield site


@pytest.mark.parametrize("warm", [True, False])
async def test_forwarded_addresses_of_strangers_are_ignored(site: Site, client: Client, warm: bool) -> None:
    """No proxies are trusted unless the operator has named them."""
    code = f"xff{warm:d}"
    link_id = await site.add(code, warm=warm)
    await client.ask(request(f"/{code}", "X-Forwarded-For: 203.0.113.5"))
    assert [click.address for click in site.clicks(link_id)] == [b"127.0.0.1"]


@pytest.mark.parametrize("warm", [True, False])
async def test_a_trusted_proxy_tells_the_visitors_address(behind_proxy: Site, warm: bool) -> None:
    """The last one that is no proxy of ours: what a visitor wrote into the header himself is not believed."""
    cases = [
        (["X-Forwarded-For: 203.0.113.5"], b"203.0.113.5"),
        (["X-Forwarded-For: 198.51.100.1, 203.0.113.5"], b"203.0.113.5"),
        (["X-Forwarded-For: 203.0.113.5, 10.1.2.3"], b"203.0.113.5"),
        (["X-Forwarded-For: 198.51.100.1", "X-Forwarded-For: 203.0.113.5"], b"203.0.113.5"),
        (["X-Forwarded-For: 2001:db8::1"], b"2001:db8::1"),
        (["X-Forwarded-For: fe80::1%<script>"], b"fe80::1"),
        (["X-Forwarded-For: ::ffff:203.0.113.5"], b"203.0.113.5"),
        (["X-Forwarded-For: nonsense, 10.1.2.3"], b"10.1.2.3"),
        (["X-Forwarded-For: \xff\xfe"], b"127.0.0.1"),
        (["X-Forwarded-For:"], b"127.0.0.1"),
        ([], b"127.0.0.1"),
    ]
    async with await behind_proxy.connect() as client:
        for number, (headers, address) in enumerate(cases):
            link_id = await behind_proxy.add(f"xf{number}", warm=warm)
            assert (await client.ask(request(f"/xf{number}", *headers))).status == 302
            assert [click.address for click in behind_proxy.clicks(link_id)] == [address], headers


async def test_visitors_of_one_connection_are_told_apart(behind_proxy: Site) -> None:
    """A proxy sends many visitors through one connection, in one packet."""
    link_id = await behind_proxy.add("many")
    visitors = [(f"203.0.113.{number % 7}", f"Agent {number % 3}") for number in range(40)]
    async with await behind_proxy.connect() as client:
        await client.send(
            b"".join(
                request("/many", f"X-Forwarded-For: {address}", f"User-Agent: {agent}")
                for address, agent in visitors
            )
        )
        await client.answers(40)
    assert [
        (click.address.decode(), click.user_agent.decode()) for click in behind_proxy.clicks(link_id)
    ] == visitors


async def test_a_client_that_goes_away_harms_nobody(site: Site) -> None:
    """It asked and left before its answer; others in the same tick get theirs."""
    await site.add("bye1")
    for _ in range(20):
        gone, stays = await site.connect(), await site.connect()
        await gone.send(request("/bye1") * 10)
        await stays.send(request("/bye1"))
        gone.close()
        assert (await stays.answer()).status == 302
        stays.close()


async def test_the_end_of_a_connection_is_no_answer(site: Site) -> None:
    """What these tests read is what the server sent: a closed connection is told apart."""
    async with await site.connect() as client:
        client.finish_sending()
        with pytest.raises(Closed):
            await client.answer()
