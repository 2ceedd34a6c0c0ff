"""The paths that need no manual: /, /shorten, /stats/{code}, /health, /openapi.json and their like."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from laconic import __version__
from tests.flows.talk import JSON, URLS, make_code, problem, target


def test_shorten_makes_a_link(api: httpx.Client) -> None:
    """201 with three fields; the short URL works."""
    answer = api.post("/shorten", json={"url": " https://example.com/simple "})
    assert answer.status_code == 201
    made = answer.json()
    assert made.keys() == {"short_code", "short_url", "original_url"}
    assert made["original_url"] == "https://example.com/simple"
    assert made["short_url"] == str(api.base_url.join(made["short_code"]))
    assert target(api, made["short_code"]) == "https://example.com/simple"


def test_shorten_reuses_when_asked(api: httpx.Client) -> None:
    """200 and the same code the second time."""
    first = api.post("/shorten", json={"url": "https://example.com/simple-again", "reuse": True})
    again = api.post("/shorten", json={"url": "https://example.com/simple-again/", "reuse": True})
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json() | {"existing": True}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": ""},
        {"url": "  "},
        {"url": None},
        {"url": 7},
        {"url": ["https://example.com"]},
        {"url": {"a": 1}},
        {"URL": "https://example.com"},
        {"url": "https://example.com", "reuse": "yes"},
        {"url": "not a url"},
        {"url": "https://example.com/\0"},
        [],
        "https://example.com",
        None,
        7,
    ],
)
def test_shorten_answers_400_whatever_is_wrong(api: httpx.Client, body: Any) -> None:
    """Never 422: the simplest of clients knows one way to fail."""
    answer = api.post("/shorten", content=json.dumps(body), headers=JSON)
    assert answer.json()["code"] in ("invalid_request", "url_refused")
    problem(answer, 400, answer.json()["code"])


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b'{"url": "https://a.com"', b'{"url": "\\ud800"}', b"url=x"]
)
def test_shorten_answers_400_to_what_is_no_json(api: httpx.Client, body: bytes) -> None:
    """Also to half of a surrogate pair and to an empty body."""
    problem(api.post("/shorten", content=body, headers=JSON), 400, "invalid_request")


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_shorten_answers_400_to_another_content_type(api: httpx.Client, kind: str) -> None:
    """A page on another site could send these without asking."""
    answer = api.post("/shorten", content=b'{"url": "https://a.com"}', headers={"content-type": kind})
    problem(answer, 400, "invalid_request")


def test_shorten_takes_json_with_a_character_set(api: httpx.Client) -> None:
    """As many clients send it, in any letter case, with fields that nobody knows."""
    kind = {"content-type": "Application/JSON; charset=utf-8"}
    body = '{"url": "https://example.com/ü", "color": "red"}'.encode()
    assert api.post("/shorten", content=body, headers=kind).status_code == 201


def test_stats_tells_four_fields(api: httpx.Client) -> None:
    """The simple form and the full one, by their names."""
    code = make_code(api, "https://example.com/counted")
    simple = api.get(f"/stats/{code}").json()
    full = api.get(f"{URLS}/{code}/stats").json()
    created_at = simple.pop("created_at")
    assert simple == {"short_code": code, "original_url": "https://example.com/counted", "click_count": 0}
    assert full == {
        "short_code": code,
        "original_url": "https://example.com/counted",
        "clicks": 0,
        "created_at": created_at,
        "last_accessed_at": None,
    }


def test_health_tells_how_it_is(api: httpx.Client) -> None:
    """200 with every named field while the database answers."""
    answer = api.get("/health")
    assert answer.status_code == 200
    document = answer.json()
    assert datetime.fromisoformat(document.pop("timestamp")) <= datetime.now(UTC)
    assert document.pop("kgs_pool_size") > 0
    assert document.pop("ingest_lag_seconds") >= 0
    assert document.pop("clicks_missed") == 0
    assert document.pop("means")
    # The first check is made soon after the start.
    assert document.pop("integrity") in ("unknown", "sound")
    assert document.pop("last_backup_at") is None
    assert document == {"status": "healthy", "version": __version__, "database": "connected", "redis": "off"}


def test_orchestrators_get_their_answers(api: httpx.Client) -> None:
    """/live and /ready answer 200 while all is well."""
    live, ready = api.get("/live").json(), api.get("/ready").json()
    assert (live["status"], ready["status"]) == ("alive", "ready")
    # Each says what it is for, and no two the same.
    meanings = {live["means"], ready["means"], api.get("/health").json()["means"]}
    assert len(meanings) == 3


def test_root_tells_programs_what_it_is(api: httpx.Client) -> None:
    """JSON for programs, the page with the form for browsers."""
    service = {"service": "url-shortener", "name": "laconic", "version": __version__}
    assert api.get("/").json() == service
    assert api.get("/", headers={"accept": "application/json"}).json() == service
    page = api.get("/", headers={"accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "<form" in page.text


def test_openapi_describes_the_links(api: httpx.Client) -> None:
    """Every path of this release with its methods, what it takes and how it can refuse."""
    document = api.get("/openapi.json").json()
    assert document["openapi"].startswith("3.")
    described = {path: {*methods} for path, methods in document["paths"].items()}
    assert described[URLS] == {"get", "post"}
    assert described[f"{URLS}/{{code}}"] == {"get", "patch", "delete"}
    assert described[f"{URLS}/bulk"] == {"post"}
    assert {f"{URLS}/{{code}}/stats", "/api/v1/codes/{code}", "/shorten", "/stats/{code}"} <= described.keys()
    assert {"/health", "/live", "/ready"} <= described.keys()
    create = document["paths"][URLS]["post"]
    assert {"200", "201", "400", "401", "409", "413", "422", "429", "503"} <= create["responses"].keys()
    body = create["requestBody"]["content"]["application/json"]["schema"]
    assert body["required"] == ["original_url"]
    assert {*body["properties"]} == {
        *("original_url", "custom_code", "expires_in_hours", "expires_in_seconds", "expires_at", "title"),
        *("description", "metadata", "domain", "redirect_status", "reuse"),
    }


def test_docs_work_offline(api: httpx.Client) -> None:
    """The page and all it loads come from here."""
    page = api.get("/docs", headers={"accept": "text/html"})
    assert page.status_code == 200
    assert "https://" not in page.text.replace("https://example.com", "")


def test_robots_and_their_like_are_answered(api: httpx.Client) -> None:
    """Never a link's 404."""
    assert api.get("/robots.txt").text.startswith("User-agent: *")
    assert api.get("/favicon.ico").status_code == 200
    assert api.get("/.well-known/security.txt").status_code in (200, 404)


def test_answers_are_fenced(api: httpx.Client) -> None:
    """What the API answers is no page, is not framed and not kept."""
    for answer in (
        api.get(URLS),
        api.post(URLS, json={"original_url": "https://a.com"}),
        api.get(f"{URLS}/nothere"),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "referrer-policy" in answer.headers
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", URLS), ("DELETE", URLS), ("POST", f"{URLS}/abcd"), ("GET", "/shorten"), ("POST", "/health")],
)
def test_wrong_method_is_a_405(api: httpx.Client, method: str, path: str) -> None:
    """With the list of those that are right."""
    answer = api.request(method, path)
    problem(answer, 405, "method_not_allowed")
    assert answer.headers["allow"]


@pytest.mark.parametrize(
    "path", ["/api", "/api/v1", "/api/v2/urls", "/api/v1/urls/a/b/c", "/stats", "/health/x"]
)
def test_page_that_is_not_there_is_a_404(api: httpx.Client, path: str) -> None:
    """A problem document, as everywhere."""
    problem(api.get(path), 404, "not_found")
