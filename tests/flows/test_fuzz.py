"""P10: no input makes a 5xx. Whatever is sent, the answer is a success or a problem document with a stable code."""

import json
import random
import socket
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.web.api import problems
from tests.flows.server import PATIENCE_SECONDS, LaconicServer
from tests.flows.talk import JSON, NDJSON, URLS, make, make_code

DATA = Path(__file__).parents[3] / "shared" / "data"
CODES = {
    *(kind.code for kind in problems.PROBLEMS.values()),
    *(value.code for value in vars(problems).values() if isinstance(value, problems.Kind)),
    *("link_expired", "link_disabled", "link_taken_down", "link_blocked"),
} - {"internal"}
# The server lives for the whole session, and each example meets what the ones before have left: that is the point.
fuzz = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def naughty(file: str) -> list[str]:
    """Strings of a public collection; none where the folder is missing."""
    path = DATA / file
    return (
        [next(iter(json.loads(line).values())) for line in path.read_text().splitlines()]
        if path.exists()
        else []
    )


NAUGHTY = (
    naughty("strings_naughty.jsonl") + naughty("xss_payloads.jsonl") + ["\0", "a\0b", "\ufeff", "../" * 9]
)

texts = st.one_of(st.text(max_size=40), st.sampled_from(NAUGHTY))
numbers = st.one_of(
    st.integers(),
    st.sampled_from([0, -1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**100, 302, 301]),
    st.floats(),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
FIELDS = [
    "original_url",
    "url",
    "custom_code",
    "expires_in_hours",
    "expires_in_seconds",
    "expires_at",
    "title",
]
FIELDS += ["description", "metadata", "domain", "redirect_status", "reuse", "is_active"]
urls = st.one_of(
    st.sampled_from(["https://example.com/", "http://a.b", "https://exa mple.com", "https://[::1]/", "x:y"]),
    texts.map(lambda text: "https://example.com/" + text),
    texts.map(lambda text: f"https://{text}/"),
)
bodies = st.one_of(
    values,
    st.dictionaries(st.sampled_from(FIELDS), values, max_size=6),
    st.builds(
        lambda url, rest: {**rest, "original_url": url, "url": url},
        urls,
        st.dictionaries(st.sampled_from(FIELDS), values, max_size=3),
    ),
)


def encode(body: Any) -> bytes:
    """JSON with everything that Python can write: NaN, half surrogate pairs, huge numbers."""
    return json.dumps(body).encode()


def check(answer: httpx.Response) -> None:
    """The promise."""
    assert answer.status_code < 500, (
        answer.request.method,
        answer.request.url,
        answer.request.content,
        answer.text,
    )
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert answer.headers["content-type"] == "application/problem+json"
        document = answer.json()
        assert document["status"] == answer.status_code
        assert document["code"] in CODES


def check_lines(answer: httpx.Response) -> None:
    check(answer)
    for line in answer.text.split("\n"):
        if line:
            result = json.loads(line)
            assert result["status"] in (200, 201) or (result["status"] < 500 and result["code"] in CODES), (
                result
            )


@fuzz
@given(body=bodies)
def test_p10_any_json_is_no_failure(api: httpx.Client, body: Any) -> None:
    """Any value as the body of every route that takes one, and as a line of a bulk."""
    content = encode(body)
    code = make_code(api)
    check(api.post(URLS, content=content, headers=JSON))
    check(api.post("/shorten", content=content, headers=JSON))
    check(api.patch(f"{URLS}/{code}", content=content, headers=JSON))
    check_lines(api.post(f"{URLS}/bulk", content=b"[" + content + b"]", headers=JSON))
    check_lines(api.post(f"{URLS}/bulk", content=content, headers=NDJSON))


@fuzz
@given(content=st.one_of(st.binary(max_size=60), texts.map(lambda text: text.encode(errors="replace"))))
def test_p10_any_bytes_are_no_failure(api: httpx.Client, content: bytes) -> None:
    """Bodies that are no JSON at all."""
    check(api.post(URLS, content=content, headers=JSON))
    check(api.post("/shorten", content=content, headers=JSON))
    check_lines(api.post(f"{URLS}/bulk", content=content, headers=NDJSON))
    check_lines(api.post(f"{URLS}/bulk", content=content, headers=JSON))


@fuzz
@given(path=texts, key=texts, value=texts)
def test_p10_any_path_and_query_are_no_failure(api: httpx.Client, path: str, key: str, value: str) -> None:
    """Any text in every place of an address."""
    segment = quote(path.encode(errors="replace"), safe="")
    query = urlencode({key.encode(errors="replace"): value.encode(errors="replace")})
    for place in ("/", f"{URLS}/", "/stats/", "/api/v1/codes/", "/api/v1/", "/static/"):
        check(api.get(f"{place}{segment}?{query}"))
    for place in (f"{URLS}/{segment}/stats", f"{URLS}/{segment}/qr", f"/{segment}+"):
        check(api.get(place))
    check(api.delete(f"{URLS}/{segment}"))


PARAMETERS = ["search", "state", "created_from", "created_to", "sort", "cursor", "limit", "domain"]
PARAMETERS += ["format", "size", "margin", "dark", "light", "error"]
PARAMETERS += ["from", "to", "interval", "tz", "group_by", "traffic", "compare", "visitor"]


@fuzz
@given(query=st.dictionaries(st.sampled_from(PARAMETERS), st.one_of(texts, numbers.map(str)), max_size=4))
def test_p10_any_parameter_is_no_failure(api: httpx.Client, query: dict[str, str]) -> None:
    """Any text as the value of every parameter that is known."""
    encoded = urlencode({name: text.encode(errors="replace") for name, text in query.items()})
    check(api.get(f"{URLS}?{encoded}"))
    code = make_code(api)
    check(api.get(f"{URLS}/{code}?{encoded}"))
    for place in (
        f"{URLS}/{code}/qr",
        f"{URLS}/{code}/analytics",
        f"{URLS}/{code}/clicks",
        "/api/v1/analytics",
    ):
        check(api.get(f"{place}?{encoded}"))
    check(api.get(f"{URLS}/{code}/clicks/export?{encoded}"))
    check(api.get(f"/api/v1/clicks/live?code=nothere&{encoded}"))
    check(api.delete(f"/api/v1/clicks?{encoded}"))


NAMES = [
    "accept",
    "authorization",
    "x-api-key",
    "idempotency-key",
    "content-type",
    "accept-language",
    "range",
]
NAMES += ["user-agent", "referer", "x-forwarded-for", "cookie", "sec-purpose", "if-none-match", "origin"]


@fuzz
@given(
    headers=st.dictionaries(
        st.sampled_from(NAMES),
        # RFC 9110, section 5.5: a field value holds no control characters; those end the connection.
        st.text(st.characters(min_codepoint=32, max_codepoint=255, exclude_characters="\x7f"), max_size=30),
        max_size=3,
    )
)
def test_p10_any_header_is_no_failure(api: httpx.Client, headers: dict[str, str]) -> None:
    """Any bytes that a header may hold."""
    raw = {name: value.strip().encode("latin-1") for name, value in headers.items()}
    for answer in (
        api.post(URLS, content=b'{"original_url":"https://a.com"}', headers=JSON | raw),  # type: ignore[arg-type]
        api.get(URLS, params={"limit": 1}, headers=raw),  # type: ignore[arg-type]
        api.get("/unknown0", headers=raw),  # type: ignore[arg-type]
    ):
        if answer.headers.get("content-type", "").startswith("text/html"):
            assert answer.status_code < 500
        else:
            check(answer)


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf{"original_url":"https://a.com"}',
        '{"original_url":"https://a.com"}'.encode("utf-16"),
        b'{"original_url":"https://a.com","original_url":7}',
        b'{"original_url":7,"original_url":"https://a.com"}',
        b'{"original_url":"https://a.com","title":"a","title":"b"}',
        b'{"original_url":"https://a.com","metadata":{"a":1,"a":2}}',
        b'{"original_url":"https://a.com"}{"original_url":"https://a.com"}',
        b'{"original_url":"https://a.com","metadata":' + b'{"a":' * 100 + b"1" + b"}" * 100 + b"}",
        b'{"original_url":"https://a.com","metadata":{"a":' + b"[" * 100_000,
        b"[" * 100_000,
        b'{"original_url":"https://a.com","metadata":{"a":1e400,"b":-1e400}}',
        b'{"original_url":"https://a.com","metadata":{"a":' + b"9" * 4_000 + b"}}",
        b'{"original_url":"https://a.com","metadata":{"a":' + b"9" * 9_000 + b"}}",
        b'{"original_url":"https://a.com","metadata":{"a":1e-999999999}}',
        b'{"original_url":"https://a.com","expires_in_seconds":' + b"9" * 400 + b"}",
        b'{"original_url":"https://a.com","expires_in_hours":1e3}',
        b'{"original_url":"https://a.com","expires_at":"+275760-09-13T00:00:00Z"}',
        b'{"original_url":"https://a.com","expires_at":"2099-02-30T25:61:61Z"}',
        b'{"original_url":"https://a.com","expires_at":"2099-01-01T00:00:00+99:99"}',
        b'{"original_url":"https://a.com","redirect_status":99999999999999999999}',
        b'{"original_url":"\xf4\x90\x80\x80"}',
        b'{"\\u0000":1,"original_url":"https://a.com"}',
        b"\x00" * 1000,
        b'"' + b"a" * 200_000,
        b"null",
        b"NaN",
    ],
)
def test_p10_known_traps_are_no_failure(api: httpx.Client, content: bytes) -> None:
    """Byte order marks, other encodings, double keys, depth, numbers of any size, dates that are none."""
    check(api.post(URLS, content=content, headers=JSON))
    check(api.post("/shorten", content=content, headers=JSON))
    check(api.patch(f"{URLS}/{make_code(api)}", content=content, headers=JSON))
    check_lines(api.post(f"{URLS}/bulk", content=content, headers=NDJSON))
    check_lines(api.post(f"{URLS}/bulk", content=b"[" + content + b"]", headers=JSON))


def test_p10_cut_json_is_no_failure(api: httpx.Client) -> None:
    """A sound body cut off after each of its bytes, or with one byte changed."""
    whole = json.dumps(
        {"original_url": "https://a.com/ü", "title": "\U0001f600", "metadata": {"a": [1, None]}}
    ).encode()
    chance = random.Random(2)
    for end in range(len(whole)):
        check(api.post(URLS, content=whole[:end], headers=JSON))
        changed = bytearray(whole)
        changed[end] = chance.randrange(256)
        check(api.post(URLS, content=bytes(changed), headers=JSON))


@pytest.mark.parametrize(
    "field", ["original_url", "title", "description", "custom_code", "domain", "expires_at"]
)
def test_p10_naughty_strings_in_every_field(api: httpx.Client, field: str) -> None:
    """Each is stored as it is, or refused with a reason."""
    if len(NAUGHTY) < 10:
        pytest.skip(f"{DATA} is missing")
    lines = [{"original_url": "https://example.com/", field: text} for text in NAUGHTY]
    answer = api.post(f"{URLS}/bulk", content="\n".join(map(json.dumps, lines)), headers=NDJSON)
    check_lines(answer)
    assert answer.text.count("\n") == len(lines)


def test_p10_naughty_strings_in_every_path(api: httpx.Client) -> None:
    """As a code, as a search, as an Idempotency-Key."""
    if len(NAUGHTY) < 10:
        pytest.skip(f"{DATA} is missing")
    # A search looks at every link it may find: here at those of this test.
    start = make(api, title="Naughty")["created_at"]
    for text in NAUGHTY:
        segment = quote(text, safe="")
        for place in ("/", f"{URLS}/", "/stats/", "/api/v1/codes/"):
            check(api.get(f"{place}{segment}"))
        check(api.get(URLS, params={"search": text[:200], "created_from": start}))


@pytest.mark.parametrize(
    "request_lines",
    [
        b"Content-Length: 5\r\n\r\n{}",
        b"Content-Length: 1\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n{}",
        b"Content-Length: two\r\n\r\n{}",
        b"Content-Length: 99999999999999999999999\r\n\r\n{}",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}",
        b"Transfer-Encoding: gzip\r\n\r\n{}",
        b"\r\n{}",
        b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
        b"Expect: something-else\r\nContent-Length: 2\r\n\r\n{}",
        b"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_p10_wrong_lengths_are_no_failure(server: LaconicServer, request_lines: bytes) -> None:
    """A body shorter or longer than announced, or announced by nonsense: a refusal or an end, then all is well."""
    address = urlsplit(server.base_url)
    for path in (URLS, f"{URLS}/bulk"):
        with socket.create_connection((address.hostname, address.port or 80)) as connection:
            connection.settimeout(PATIENCE_SECONDS)
            head = f"POST {path} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
            connection.sendall(head.encode() + request_lines)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda connection=connection: connection.recv(65536), b""))  # type: ignore[misc]
        for status in [line.split()[1] for line in answer.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]:
            assert int(status) < 500, answer
    with server.client() as client:
        assert client.get("/ready").status_code == 200
