"""What is no valid request, or too large, or ambiguous: refused, closed, counted as nothing, and nobody else is harmed."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.redirect.lane.connection import Connection
from tests.redirect.raw_http import Answer, Client, Closed, let_the_server_read, request
from tests.redirect.serving import Site

pytestmark = pytest.mark.anyio


async def _assert_refused(site: Site, data: bytes, status: int = 400) -> None:
    """One answer, the last one, with a date; and what came behind it is not answered."""
    async with await site.connect() as client:
        await client.send(data + request("/live"))
        answer = await client.answer()
        assert answer.status == status, answer
        assert answer.is_last
        assert answer.header("date") is not None
        assert await client.rest() == b""


# Host.


@pytest.mark.parametrize(
    "heads",
    [
        "Host: localhost\r\nHost: localhost",
        "Host: localhost\r\nHost: evil.example",
        "Host: localhost\r\nUser-Agent: x\r\nhOsT: localhost",
        "Host:\r\nHost: localhost",
        "Host: localhost\r\nHost:",
        "Content-Length: 0\r\nHost: localhost\r\nHost: evil.example",
        "Host: localhost\r\nExpect: 100-continue\r\nHost: evil.example",
        "Connection: Upgrade\r\nUpgrade: h2c\r\nHost: localhost\r\nHost: evil.example",
    ],
)
@pytest.mark.parametrize("target", ["/twohosts", "/nobody", "/live", "http://localhost/twohosts"])
@pytest.mark.parametrize("version", ["1.0", "1.1"])
async def test_two_hosts_are_refused(site: Site, heads: str, target: str, version: str) -> None:
    """RFC 9112, section 3.2: whoever stands before us may have read the other one."""
    link_id = await site.add(site.new_code())
    await _assert_refused(site, f"GET {target} HTTP/{version}\r\n{heads}\r\n\r\n".encode())
    assert site.clicks(link_id) == []


@pytest.mark.parametrize(
    "heads", ["User-Agent: x", "Host:", "Host: ", "X-Host: localhost", "Content-Length: 0"]
)
@pytest.mark.parametrize("target", ["/nohost", "/live", "http://localhost/nohost"])
async def test_http_1_1_needs_a_host(site: Site, heads: str, target: str) -> None:
    """Also when the target names one."""
    await _assert_refused(site, f"GET {target} HTTP/1.1\r\n{heads}\r\n\r\n".encode())


# What is no HTTP.


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),  # a TLS hello
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",  # HTTP/2 with prior knowledge
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x00\x00\x00\x00",
        b"hello\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /x\r\n\r\n",
        b"GET /x HTTP/1.1 extra\r\nHost: localhost\r\n\r\n",
        b"GET /x HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: localhost\r\n: no name\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: local\x00host\r\n\r\n",
        b"GET /x HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n",
        b"get /x HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET http:///x HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET x HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused(site: Site, data: bytes) -> None:
    """With words that a person understands, and the end of the connection."""
    await _assert_refused(site, data)


@pytest.mark.parametrize("byte", [0x00, 0x01, 0x09, 0x0B, 0x1F, 0x7F, 0x80, 0xC3, 0xFF])
async def test_a_path_with_bytes_that_are_no_url_characters_is_refused(site: Site, byte: int) -> None:
    """Control bytes and non-ASCII: such a client has not encoded its path."""
    await _assert_refused(site, b"GET /ab" + bytes([byte]) + b"cd HTTP/1.1\r\nHost: localhost\r\n\r\n")


# Request smuggling: what two servers in a row might read differently.


@pytest.mark.parametrize(
    "heads",
    [
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 4\r\nContent-Length: 5",
        "Content-Length: 4\r\nContent-Length: 4",
        "Content-Length: 4, 4",
        "Content-Length: +4",
        "Content-Length: -4",
        "Content-Length: 0x4",
        "Content-Length: 99999999999999999999",
        "Content-Length : 4",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: identity",
        "Transfer-Encoding:\x0bchunked",
        "X: a\r\n folded",
        " Host: evil.example",
        "X: a\nContent-Length: 4",
        "X\r\nContent-Length: 4",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_ambiguous_request_is_refused(site: Site, heads: str, method: str) -> None:
    """And nothing of what might be a second request in it is answered."""
    head = f"{method} /smuggle HTTP/1.1\r\nHost: localhost\r\n{heads}\r\n\r\n".encode()
    await _assert_refused(site, head + b"0\r\n\r\n" + request("/live"))


@pytest.mark.parametrize(
    "head",
    [
        b"GET /x HTTP/1.1\nHost: localhost\n\n",
        b"GET /x HTTP/1.1\r\nHost: localhost\n\n",
        b"GET /x HTTP/1.1\r\nHost: localhost\r\n\n",
        b"GET /x HTTP/1.1\rHost: localhost\r\r",
    ],
)
async def test_a_line_ends_with_cr_and_lf(site: Site, head: bytes) -> None:
    """Neither alone."""
    await _assert_refused(site, head)


@pytest.mark.parametrize(
    "body",
    [b"5\nhello\n0\n\n", b"g\r\n", b"5\r\nhelloX\r\n", b"-1\r\n", b"fffffffffffffffffff\r\n", b"0x5\r\n"],
)
@pytest.mark.parametrize("path", ["/shorten", "/api/v1/urls", "/nobody"])
async def test_a_broken_chunk_is_refused(site: Site, body: bytes, path: str) -> None:
    """In the middle of a request that the application has begun to read."""
    head = request(path, "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST")
    async with await site.connect() as client:
        await client.send(head)
        await let_the_server_read()
        await client.send(body)
        data = await client.rest()
    # The application may have answered before the body came; a second answer to the same request never comes.
    assert data.count(b"HTTP/1.1 ") == 1
    assert data.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 405 "))


async def test_a_broken_request_behind_others_is_refused_last(site: Site) -> None:
    """Those before it are answered first, one that breaks off in its body is not."""
    await site.add("before", warm=False)
    broken = request("/shorten", "Transfer-Encoding: chunked", method="POST") + b"nonsense\r\n"
    async with await site.connect() as client:
        await client.send(request("/before") + request("/health") + broken + request("/live"))
        answers = await client.answers(3)
        assert [answer.status for answer in answers] == [302, 200, 400]
        assert await client.rest() == b""


# Too large.


@pytest.mark.parametrize(
    "head",
    [
        request("/large", "X: " + "a" * 50_000),
        request("/large", "a" * 50_000 + ": x"),
        request("/" + "a" * 50_000),
        request("/large?" + "a" * 50_000),
        request("/large", *[f"X{number}: y" for number in range(8_000)]),
        request("/live", "Cookie: " + "a" * 50_000),
    ],
)
@pytest.mark.parametrize("piece", [1 << 20, 1_000])
async def test_a_head_that_is_too_large_is_refused(site: Site, head: bytes, piece: int) -> None:
    """At once or little by little; the connection ends."""
    await site.add(site.new_code())
    async with await site.connect() as client:
        for start in range(0, len(head), piece):
            try:
                await client.send(head[start : start + piece])
            except ConnectionError:
                break
            await let_the_server_read()
        answer = await client.answer()
        assert answer.status == 431
        assert answer.is_last
        assert await client.rest() == b""


async def test_a_large_head_within_the_bound_is_answered(site: Site, client: Client) -> None:
    """Cookies of a whole domain may be many."""
    await site.add("cookies")
    for extra in (["Cookie: " + "a" * 24_000], [f"X{number}: y" for number in range(2_000)]):
        assert (await client.ask(request("/cookies", *extra))).status == 302


async def test_a_head_may_have_32_kib_on_its_way_and_not_a_byte_more(site: Site) -> None:
    """Counted while it is not whole: that is what has to be kept."""
    await site.add("bound")
    head = request("/bound", "X: " + "a" * 40_000)
    bound = 32 * 1024
    async with await site.connect() as client:
        for _ in range(2):
            await client.send(head[:bound])
            await let_the_server_read()
            assert (await client.ask(b"\r\n\r\n")).status == 302
        await client.send(head[: bound + 1])
        assert (await client.answer()).status == 431
    async with await site.connect() as client:
        await client.send(head[: bound + 1])
        assert (await client.answer()).status == 431


async def test_many_small_requests_are_no_large_head(site: Site, client: Client) -> None:
    """A read that ends in the middle of a head, with hundreds of whole requests before it."""
    link_id = await site.add("small")
    data = request("/small") * 3_000
    await client.send(data[:-5])
    assert len(await client.answers(2_999)) == 2_999
    assert (await client.ask(data[-5:])).status == 302
    assert len(site.clicks(link_id)) == 3_000


@pytest.mark.parametrize("tail", [b"X: " + b"a" * 60_000, b"X: y\r\n" * 10_000])
async def test_endless_trailers_are_refused(site: Site, tail: bytes) -> None:
    """What stands behind a chunked body is bounded like a head."""
    head = request(
        "/api/v1/urls", "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST"
    )
    async with await site.connect() as client:
        await client.send(head + b"2\r\n{}\r\n0\r\n")
        await client.send(tail)
        data = await client.rest()
    assert data.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 4"))


async def test_endless_chunk_extensions_are_refused(site: Site) -> None:
    """So is what stands between the chunks."""
    head = request(
        "/api/v1/urls", "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST"
    )
    async with await site.connect() as client:
        await client.send(head + b"2;" + b"a" * 60_000)
        assert (await client.answer()).status == 431
        assert await client.rest() == b""


async def test_a_large_body_is_no_large_head(site: Site, client: Client) -> None:
    """Chunks of any size may come in any number."""
    head = request(
        "/api/v1/urls", "Content-Type: application/json", "Transfer-Encoding: chunked", method="POST"
    )
    title = b"a" * 100
    body = b'{"original_url": "https://example.org/", "metadata": {"x": "' + title * 20 + b'"}}'
    chunks = b"".join(b"1\r\n" + bytes([byte]) + b"\r\n" for byte in body)
    assert (await client.ask(head + chunks + b"0\r\n\r\n")).status in (201, 422)
    assert (await client.ask(request("/live"))).status == 200


# Garbage of every kind.


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(
            st.binary(max_size=60),
            st.sampled_from(
                [
                    b"GET ",
                    b"/garbage",
                    b" HTTP/1.1",
                    b"\r\n",
                    b"Host: localhost",
                    b"Content-Length: 3",
                    b"Transfer-Encoding: chunked",
                    b"Connection: Upgrade",
                    b"Upgrade: h2c",
                    b"Expect: 100-continue",
                    b"GET /garbage HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"POST /shorten HTTP/1.1\r\nHost: localhost\r\n",
                    b"0\r\n\r\n",
                ]
            ),
        ),
        max_size=12,
    )
)
async def test_no_bytes_harm_the_server(site: Site, pieces: list[bytes]) -> None:
    """Whatever comes, each answer is a whole one below 500, and the next visitor is served."""
    async with await site.connect() as client:
        for piece in pieces:
            try:
                await client.send(piece)
            except ConnectionError:
                break
            await let_the_server_read()
        for answer in await _all_answers(client):
            assert answer.status < 500
    async with await site.connect() as visitor:
        assert (await visitor.ask(request("/live"))).status == 200


async def _all_answers(client: Client) -> list[Answer]:
    answers = []
    try:
        client.finish_sending()
        while True:
            answers.append(await client.answer())
    except (Closed, OSError):
        return answers


async def test_no_memory_for_a_body_is_no_fault_of_the_client(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 as a problem document: the request was valid, and may be tried again."""

    def out_of_memory(connection: Connection, body: bytes) -> None:
        raise MemoryError

    monkeypatch.setattr(Connection, "on_body", out_of_memory)
    async with await site.connect() as client:
        await client.send(b"POST /shorten HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
        answer = await client.answer()
        assert (answer.status, answer.header("retry-after"), answer.is_last) == (503, "1", True)
        assert answer.header("content-type") == "application/problem+json"
        assert json.loads(answer.body)["code"] == "unavailable"
