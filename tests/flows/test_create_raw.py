"""Creates over a bare socket: they go to their handler without the framework, and come back as from it."""

import json
import socket
from typing import Any

import pytest

from tests.flows.server import LaconicServer

_PATIENCE_SECONDS = 30


def post(url: str, *headers: bytes, path: bytes = b"/api/v1/urls") -> bytes:
    body = json.dumps({"original_url" if path != b"/shorten" else "url": url}).encode()
    lines = [b"POST %b HTTP/1.1" % path, b"Host: localhost", b"Content-Type: application/json", *headers]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(body), b"", body])


def ask(server: LaconicServer, *parts: bytes) -> list[tuple[bytes, dict[bytes, bytes], Any]]:
    """Sends the parts one by one, reads until the server closes; status line, headers and JSON of each answer."""
    with socket.create_connection(
        ("127.0.0.1", int(server.base_url.rpartition(":")[2])), _PATIENCE_SECONDS
    ) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for part in parts:
            client.sendall(part)
        received = b""
        while some := client.recv(65536):
            received += some
    answers = []
    while received:
        head, _, rest = received.partition(b"\r\n\r\n")
        status, *lines = head.split(b"\r\n")
        headers = dict(line.split(b": ", 1) for line in lines)
        assert len(headers) == len(lines), "a header came twice"
        length = int(headers[b"content-length"])
        answers.append((status, headers, json.loads(rest[:length])))
        received = rest[length:]
    return answers


@pytest.mark.parametrize("path", [b"/api/v1/urls", b"/shorten"])
def test_several_in_one_packet_are_answered_in_order(server: LaconicServer, path: bytes) -> None:
    """The last one asks for the end, and is told so."""
    urls = [f"https://example.com/raw/{number}" for number in range(3)]
    requests = [post(url, path=path) for url in urls[:2]] + [post(urls[2], b"Connection: close", path=path)]
    answers = ask(server, b"".join(requests))
    assert [status for status, _, _ in answers] == [b"HTTP/1.1 201 Created"] * 3
    assert [shown["original_url"] for _, _, shown in answers] == urls
    assert [b"connection" in headers for _, headers, _ in answers] == [False, False, True]


def test_a_body_may_come_in_pieces(server: LaconicServer) -> None:
    """Cut inside the head and inside the body."""
    whole = post("https://example.com/pieces", b"Connection: close")
    answers = ask(server, whole[:30], whole[30:-10], whole[-10:])
    assert answers[0][2]["original_url"] == "https://example.com/pieces"


def test_answers_look_like_those_of_the_framework(server: LaconicServer) -> None:
    """A create and a look at it carry the same headers, each once; a refusal is a problem document."""
    refused = post("http://10.0.0.1/").replace(b"Content-Type", b"X-Request-Id: mine\r\nContent-Type", 1)
    looked = b"GET /api/v1/urls?limit=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    made, problem, seen = ask(server, post("https://example.com/alike"), refused, looked)
    assert set(made[1]) == set(seen[1]) - {b"connection"}
    assert {made[1][b"content-type"], seen[1][b"content-type"]} == {b"application/json"}
    assert problem[0] == b"HTTP/1.1 400 Bad Request"
    assert problem[1][b"content-type"] == b"application/problem+json"
    assert problem[1][b"x-request-id"] == b"mine"
