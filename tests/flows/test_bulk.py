"""POST /api/v1/urls/bulk: NDJSON or a JSON array in, a result a line out."""

import json
import socket
from collections.abc import Iterator, Sequence
from http.client import HTTPResponse
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.flows.server import PATIENCE_SECONDS, LaconicServer, eventually
from tests.flows.talk import JSON, NDJSON, URLS, make_code, problem, read, target

BULK = f"{URLS}/bulk"


def results_of(answer: httpx.Response) -> list[dict[str, Any]]:
    """One object a line, numbered in the order of the lines sent."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    results = [json.loads(line) for line in answer.text.removesuffix("\n").split("\n") if line]
    assert [result["line"] for result in results] == list(range(1, len(results) + 1))
    return results


def ndjson(items: Sequence[Any]) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in items)


def array(items: Sequence[Any]) -> bytes:
    return json.dumps(items).encode()


@pytest.fixture(params=["ndjson", "array"])
def send(request: pytest.FixtureRequest, api: httpx.Client) -> Any:
    """Sends items in one of the two forms and gives the results."""
    form, headers = (ndjson, NDJSON) if request.param == "ndjson" else (array, JSON)
    return lambda items: results_of(api.post(BULK, content=form(items), headers=headers))


def test_every_line_becomes_a_link(api: httpx.Client, send: Any) -> None:
    """With the fields of a single create, in the order of the lines."""
    items: list[dict[str, Any]] = [
        {"original_url": f"https://example.com/bulk/{number}"} for number in range(100)
    ]
    items[3] |= {"title": "Third", "metadata": {"a": 1}, "description": "d", "redirect_status": 301}
    items[4] |= {"expires_in_hours": 1}
    results = send(items)
    assert [result["status"] for result in results] == [201] * 100
    assert [result["original_url"] for result in results] == [item["original_url"] for item in items]
    assert len({result["short_code"] for result in results}) == 100
    for result in results[:6]:
        shown = read(api, result["short_code"])
        assert {name: shown[name] for name in result if name not in ("line", "status")} == {
            name: value for name, value in result.items() if name not in ("line", "status")
        }
        assert target(api, result["short_code"]) == result["original_url"]
    assert read(api, results[3]["short_code"])["metadata"] == {"a": 1}


def test_bad_lines_spoil_no_other(api: httpx.Client, send: Any) -> None:
    """Each gets the problem document that it would get alone, in its place."""
    taken = make_code(api)
    good = {"original_url": "https://example.com/good"}
    items = [
        good,
        {"original_url": "nonsense"},
        good,
        {"original_url": "https://a.com/" + "x" * 2048},
        {"original_url": "https://a.com", "custom_code": taken},
        {"original_url": "https://a.com", "custom_code": "health"},
        {},
        {"original_url": "https://a.com", "title": 7},
        {"original_url": "https://a.com", "title": "a\0b"},
        {"original_url": "https://a.com", "expires_in_hours": 1, "expires_in_seconds": 1},
        {"original_url": "https://a.com", "domain": "other.example"},
        [],
        "text",
        None,
        good,
    ]
    results = send(items)
    assert [(result["status"], result.get("code")) for result in results] == [
        (201, None),
        (400, "url_refused"),
        (201, None),
        (413, "url_too_long"),
        (409, "code_taken"),
        (422, "code_refused"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (422, "invalid_request"),
        (201, None),
    ]
    assert results[1]["reason"] == "no_scheme"


def test_same_custom_code_twice_is_given_to_the_first(api: httpx.Client, send: Any) -> None:
    """Within one bulk as between two requests."""
    code = "Bk" + make_code(api)[:5]
    results = send([{"original_url": f"https://example.com/{n}", "custom_code": code} for n in range(3)])
    assert sorted(result["status"] for result in results) == [201, 409, 409]
    winner = next(result for result in results if result["status"] == 201)
    assert target(api, code) == winner["original_url"]


def test_reuse_within_a_bulk(api: httpx.Client, send: Any) -> None:
    """The same URL twice is one link, told 201 and then 200."""
    url = f"https://example.com/bulk-reuse/{make_code(api)}"
    results = send([{"original_url": url, "reuse": True}] * 3)
    assert [result["status"] for result in results] == [201, 200, 200]
    assert len({result["short_code"] for result in results}) == 1
    assert [result.get("existing") for result in results] == [None, True, True]


def test_lines_that_are_no_json_spoil_no_other(api: httpx.Client) -> None:
    """Syntax, bytes that are no UTF-8, half of a surrogate pair, a byte order mark, deep nesting."""
    good = b'{"original_url":"https://example.com/good"}'
    lines = [
        good,
        b"{",
        good,
        b'{"original_url":"https://example.com/\xff"}',
        b'{"original_url":"https://example.com/","title":"\\ud800"}',
        b"[" * 10_000,
        b'{"original_url":"https://example.com/","metadata":{"a":1e999}}',
        b'{"original_url":"https://example.com/","metadata":{"a":NaN}}',
        good + b"x",
        b"   \t",
        good + b"\r",
        good,
    ]
    results = results_of(api.post(BULK, content=b"\n".join(lines), headers=NDJSON))
    assert [result["status"] for result in results] == [201, 400, 201, 400, 422, 400, 422, 422, 400, 201, 201]


def test_line_that_is_too_long_is_told_and_skipped(api: httpx.Client) -> None:
    """413 for it alone, wherever the pieces of the stream are cut."""
    good = b'{"original_url":"https://example.com/good"}\n'
    long = b'{"original_url":"https://example.com/","description":"' + b"x" * 200_000 + b'"}\n'
    body = good + long + good + long + good

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(body), 10_007):
            yield body[start : start + 10_007]

    for content in (body, pieces()):
        results = results_of(api.post(BULK, content=content, headers=NDJSON))
        assert [result["status"] for result in results] == [201, 413, 201, 413, 201]


@pytest.mark.parametrize(
    ("body", "headers", "statuses"),
    [
        (b"", NDJSON, []),
        (b"\n\n  \n", NDJSON, []),
        (b'{"original_url":"https://a.com"}', NDJSON, [201]),
        (b"[]", JSON, []),
        (b" [ ] ", JSON, []),
        (b"", JSON, [400]),
        (b"{}", JSON, [400]),
        (b'[{"original_url":"https://a.com"}', JSON, [201, 400]),
        (b'[{"original_url":"https://a.com"},]', JSON, [201, 400]),
        (b'[{"original_url":"https://a.com"} {"original_url":"https://a.com"}]', JSON, [201, 400]),
        (b'[{"original_url":"https://a.com"},{"original_url', JSON, [201, 400]),
        (b'[1,"a",null,{"original_url":"https://a.com"}]', JSON, [422, 422, 422, 201]),
        (
            b'[{"original_url":"https://a.com","title":"\xff"},{"original_url":"https://a.com"}]',
            JSON,
            [400, 201],
        ),
    ],
)
def test_odd_bodies(api: httpx.Client, body: bytes, headers: dict[str, str], statuses: list[int]) -> None:
    """Whatever can be read becomes a link; where an array breaks off, one last result says so."""
    for content in (body, iter([body[i : i + 1] for i in range(len(body))])):
        results = results_of(api.post(BULK, content=content, headers=headers))
        assert [result["status"] for result in results] == statuses


def test_takes_only_what_it_can_read(api: httpx.Client) -> None:
    """415 for any other content type; application/jsonl is NDJSON by its other name."""
    problem(api.post(BULK, content=b"x"), 415, "unsupported_media_type")
    problem(api.post(BULK, content=b"x", headers={"content-type": "text/csv"}), 415, "unsupported_media_type")
    answer = api.post(
        BULK, content=b'{"original_url":"https://a.com"}', headers={"content-type": "application/jsonl"}
    )
    assert [result["status"] for result in results_of(answer)] == [201]


def test_ten_thousand_lines(api: httpx.Client, send: Any) -> None:
    """All of them, in order, each with a code of its own that works."""
    items = [{"original_url": f"https://example.com/many/{number}"} for number in range(10_000)]
    results = send(items)
    assert [result["original_url"] for result in results] == [item["original_url"] for item in items]
    assert {result["status"] for result in results} == {201}
    assert len({result["short_code"] for result in results}) == 10_000
    for result in results[::1000]:
        assert target(api, result["short_code"]) == result["original_url"]


def test_results_come_while_lines_are_sent(server: LaconicServer) -> None:
    """A client that waits for the result of each line before it sends the next one is served."""
    with connect(server) as connection, connection.makefile("rwb") as stream:
        stream.write(head(server, "Transfer-Encoding: chunked"))
        for number in range(3):
            line = json.dumps({"original_url": f"https://example.com/step/{number}"}).encode() + b"\n"
            stream.write(b"%x\r\n%b\r\n" % (len(line), line))
            stream.flush()
            while not (told := stream.readline()).startswith(b'{"line":%d,' % (number + 1)):
                assert told, "the connection ended early"
        stream.write(b"0\r\n\r\n")
        stream.flush()
        assert stream.read().endswith(b"0\r\n\r\n")


def test_client_that_sends_everything_before_it_reads(server: LaconicServer) -> None:
    """Results that no socket's buffer holds wait for the client; it does not have to read while it writes."""
    filler = "x" * 1900
    count = 8_000
    body = ndjson([{"original_url": f"https://example.com/{number}/{filler}"} for number in range(count)])
    with connect(server) as connection:
        connection.sendall(head(server, f"Content-Length: {len(body)}") + body)
        answer = HTTPResponse(connection)
        answer.begin()
        received = answer.read()
    assert received.count(b'"status":201') == count


def test_client_that_goes_away_leaves_a_server_that_works(server: LaconicServer, api: httpx.Client) -> None:
    """In the middle of a line, with results on their way."""
    body = ndjson([{"original_url": f"https://example.com/{number}"} for number in range(2_000)])
    for cut in (len(body) // 2, len(body) - 5):
        with connect(server) as connection:
            connection.sendall(head(server, f"Content-Length: {len(body)}") + body[:cut])
    assert target(api, make_code(api)) == "https://example.com/"


def connect(server: LaconicServer) -> socket.socket:
    address = urlsplit(server.base_url)
    connection = socket.create_connection((address.hostname, address.port or 80))
    connection.settimeout(PATIENCE_SECONDS)
    return connection


def head(server: LaconicServer, length: str) -> bytes:
    host = urlsplit(server.base_url).netloc
    lines = [f"POST {BULK} HTTP/1.1", f"Host: {host}", "Content-Type: application/x-ndjson", length]
    return "\r\n".join([*lines, "Connection: close", "", ""]).encode()


def test_an_import_leaves_one_audit_event(api: httpx.Client) -> None:
    """With the number of links that it made, whichever lines were refused; written when it has ended."""
    lines = [{"original_url": "https://example.com/"}] * 7 + [{"original_url": "nonsense"}]
    results_of(api.post(BULK, content=ndjson(lines), headers=NDJSON))

    def told() -> list[dict[str, Any]]:
        found = api.get("/api/v1/audit", params={"action": "link.import"}).json()["items"]
        return [one["after"] for one in found if one["after"] == {"links": 7, "lines": 8}]

    assert len(eventually(told, "the import is not in the trail")) == 1
