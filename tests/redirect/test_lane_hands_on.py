"""What the lane hands on, whole: requests that are more than a plain redirect, and what the application sees of them."""

import ast
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from laconic.redirect.lane import lane_protocol
from tests.redirect.raw_http import Client, let_the_server_read, request
from tests.redirect.serving import Running, Site, run

pytestmark = pytest.mark.anyio


# Requests that are more than a plain redirect.


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize(
    ("header", "body"),
    [
        ("Content-Length: 5", b"hello"),
        ("Content-Length: 0", b""),
        ("Transfer-Encoding: chunked", b"5\r\nhello\r\n0\r\n\r\n"),
        ("Transfer-Encoding: chunked", b"5;x=y\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"),
        # A body that looks like a request is a body.
        ("Content-Length: 41", b"GET /nobody HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ],
)
async def test_a_get_with_a_body_is_a_click(
    site: Site, client: Client, header: str, body: bytes, warm: bool
) -> None:
    """The body is read past, and the next request on the connection is understood."""
    code = site.new_code()
    link_id = await site.add(code, warm=warm)
    for _ in range(2):
        answer = await client.ask(request(f"/{code}", header) + body)
        assert answer.location == f"https://example.com/{code}"
    assert (await client.ask(request("/live"))).status == 200
    assert len(site.clicks(link_id)) == 2


async def test_a_client_that_expects_100_gets_its_answer(site: Site, client: Client) -> None:
    """On a link at once, without the body; on a create 100 first and the answer after the body."""
    await site.add("exp100")
    answer = await client.ask(request("/exp100", "Expect: 100-continue", "Content-Length: 2"))
    assert answer.status == 302
    await client.send(b"{}")
    body = b'{"url": "https://example.org/"}'
    head = request(
        "/shorten",
        "Expect: 100-continue",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        method="POST",
    )
    assert (await client.ask(head)).status == 100
    assert (await client.ask(body)).status == 201


_H2C = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA")
_WEBSOCKET = ("Connection: keep-alive, Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==")


@pytest.mark.parametrize("wish", [_H2C, _WEBSOCKET, ("Upgrade: h2c",), ("Connection: upgrade",)])
async def test_a_wish_to_upgrade_is_ignored(site: Site, client: Client, wish: tuple[str, ...]) -> None:
    """The request is answered as any other, once, and the connection goes on."""
    code = site.new_code()
    link_id = await site.add(code)
    for _ in range(2):
        await client.send(request(f"/{code}", *wish) + request("/live", *wish))
        assert (await client.answer()).location == f"https://example.com/{code}"
        assert (await client.answer()).status == 200
    assert len(site.clicks(link_id)) == 2


async def test_the_body_of_a_request_that_wishes_to_upgrade_is_read(site: Site, client: Client) -> None:
    """Java's HttpClient asks for h2c with every POST."""
    body = b'{"url": "https://example.org/"}'
    head = request(
        "/shorten", *_H2C, "Content-Type: application/json", f"Content-Length: {len(body)}", method="POST"
    )
    assert (await client.ask(head + body)).status == 201
    await client.send(head + body[:10])
    await let_the_server_read()
    assert (await client.ask(body[10:] + head + body)).status == 201
    assert (await client.answer()).status == 201


async def test_a_connection_that_wishes_to_upgrade_and_to_close_is_closed(site: Site) -> None:
    """Only the wish is dropped."""
    await site.add("upcl")
    async with await site.connect() as client:
        answer = await client.ask(request("/upcl", "Connection: Upgrade, close", "Upgrade: h2c"))
        assert answer.is_last
        assert await client.rest() == b""


# What the application gets to see.


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with all that it was given."""
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    seen = {
        name: repr(scope[name])
        for name in (
            "type",
            "method",
            "path",
            "raw_path",
            "query_string",
            "headers",
            "http_version",
            "scheme",
        )
    }
    text = json.dumps(seen | {"body": repr(body), "root": scope["root_path"]}).encode()
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(text))]}
    )
    await send({"type": "http.response.body", "body": text})


_WHOLE = [
    request("/x"),
    request("/x?a=b&c=%20d", "X-One: 1", "x-one: 2", "Empty:", "Accept: */*"),
    request("/%C3%A4%2F?%FF#frag", "Cookie: a=b; c=d"),
    request("/x", method="HEAD"),
    request("/x", method="DELETE"),
    request("/x", version="1.0", host=None),
    request("/x", "X-Bytes: \xe4\xff"),
    request("*", method="OPTIONS"),
    request("/x", "Content-Length: 5", method="POST") + b"hello",
    request("/x", "Content-Length: 5") + b"hello",
    request("/x", "Transfer-Encoding: chunked", "Trailer: T")
    + b"5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nT: v\r\n\r\n",
    request("/x", "Content-Length: 100000", method="PUT") + b"0123456789" * 10_000,
    request("/x", "Connection: close", "Content-Length: 3", method="POST") + b"abc",
    request("/x", *[f"X-Header-{number}: {'v' * 100}" for number in range(100)]),
]


@pytest.fixture(scope="module")
async def echoes(site: Site) -> AsyncIterator[tuple[Running, Running]]:
    """The same application behind plain uvicorn and behind the lane."""
    async with run(_echo) as plain, run(_echo, lane_protocol(site.lane)) as lane:
        yield plain, lane


@pytest.mark.parametrize("number", range(len(_WHOLE)))
async def test_what_falls_through_is_whole(echoes: tuple[Running, Running], number: int) -> None:
    """An application behind the lane sees exactly what it would behind plain uvicorn, however it arrives."""
    data = _WHOLE[number]
    plain, lane = echoes
    answers = []
    for running, piece in ((plain, len(data)), (lane, len(data)), (lane, max(1, len(data) // 50))):
        async with await running.connect() as client:
            for start in range(0, len(data), piece):
                await client.send(data[start : start + piece])
                await let_the_server_read()
            answers.append(await client.answer(to_head=data.startswith(b"HEAD")))
    assert answers[0].status == 200
    # uvicorn shows trailers as headers, when they came early enough; the lane never does.
    expected = answers[0].body.replace(b", (b't', b'v')", b"")
    assert [answer.body for answer in answers[1:]] == [expected, expected]
    assert [answer.is_last for answer in answers[1:]] == [answers[0].is_last] * 2


async def test_a_wish_to_upgrade_is_all_that_is_left_out(echoes: tuple[Running, Running]) -> None:
    """What else the Connection header says stays, and so does every other header."""
    headers = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "X: a, upgrade", "HTTP2-Settings: AAMA")
    async with await echoes[1].connect() as client:
        seen = json.loads((await client.ask(request("/x", *headers))).body)["headers"]
    assert ast.literal_eval(seen) == [
        (b"host", b"localhost"),
        (b"connection", b"HTTP2-Settings"),
        (b"x", b"a, upgrade"),
        (b"http2-settings", b"AAMA"),
    ]


async def test_an_absolute_url_replaces_the_host_and_no_other_header(echoes: tuple[Running, Running]) -> None:
    """RFC 9112, section 3.2.2: the authority of the URL counts, whatever the Host header says."""
    headers = ("Accept: */*", "X-Last: 1")
    async with await echoes[1].connect() as client:
        answer = await client.ask(request("http://other.example/x", *headers))
    seen = ast.literal_eval(json.loads(answer.body)["headers"])
    assert sorted(seen) == [(b"accept", b"*/*"), (b"host", b"other.example"), (b"x-last", b"1")]
