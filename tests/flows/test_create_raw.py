"""Creates over a bare socket: they go to their handler without the framework, and come back as from it."""

import json

import pytest

from tests.flows.server import LaconicServer
from tests.redirect.raw_http import Answer, Client


def post(url: str, *headers: bytes, path: bytes = b"/api/v1/urls") -> bytes:
    body = json.dumps({"original_url" if path != b"/shorten" else "url": url}).encode()
    lines = [b"POST %b HTTP/1.1" % path, b"Host: localhost", b"Content-Type: application/json", *headers]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])


async def ask(server: LaconicServer, *parts: bytes, answers: int) -> list[Answer]:
    """Sends the parts one by one; the server closes behind the last answer."""
    async with await Client.connect(int(server.base_url.rpartition(":")[2])) as client:
        for part in parts:
            await client.send(part)
        found = await client.answers(answers)
        assert await client.rest() == b""
    for answer in found:
        assert len(names(answer)) == len(answer.headers), "a header came twice"
    return found


def names(answer: Answer) -> set[str]:
    return {name for name, _ in answer.headers}


@pytest.mark.parametrize("path", [b"/api/v1/urls", b"/shorten"])
async def test_several_in_one_packet_are_answered_in_order(server: LaconicServer, path: bytes) -> None:
    """The last one asks for the end, and is told so."""
    urls = [f"https://example.com/raw/{number}" for number in range(3)]
    requests = [post(url, path=path) for url in urls[:2]] + [post(urls[2], b"Connection: close", path=path)]
    answers = await ask(server, b"".join(requests), answers=3)
    assert [answer.status for answer in answers] == [201] * 3
    assert [json.loads(answer.body)["original_url"] for answer in answers] == urls
    assert [answer.is_last for answer in answers] == [False, False, True]


async def test_a_body_may_come_in_pieces(server: LaconicServer) -> None:
    """Cut inside the head and inside the body."""
    whole = post("https://example.com/pieces", b"Connection: close")
    (answer,) = await ask(server, whole[:30], whole[30:-10], whole[-10:], answers=1)
    assert json.loads(answer.body)["original_url"] == "https://example.com/pieces"


async def test_answers_look_like_those_of_the_framework(server: LaconicServer) -> None:
    """A create and a look at it carry the same headers, each once; a refusal is a problem document."""
    refused = post("http://10.0.0.1/").replace(b"Content-Type", b"X-Request-Id: mine\r\nContent-Type", 1)
    looked = b"GET /api/v1/urls?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    made, problem, seen = await ask(server, post("https://example.com/alike"), refused, looked, answers=3)
    assert names(made) == names(seen) - {"connection"}
    assert {made.header("content-type"), seen.header("content-type")} == {"application/json"}
    assert problem.status == 400
    assert problem.header("content-type") == "application/problem+json"
    assert problem.header("x-request-id") == "mine"
