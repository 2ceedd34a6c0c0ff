"""Editing, disabling and deleting links: PATCH and DELETE /api/v1/urls/{code}."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.flows.server import LaconicServer
from tests.flows.talk import JSON, URLS, fields_of, make, make_code, problem, read, target


@pytest.mark.parametrize(
    "change",
    [
        {"title": "New title"},
        {"title": None},
        {"description": "New text"},
        {"metadata": {"b": [2]}},
        {"metadata": None},
        {"expires_at": "2099-06-01T12:00:00Z"},
        {"redirect_status": 308},
        {"original_url": "https://example.com/new", "title": "Both at once"},
        {},
    ],
)
def test_edit_changes_what_is_named_and_nothing_else(api: httpx.Client, change: dict[str, Any]) -> None:
    """200 with the whole link as it is now; null takes a value away."""
    before = make(api, title="Old", description="Old text", metadata={"a": 1}, expires_in_hours=1)
    old = read(api, before["short_code"])
    answer = api.patch(f"{URLS}/{before['short_code']}", json=change)
    assert answer.status_code == 200
    expected = old | change | {"updated_at": answer.json()["updated_at"]}
    expected["metadata"] = expected["metadata"] or {}
    assert answer.json() == expected == read(api, before["short_code"])
    assert (answer.json()["updated_at"] > old["updated_at"]) == bool(change)


def test_edited_target_holds_from_the_answer_on(api: httpx.Client) -> None:
    """The redirect after an edit leads to the new target, from memory too."""
    code = make_code(api, "https://example.com/0")
    for number in range(1, 30):
        api.patch(f"{URLS}/{code}", json={"original_url": f"https://example.com/{number}"})
        assert [target(api, code) for _ in range(2)] == [f"https://example.com/{number}"] * 2


def test_disabled_link_answers_410_until_it_is_enabled(api: httpx.Client) -> None:
    """Its owner sees it all the while."""
    code = make_code(api, "https://example.com/d")
    assert target(api, code) == "https://example.com/d"
    assert api.patch(f"{URLS}/{code}", json={"is_active": False}).json()["is_active"] is False
    problem(api.get(f"/{code}"), 410, "link_disabled")
    assert read(api, code)["is_active"] is False
    assert api.patch(f"{URLS}/{code}", json={"is_active": True}).json()["is_active"] is True
    assert target(api, code) == "https://example.com/d"


def test_deleted_link_is_gone_for_good(api: httpx.Client) -> None:
    """204, then 410 for visitors and owner, and nobody gets the code again."""
    code = make_code(api, "https://example.com/x", custom_code="Gone1")
    assert target(api, code) == "https://example.com/x"
    answer = api.delete(f"{URLS}/{code}")
    assert (answer.status_code, answer.content) == (204, b"")
    problem(api.get(f"/{code}"), 410, "link_deleted")
    for path in (f"{URLS}/{code}", f"{URLS}/{code}/stats", f"/stats/{code}"):
        problem(api.get(path), 410, "link_deleted")
    problem(api.patch(f"{URLS}/{code}", json={"title": "x"}), 410, "link_deleted")
    problem(api.delete(f"{URLS}/{code}"), 410, "link_deleted")
    assert api.get(f"/api/v1/codes/{code}").json() == {"available": False, "reason": "taken"}
    problem(api.post(URLS, json={"original_url": "https://a.com", "custom_code": code}), 409, "code_taken")


def test_unknown_link_is_a_404(api: httpx.Client) -> None:
    """For every verb that names one."""
    problem(api.get(f"{URLS}/nothere"), 404, "link_unknown")
    problem(api.get(f"{URLS}/nothere/stats"), 404, "link_unknown")
    problem(api.get("/stats/nothere"), 404, "link_unknown")
    problem(api.patch(f"{URLS}/nothere", json={}), 404, "link_unknown")
    problem(api.delete(f"{URLS}/nothere"), 404, "link_unknown")


def test_domain_picks_the_link(api: httpx.Client) -> None:
    """A domain that is not ours has no links."""
    code = make_code(api)
    assert api.get(f"{URLS}/{code}", params={"domain": "localhost"}).status_code == 200
    problem(api.get(f"{URLS}/{code}", params={"domain": "other.example"}), 404, "link_unknown")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"original_url": None}, "original_url"),
        ({"redirect_status": None}, "redirect_status"),
        ({"redirect_status": 303}, "redirect_status"),
        ({"title": "x" * 501}, "title"),
        ({"title": "a\0b"}, "title"),
        ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"short_code": "other"}, "short_code"),
        ({"click_count": 0}, "click_count"),
        ({"is_active": "no"}, "is_active"),
    ],
)
def test_edit_that_is_not_allowed_changes_nothing(
    api: httpx.Client, change: dict[str, Any], field: str
) -> None:
    """422 names the field, and what else stood in the body is not done either."""
    code = make_code(api, title="Old")
    before = read(api, code)
    answer = api.patch(f"{URLS}/{code}", json={"description": "new", **change})
    assert fields_of(problem(answer, 422, "invalid_request")) == [field]
    assert read(api, code) == before


def test_edit_judges_the_target_as_create_does(api: httpx.Client) -> None:
    """400 with the reason, 413 for one that is too long, 400 for no JSON, 415 for another type."""
    code = make_code(api)
    path = f"{URLS}/{code}"
    refused = problem(api.patch(path, json={"original_url": "http://10.0.0.1/"}), 400, "url_refused")
    assert refused["reason"] == "private_address"
    problem(api.patch(path, json={"original_url": "https://a.com/" + "x" * 2048}), 413, "url_too_long")
    problem(api.patch(path, content=b"{", headers=JSON), 400, "invalid_json")
    problem(api.patch(path, content=b"{}"), 415, "unsupported_media_type")
    assert target(api, code) == "https://example.com/"


def test_edited_link_no_longer_stands_for_its_old_url(api: httpx.Client) -> None:
    """Reuse of a URL never leads to a link that was pointed elsewhere, disabled or deleted."""
    url = "https://example.com/stands-for"
    seen = set()
    for change in ({"original_url": "https://example.com/elsewhere"}, {"is_active": False}, None):
        answer = api.post(URLS, json={"original_url": url, "reuse": True})
        assert answer.status_code == 201
        code = answer.json()["short_code"]
        seen.add(code)
        if change is None:
            api.delete(f"{URLS}/{code}")
        else:
            api.patch(f"{URLS}/{code}", json=change)
    assert api.post(URLS, json={"original_url": url, "reuse": True}).status_code == 201
    assert len(seen) == 3


def test_p4_worker_that_answered_never_uses_the_old_target(server: LaconicServer, api: httpx.Client) -> None:
    """Two hundred edits of a link that is visited all the while: whoever asks after an answer gets the new target."""
    code = make_code(api, "https://example.com/0")
    newest = 0
    visits = 0
    done = threading.Event()

    def visit() -> None:
        nonlocal visits
        with server.client() as visitor:
            while not done.is_set():
                least = newest
                seen = int(target(visitor, code).rpartition("/")[2])
                assert seen >= least, "an old target after the answer"
                visits += 1

    with ThreadPoolExecutor(3) as pool:
        visitors = [pool.submit(visit) for _ in range(3)]
        try:
            for number in range(1, 201):
                changed = api.patch(f"{URLS}/{code}", json={"original_url": f"https://example.com/{number}"})
                assert changed.status_code == 200
                newest = number
                assert target(api, code) == f"https://example.com/{number}"
        finally:
            done.set()
        for visitor in visitors:
            visitor.result()
    assert visits > 0
    api.delete(f"{URLS}/{code}")
    problem(api.get(f"/{code}"), 410, "link_deleted")
