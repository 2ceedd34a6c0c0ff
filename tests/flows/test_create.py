"""Making links: POST /api/v1/urls and GET /api/v1/codes/{code}."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.flows.talk import JSON, URLS, fields_of, make, make_code, problem, read, target

CREATED = {
    *("id", "short_code", "short_url", "original_url", "created_at", "expires_at", "title", "redirect_status")
}
SHOWN = {
    *("id", "short_code", "short_url", "original_url", "title", "description", "metadata", "created_at"),
    *("updated_at", "expires_at", "is_active", "click_count", "redirect_status"),
}


def moment(text: str) -> datetime:
    """RFC 3339 in UTC, with or without a fraction."""
    assert text.endswith("Z")
    return datetime.fromisoformat(text)


def test_answers_exactly_the_named_fields(api: httpx.Client) -> None:
    """A create answers 201 with eight fields, a get 200 with thirteen; both tell the same."""
    made = make(api, "https://example.com/page?a=1#top")
    assert made.keys() == CREATED
    assert made["original_url"] == "https://example.com/page?a=1#top"
    assert made["short_url"] == str(api.base_url.join(made["short_code"]))
    assert (made["title"], made["expires_at"], made["redirect_status"]) == (None, None, 302)
    shown = read(api, made["short_code"])
    assert shown.keys() == SHOWN
    assert {name: shown[name] for name in CREATED} == made
    assert shown["updated_at"] == shown["created_at"]
    assert (shown["is_active"], shown["click_count"], shown["metadata"]) == (True, 0, {})
    assert moment(made["created_at"]) <= datetime.now(UTC)


def test_generated_code_has_seven_letters_or_digits(api: httpx.Client) -> None:
    """The same URL twice makes two links, each with its own code."""
    first, second = make_code(api), make_code(api)
    assert first != second
    assert all(len(code) == 7 and code.isascii() and code.isalnum() for code in (first, second))


@pytest.mark.parametrize(
    "fields",
    [
        {"title": "Spring sale"},
        {"description": "Two lines\nof text"},
        {"metadata": {"campaign": {"id": 7, "tags": ["a", None, 1.5, True]}}},
        {"redirect_status": 301},
        {"title": None, "description": None, "metadata": None, "expires_at": None, "custom_code": None},
        {"title": "x" * 500, "description": "y" * 5000},
        {"domain": "localhost"},
        {"reuse": False},
    ],
)
def test_keeps_every_optional_field(api: httpx.Client, fields: dict[str, Any]) -> None:
    """What was given comes back; null means that nothing was given."""
    shown = read(api, make_code(api, **fields))
    for name, value in fields.items():
        if name in SHOWN:
            assert shown[name] == (value if value is not None or name != "metadata" else {})


# Which URLs are refused and why is the business of tests/links/test_targets.py.
@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("example.com", "no_scheme"),
        ("ftp://example.com/", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("http://", "no_host"),
        ("https://user:pw@example.com/", "credentials"),
        ("http://127.0.0.1/", "private_address"),
        ("http://0x7f.1/", "private_address"),
        ("http://printer.local/", "local_name"),
        ("http://localhost:8000/abc", "own_host"),
        ("https://example.com/\0", "control_character"),
    ],
)
def test_refuses_a_url_with_its_reason(api: httpx.Client, url: str, reason: str) -> None:
    """400, a stable code, and a word that says why."""
    document = problem(api.post(URLS, json={"original_url": url}), 400, "url_refused")
    assert document["reason"] == reason


def test_takes_2048_characters_and_no_more(api: httpx.Client) -> None:
    """Characters as given are what counts: 2,048 are stored, one more answers 413."""
    longest = "https://example.com/".ljust(2048, "x")
    assert read(api, make_code(api, longest))["original_url"] == longest
    wide = "https://example.com/".ljust(2048, "ü")
    assert read(api, make_code(api, wide))["original_url"] == wide
    problem(api.post(URLS, json={"original_url": longest + "x"}), 413, "url_too_long")
    problem(api.post("/shorten", json={"url": longest + "x"}), 413, "url_too_long")


def test_strips_white_space_around_the_url(api: httpx.Client) -> None:
    """original_url is the input without outer white space; what stands inside stays."""
    assert make(api, " \n https://example.com/a b \t")["original_url"] == "https://example.com/a b"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ["original_url"]),
        ({"original_url": 7}, ["original_url"]),
        ({"original_url": None}, ["original_url"]),
        ({"original_url": "https://a.com", "unknown": 1}, ["unknown"]),
        ({"original_url": "https://a.com", "title": 7}, ["title"]),
        ({"original_url": "https://a.com", "title": "x" * 501}, ["title"]),
        ({"original_url": "https://a.com", "description": "x" * 5001}, ["description"]),
        ({"original_url": "https://a.com", "metadata": [1]}, ["metadata"]),
        ({"original_url": "https://a.com", "metadata": {"a": "x" * 20_000}}, ["metadata"]),
        ({"original_url": "https://a.com", "redirect_status": 200}, ["redirect_status"]),
        ({"original_url": "https://a.com", "redirect_status": "301"}, ["redirect_status"]),
        ({"original_url": "https://a.com", "domain": "other.example"}, ["domain"]),
        ({"original_url": "https://a.com", "reuse": "yes"}, ["reuse"]),
        ({"original_url": "https://a.com", "expires_in_hours": 0}, ["expires_in_hours"]),
        ({"original_url": "https://a.com", "expires_in_hours": 8761}, ["expires_in_hours"]),
        ({"original_url": "https://a.com", "expires_in_hours": 1.5}, ["expires_in_hours"]),
        ({"original_url": "https://a.com", "expires_in_hours": True}, ["expires_in_hours"]),
        ({"original_url": "https://a.com", "expires_in_seconds": 0}, ["expires_in_seconds"]),
        ({"original_url": "https://a.com", "expires_in_seconds": -5}, ["expires_in_seconds"]),
        ({"original_url": "https://a.com", "expires_at": "tomorrow"}, ["expires_at"]),
        ({"original_url": "https://a.com", "expires_at": "2020-01-01T00:00:00Z"}, ["expires_at"]),
        ({"original_url": "https://a.com", "expires_at": "2099-01-01T00:00:00"}, ["expires_at"]),
        (
            {"original_url": "https://a.com", "expires_in_hours": 1, "expires_in_seconds": 1},
            ["expires_in_seconds"],
        ),
        (
            {"original_url": "https://a.com", "expires_in_hours": 1, "expires_at": "2099-01-01T00:00:00Z"},
            ["expires_at"],
        ),
    ],
)
def test_names_the_field_that_is_wrong(api: httpx.Client, body: dict[str, Any], fields: list[str]) -> None:
    """422 with `errors` for each field."""
    assert fields_of(problem(api.post(URLS, json=body), 422, "invalid_request")) == fields


@pytest.mark.parametrize("body", [b"", b"{", b"nonsense", b'{"original_url": }', b"\xff\xfe"])
def test_body_that_is_no_json_is_a_400(api: httpx.Client, body: bytes) -> None:
    """What cannot be read has no fields to complain about."""
    problem(api.post(URLS, content=body, headers=JSON), 400, "invalid_json")


def test_body_of_another_type_is_a_415(api: httpx.Client) -> None:
    """Only application/json is read, so that no page elsewhere can drive open mode with a form."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        answer = api.post(URLS, content=b'{"original_url":"https://a.com"}', headers={"content-type": kind})
        problem(answer, 415, "unsupported_media_type")
    problem(api.post(URLS, content=b'{"original_url":"https://a.com"}'), 415, "unsupported_media_type")


def test_body_that_is_too_large_is_a_413(api: httpx.Client) -> None:
    """A body is bounded before it is understood."""
    answer = api.post(URLS, json={"original_url": "https://a.com", "description": "x" * 300_000})
    problem(answer, 413, "body_too_large")


@pytest.mark.parametrize(
    ("name", "value", "seconds"),
    [
        ("expires_in_hours", 1, 3600),
        ("expires_in_hours", 8760, 31_536_000),
        ("expires_in_seconds", 90, 90),
        ("expires_in_seconds", 86_400_000, 86_400_000),
    ],
)
def test_expires_after_a_time(api: httpx.Client, name: str, value: int, seconds: int) -> None:
    """Hours and seconds count from the moment of creation, to the microsecond."""
    fields: dict[str, Any] = {name: value}
    made = make(api, **fields)
    assert moment(made["expires_at"]) - moment(made["created_at"]) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("2099-12-31T23:59:59Z", "2099-12-31T23:59:59Z"),
        ("2099-12-31T23:59:59.250Z", "2099-12-31T23:59:59.250000Z"),
        ("2099-12-31T23:59:59.123456Z", "2099-12-31T23:59:59.123456Z"),
        ("2099-12-31T23:59:59+02:00", "2099-12-31T21:59:59Z"),
        ("2099-12-31t23:59:59-05:30", "2100-01-01T05:29:59Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_expires_at_a_moment_in_any_zone(api: httpx.Client, given: str, told: str) -> None:
    """Both forms of RFC 3339, Z and an offset, with and without a fraction; what is told is UTC."""
    made = make(api, expires_at=given)
    assert made["expires_at"] == told
    assert read(api, made["short_code"])["expires_at"] == told


def test_reuse_gives_the_link_that_is_there(api: httpx.Client) -> None:
    """200 and `existing` for the same normalised URL; visitors go where the first one said."""
    first = api.post(
        URLS, json={"original_url": "https://Reuse.example:443/a/?b=2&a=1&utm_source=x", "reuse": True}
    )
    assert first.status_code == 201
    assert "existing" not in first.json()
    again = api.post(URLS, json={"original_url": "https://reuse.example/a?a=1&b=2", "reuse": True})
    assert again.status_code == 200
    assert again.json() == first.json() | {"existing": True}
    assert target(api, again.json()["short_code"]) == "https://reuse.example/a/?b=2&a=1&utm_source=x"
    assert make_code(api, "https://reuse.example/a?a=1&b=2") != first.json()["short_code"]


@pytest.mark.parametrize("code", ["fall", "Sale2026", "x1Y2", "12345678"])
def test_custom_code_is_given_as_asked(api: httpx.Client, code: str) -> None:
    """Four to eight letters or digits, kept in their letter case; then it is taken for good."""
    assert api.get(f"/api/v1/codes/{code}").json() == {"available": True}
    made = make(api, "https://example.com/custom", custom_code=code)
    assert made["short_code"] == code
    assert target(api, code) == "https://example.com/custom"
    assert api.get(f"/api/v1/codes/{code}").json() == {"available": False, "reason": "taken"}
    problem(api.post(URLS, json={"original_url": "https://a.com", "custom_code": code}), 409, "code_taken")


def test_codes_differ_by_letter_case(api: httpx.Client) -> None:
    """A code is its bytes: `Case` and `cASE` are two links."""
    make(api, "https://example.com/1", custom_code="CaseA1")
    make(api, "https://example.com/2", custom_code="cASEa1")
    assert target(api, "CaseA1") == "https://example.com/1"
    assert target(api, "cASEa1") == "https://example.com/2"


@pytest.mark.parametrize(
    "code", ["", "abc", "abcdefghi", "ab-cd", "ab_cd", "ab cd", "abcd\n", "äbcd", "abc\0d", "a/bcd", "ab.cd"]
)
def test_custom_code_of_another_shape_is_refused(api: httpx.Client, code: str) -> None:
    """422 by the rule of the settings, for the create and for the question before it."""
    document = problem(
        api.post(URLS, json={"original_url": "https://a.com", "custom_code": code}), 422, "code_refused"
    )
    assert (document["reason"], fields_of(document)) == ("shape", ["custom_code"])
    if code and "/" not in code:
        answer = api.get(f"/api/v1/codes/{quote(code)}")
        assert (answer.status_code, answer.json()) == (200, {"available": False, "reason": "shape"})


@pytest.mark.parametrize(
    "code", ["health", "HEALTH", "Stats", "sHoRtEn", "admin", "Login", "metrics", "static"]
)
def test_reserved_word_is_refused_in_any_letter_case(api: httpx.Client, code: str) -> None:
    """Nobody may make a link that looks like a page of the site."""
    document = problem(
        api.post(URLS, json={"original_url": "https://a.com", "custom_code": code}), 422, "code_refused"
    )
    assert document["reason"] == "reserved"
    assert api.get(f"/api/v1/codes/{code}").json() == {"available": False, "reason": "reserved"}


def test_code_asked_for_before_it_exists_works_once_it_does(api: httpx.Client) -> None:
    """A remembered "unknown" never outlives the link's creation."""
    assert api.get("/Later1").status_code == 404
    make(api, "https://example.com/later", custom_code="Later1")
    assert target(api, "Later1") == "https://example.com/later"
