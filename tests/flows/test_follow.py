"""Following links: GET and HEAD /{code}."""

from datetime import datetime

import httpx
import pytest

from tests.flows.server import eventually
from tests.flows.talk import URLS, make, make_code, problem, read, target

NO_STORE = {
    "cache-control": "private, no-cache, no-store, must-revalidate",
    "pragma": "no-cache",
    "expires": "0",
}


@pytest.mark.parametrize("status", [302, 307])
def test_temporary_redirect_is_kept_by_nobody(api: httpx.Client, status: int) -> None:
    """302 and 307 carry the three headers that make every visit come back here, the first time and from the cache."""
    code = make_code(api, "https://example.com/t", redirect_status=status)
    for _ in range(3):
        answer = api.get(f"/{code}")
        assert (answer.status_code, answer.content) == (status, b"")
        assert answer.headers["location"] == "https://example.com/t"
        assert {name: answer.headers[name] for name in NO_STORE} == NO_STORE


@pytest.mark.parametrize("status", [301, 308])
def test_permanent_redirect_may_be_kept_for_a_while(api: httpx.Client, status: int) -> None:
    """301 and 308 have a max-age, and no header that forbids what it allows."""
    code = make_code(api, "https://example.com/p", redirect_status=status)
    for _ in range(3):
        answer = api.get(f"/{code}")
        assert (answer.status_code, answer.headers["location"]) == (status, "https://example.com/p")
        assert answer.headers["cache-control"] == "private, max-age=86400"
        assert "pragma" not in answer.headers


def test_browser_keeps_no_redirect_past_its_expiry(api: httpx.Client) -> None:
    """The max-age of a permanent redirect ends before the link does."""
    code = make_code(api, redirect_status=301, expires_in_seconds=100)
    for _ in range(3):
        name, _, seconds = api.get(f"/{code}").headers["cache-control"].partition("=")
        assert name == "private, max-age"
        assert 0 <= int(seconds) <= 100


def test_head_answers_as_get_does(api: httpx.Client) -> None:
    """The same headers without a body, on a miss and on a hit."""
    code = make_code(api, "https://example.com/h")
    miss, hit, get = api.head(f"/{code}"), api.head(f"/{code}"), api.get(f"/{code}")
    for answer in (miss, hit):
        assert (answer.status_code, answer.content) == (302, b"")
        assert answer.headers["location"] == get.headers["location"] == "https://example.com/h"


@pytest.mark.parametrize(
    ("given", "location"),
    [
        # URL characters only, and an empty path or the letter case apart from the serialisation: byte for byte.
        ("http://a.b", "http://a.b"),
        ("HTTPS://Example.COM/Path", "HTTPS://Example.COM/Path"),
        ("https://example.com?q=1", "https://example.com?q=1"),
        ("https://example.com/a%2fb?x=%C3%BC#frag", "https://example.com/a%2fb?x=%C3%BC#frag"),
        ("https://example.com/it's(ok);v=1,2", "https://example.com/it's(ok);v=1,2"),
        # Otherwise the serialisation by the WHATWG rules.
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com/a/../b", "https://example.com/b"),
        ("https://example.com/two words", "https://example.com/two%20words"),
        ("https://example.com/grün?q=ü#ö", "https://example.com/gr%C3%BCn?q=%C3%BC#%C3%B6"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
        ("https://ドメイン.example/道", "https://xn--eckwd4c7c.example/%E9%81%93"),
        ("https:\\\\example.com\\a", "https://example.com/a"),
        ('https://example.com/"<>', "https://example.com/%22%3C%3E"),
        ("https://example.com/\r\nSet-Cookie: a=1", "https://example.com/Set-Cookie:%20a=1"),
    ],
)
def test_location_says_where_it_was_meant_to_lead(api: httpx.Client, given: str, location: str) -> None:
    """Byte for byte where that is a URL, its serialisation otherwise; original_url stays what was given."""
    made = make(api, given)
    assert made["original_url"] == given
    answers = [api.get(f"/{made['short_code']}") for _ in range(2)]
    assert [answer.headers["location"] for answer in answers] == [location, location]
    assert read(api, made["short_code"])["original_url"] == given


def test_unknown_code_is_a_404(api: httpx.Client) -> None:
    """For programs a problem document, for browsers a page; neither is kept."""
    answer = api.get("/unknown0")
    problem(answer, 404, "link_unknown")
    assert answer.headers["cache-control"] == "no-store"
    page = api.get("/unknown0", headers={"accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "path", ["/no.code", "/abc123).", "/a b", "/%C3%BC", "/" + "a" * 65, "/abc~", "/%00"]
)
def test_what_cannot_be_a_code_is_a_400(api: httpx.Client, path: str) -> None:
    """Refused before any look-up, here and for the statistics."""
    problem(api.get(path), 400, "code_malformed")
    problem(api.get(f"/stats{path}"), 400, "code_malformed")
    problem(api.get(URLS + path), 400, "code_malformed")


@pytest.mark.parametrize("path", ["/a/b", "/abc1234/", "/wp-admin/setup.php"])
def test_path_of_several_segments_is_a_404(api: httpx.Client, path: str) -> None:
    """It cannot be a code, and it is no page of ours."""
    problem(api.get(path), 404, "link_unknown")


def test_other_methods_are_refused(api: httpx.Client) -> None:
    """A link is followed with GET or HEAD; 405 says so."""
    code = make_code(api)
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        answer = api.request(method, f"/{code}")
        problem(answer, 405, "method_not_allowed")
        assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"GET", "HEAD"}


def test_p5_expired_link_never_redirects(api: httpx.Client) -> None:
    """From its expiry on a link answers 410 with the reason, hot in the cache or not; its owner still sees it."""
    visited = make(api, "https://example.com/brief", expires_in_seconds=1)
    unvisited = make_code(api, "https://example.com/brief", expires_in_seconds=1)
    code = visited["short_code"]
    until = datetime.fromisoformat(visited["expires_at"])
    answers = []

    def is_gone() -> bool:
        begun = datetime.now(until.tzinfo)
        answer = api.get(f"/{code}")
        answers.append(answer.status_code)
        assert answer.status_code == 302 or begun >= until or datetime.now(until.tzinfo) >= until
        assert answer.status_code == 410 or begun < until, "an expired link redirected"
        return answer.status_code == 410

    eventually(is_gone, "the link never expired")
    assert 302 in answers
    for gone in (code, unvisited):
        problem(api.get(f"/{gone}"), 410, "link_expired")
        assert api.head(f"/{gone}").status_code == 410
        assert "This link has expired" in api.get(f"/{gone}", headers={"accept": "text/html"}).text
        assert read(api, gone)["original_url"] == "https://example.com/brief"
        assert api.get(f"/stats/{gone}").status_code == 200
        assert api.get(f"{URLS}/{gone}/stats").status_code == 200
    problem(api.post(URLS, json={"original_url": "https://a.com", "custom_code": code}), 409, "code_taken")


def test_expired_link_lives_again_with_a_new_expiry(api: httpx.Client) -> None:
    """Its owner may give it more time; visitors are sent on at once."""
    code = make_code(api, "https://example.com/again", expires_in_seconds=1)
    eventually(lambda: api.get(f"/{code}").status_code == 410, "the link never expired")
    answer = api.patch(f"{URLS}/{code}", json={"expires_at": "2099-01-01T00:00:00Z"})
    assert answer.status_code == 200
    assert target(api, code) == "https://example.com/again"
