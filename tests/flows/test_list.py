"""Listing links: GET /api/v1/urls."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.flows.talk import URLS, fields_of, make_code, problem, read


def walk(api: httpx.Client, **query: Any) -> Iterator[dict[str, Any]]:
    """Every link that a list gives, page by page."""
    while True:
        answer = api.get(URLS, params=query)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        assert page.keys() == {"items", "next_cursor"}
        assert len(page["items"]) <= query.get("limit", 50)
        yield from page["items"]
        if page["next_cursor"] is None:
            return
        query["cursor"] = page["next_cursor"]


def codes_of(items: Iterator[dict[str, Any]]) -> list[str]:
    return [item["short_code"] for item in items]


@pytest.mark.parametrize(
    "sort", ["-created_at", "created_at", "-updated_at", "updated_at", "-clicks", "clicks"]
)
def test_cursor_meets_every_link_exactly_once(api: httpx.Client, sort: str) -> None:
    """Also while links are made between the pages: those that were there before are neither missed nor repeated."""
    word = f"walk{sort.replace('-', 'down')}"
    before = {make_code(api, title=f"{word} {number}") for number in range(7)}
    seen: list[str] = []
    for item in walk(api, search=word, sort=sort, limit=2):
        seen.append(item["short_code"])
        if len(seen) % 2:
            make_code(api, title=f"{word} later")
        assert len(seen) < 100, "the walk does not end"
        if before <= set(seen) and sort.startswith("-"):
            break
        if len(seen) > 30:
            break
    assert before <= set(seen)
    assert len(seen) == len(set(seen))


def test_shows_links_as_get_does(api: httpx.Client) -> None:
    """Newest first, each with all its fields; a deleted one is not listed."""
    codes = [make_code(api, title=f"Shown {number}", metadata={"n": number}) for number in range(3)]
    assert list(walk(api, search="Shown")) == [read(api, code) for code in reversed(codes)]
    api.delete(f"{URLS}/{codes[1]}")
    assert codes_of(walk(api, search="Shown")) == [codes[2], codes[0]]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("Zebrafink", True),
        ("zebra", True),
        ("singt laut", True),
        ("laut ZEBRA", True),
        ("voliere.example/vogel", True),
        ("VOLIERE.EXAMPLE", True),
        ("vogel?id=100%", True),
        ("Zwitscher", True),
        ("größe", True),
        ("finkzebra", False),
        ("vogel_id", False),
        ("vogel%id", False),
        ("zebra nachtigall", False),
        ("'; DROP TABLE short_link; --", False),
        ("\\", False),
        ('" OR 1=1 --', False),
    ],
)
def test_search_finds_words_codes_and_parts_of_urls(api: httpx.Client, search: str, found: bool) -> None:
    """Beginnings of words in title and description, any part of the URL, the whole code; the text means itself."""
    taken = api.get("/api/v1/codes/Zwitsch1").json()["available"] is False
    if not taken:
        make_code(
            api,
            "https://voliere.example/vogel?id=100%",
            title="Zebrafink singt laut",
            description="Zwitschert in voller Größe",
            custom_code="Zwitsch1",
        )
    assert ("Zwitsch1" in codes_of(walk(api, search=search))) is found
    assert codes_of(walk(api, search="Zwitsch1")) == ["Zwitsch1"]


def test_filters_by_state(api: httpx.Client) -> None:
    """active, disabled and all, each with what belongs to it."""
    live = make_code(api, title="Filtered one")
    disabled = make_code(api, title="Filtered two")
    api.patch(f"{URLS}/{disabled}", json={"is_active": False})
    assert codes_of(walk(api, search="Filtered", state="active")) == [live]
    assert codes_of(walk(api, search="Filtered", state="disabled")) == [disabled]
    assert codes_of(walk(api, search="Filtered", state="expired")) == []
    assert codes_of(walk(api, search="Filtered", state="all")) == [disabled, live]


def test_filters_by_time_of_creation(api: httpx.Client) -> None:
    """From a moment on, and before a moment."""
    first, second, third = (make_code(api, title="Timed") for _ in range(3))
    from_second = read(api, second)["created_at"]
    assert codes_of(walk(api, search="Timed", created_from=from_second)) == [third, second]
    assert codes_of(walk(api, search="Timed", created_to=from_second)) == [first]
    assert codes_of(walk(api, search="Timed", created_from=from_second, created_to=from_second)) == []


def made_up(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "nonsense",
        "%",
        "ü",
        "\0",
        "bnVsbA",
        made_up("-created_at", 1),
        made_up("-created_at", "1", "2"),
        made_up("-created_at", 1.5, 2),
        made_up("-created_at", True, 2),
        made_up("clicks", 1, 2),
        made_up("-created_at", 1, 1 << 63),
        made_up("-created_at", 1, -1),
        made_up("-created_at", 253_402_300_800_000_000, 2),
        made_up("-created_at", (1 << 63) - 1, 2),
        made_up("-created_at", 1 - (1 << 63), 2),
        made_up("-created_at", 1, 2, 3),
        made_up("1; DROP TABLE short_link", 1, 2),
        made_up("-created_at", [[[]]], {}),
    ],
)
def test_cursor_of_ones_own_making_is_refused(api: httpx.Client, cursor: str) -> None:
    """422 for whatever this list did not give out."""
    answer = api.get(URLS, params={"cursor": cursor})
    assert fields_of(problem(answer, 422, "invalid_request")) == ["cursor"]


@pytest.mark.parametrize("sort", ["-created_at", "-clicks", "updated_at"])
def test_cursor_at_either_end_is_no_failure(api: httpx.Client, sort: str) -> None:
    """The first and the last moment that could be are places in the list."""
    for value, link_id in ((0, 0), (253_402_300_799_999_999, (1 << 63) - 1)):
        answer = api.get(URLS, params={"cursor": made_up(sort, value, link_id), "sort": sort, "limit": 1})
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"sort": "title"}, "sort"),
        ({"state": "deleted"}, "state"),
        ({"created_from": "yesterday"}, "created_from"),
        ({"created_to": "2026-01-01T00:00:00"}, "created_to"),
        ({"search": "x" * 201}, "search"),
        ({"search": "a\0b"}, "search"),
    ],
)
def test_names_what_is_wrong_with_a_query(api: httpx.Client, query: dict[str, Any], field: str) -> None:
    """422 with the parameter's name."""
    assert fields_of(problem(api.get(URLS, params=query), 422, "invalid_request")) == [field]


def test_takes_a_thousand_at_once(api: httpx.Client) -> None:
    """The largest page."""
    lines = "\n".join(json.dumps({"original_url": f"https://large.example/{n}"}) for n in range(1001))
    api.post(f"{URLS}/bulk", content=lines.encode(), headers={"content-type": "application/x-ndjson"})
    page = api.get(URLS, params={"search": "large.example", "limit": 1000}).json()
    assert len(page["items"]) == 1000
    rest = api.get(
        URLS, params={"search": "large.example", "limit": 1000, "cursor": page["next_cursor"]}
    ).json()
    assert len(rest["items"]) == 1
    assert rest["next_cursor"] is None
