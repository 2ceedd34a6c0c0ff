"""Several domains on one server, over HTTP with real Host headers."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import NDJSON, URLS, fields_of, make, problem

DOMAINS = "/api/v1/domains"
BROWSER = {"accept": "text/html"}


def _add(api: httpx.Client, host: str, **fields: Any) -> dict[str, Any]:
    """A domain that the operator vouches for; in open mode whoever calls is the operator."""
    answer = api.post(DOMAINS, json={"host": host, "trusted": True, **fields})
    assert answer.status_code == 201, answer.text
    added: dict[str, Any] = answer.json()
    return added


def _at(api: httpx.Client, host: str, path: str, **headers: str) -> httpx.Response:
    return api.get(path, headers={"host": host, **headers})


@pytest.fixture(scope="module")
def brand(api: httpx.Client) -> str:
    _add(api, "brand.example")
    return "brand.example"


@pytest.fixture
def default_brand(api: httpx.Client, brand: str) -> Iterator[str]:
    """The other flows of this server expect the shared domain."""
    assert api.patch(f"{DOMAINS}/{brand}", json={"is_default": True}).json()["is_default"] is True
    yield brand
    assert api.patch(f"{DOMAINS}/{brand}", json={"is_default": False}).json()["is_default"] is False


def test_the_same_code_on_two_domains_is_two_links(api: httpx.Client, brand: str) -> None:
    """Each with its own target, stats, edits and end."""
    ours = make(api, "https://example.com/shared", custom_code="twice")
    theirs = make(api, "https://example.com/brand", custom_code="twice", domain=brand)
    assert ours["short_url"] != theirs["short_url"]
    assert theirs["short_url"].startswith("http://brand.example:")
    assert api.get("/twice").headers["location"] == "https://example.com/shared"
    assert _at(api, brand, "/twice").headers["location"] == "https://example.com/brand"
    assert _at(api, "BRAND.example.:80", "/twice").headers["location"] == "https://example.com/brand"
    assert _at(api, "unknown.example", "/twice").headers["location"] == "https://example.com/shared"
    one = f"{URLS}/twice"
    edited = api.patch(one, params={"domain": brand}, json={"original_url": "https://example.com/new"})
    assert edited.json()["short_url"] == theirs["short_url"]
    assert _at(api, brand, "/twice").headers["location"] == "https://example.com/new"
    assert api.get("/twice").headers["location"] == "https://example.com/shared"
    for path in (one, f"{one}/stats", f"{one}/qr", "/stats/twice"):
        assert api.get(path, params={"domain": brand}).status_code == 200
        assert api.get(path).status_code == 200
    assert (
        api.get(f"{one}/stats", params={"domain": brand}).json()["original_url"] == "https://example.com/new"
    )
    assert api.delete(one, params={"domain": brand}).status_code == 204
    assert _at(api, brand, "/twice").status_code == 410
    assert api.get("/twice").status_code == 302


def test_a_custom_code_is_taken_on_its_domain_only(api: httpx.Client, brand: str) -> None:
    """And the hint says so, too."""
    make(api, custom_code="mine1", domain=brand)
    again = api.post(
        URLS, json={"original_url": "https://example.com/", "custom_code": "mine1", "domain": brand}
    )
    problem(again, 409, "code_taken")
    hint = "/api/v1/codes/mine1"
    assert api.get(hint, params={"domain": brand}).json() == {"available": False, "reason": "taken"}
    assert api.get(hint).json() == {"available": True}
    make(api, custom_code="mine1")


def test_reuse_stays_on_its_domain(api: httpx.Client, brand: str) -> None:
    """A link that is there for the URL on another domain is not the one that was asked for."""
    url = "https://example.com/reused-on-two"
    shared = make(api, url, reuse=True)
    branded = make(api, url, reuse=True, domain=brand)
    assert branded["short_url"].startswith("http://brand.example:")
    for domain, first in ((None, shared), (brand, branded)):
        again = api.post(URLS, json={"original_url": url, "reuse": True, "domain": domain})
        assert (again.status_code, again.json()["id"]) == (200, first["id"])


def test_an_idempotency_key_gives_the_same_domain_back(api: httpx.Client, brand: str) -> None:
    """The answer of the first time, short URL and all."""
    document = {"original_url": "https://example.com/", "domain": brand}
    headers = {"idempotency-key": "branded once"}
    first = api.post(URLS, json=document, headers=headers)
    second = api.post(URLS, json=document, headers=headers)
    assert first.json() == second.json()
    assert first.json()["short_url"].startswith("http://brand.example:")


def test_lists_tell_domains_apart(api: httpx.Client, brand: str) -> None:
    """All of the workspace's links, or those of one domain, each with its own short URL."""
    made = [make(api, title="apart", domain=domain) for domain in (None, brand)]
    everything = api.get(URLS, params={"search": "apart"}).json()["items"]
    assert {one["short_url"] for one in everything} == {one["short_url"] for one in made}
    branded = api.get(URLS, params={"search": "apart", "domain": brand}).json()["items"]
    assert [one["short_url"] for one in branded] == [made[1]["short_url"]]
    refused = api.get(URLS, params={"domain": "unknown.example"})
    assert fields_of(problem(refused, 422, "invalid_request")) == ["domain"]


def test_a_bulk_import_honours_the_domain(api: httpx.Client, brand: str) -> None:
    """Line by line; the imports process has heard of a domain that was added while it ran."""
    lines = [
        {"original_url": "https://example.com/", "domain": domain} for domain in (None, brand, "no.example")
    ]
    body = "\n".join(json.dumps(line) for line in lines)

    def imported() -> list[dict[str, Any]] | None:
        answer = api.post(f"{URLS}/bulk", content=body, headers=NDJSON)
        results = [json.loads(line) for line in answer.text.splitlines()]
        return results if results[1]["status"] == 201 else None

    results = eventually(imported, "the imports process never heard of the domain")
    assert [one["status"] for one in results] == [201, 201, 422]
    assert results[1]["short_url"].startswith("http://brand.example:")
    assert "brand.example" not in results[0]["short_url"]


def test_the_workspaces_default_domain_takes_new_links(api: httpx.Client, default_brand: str) -> None:
    """By every way in; a code without a domain then means the default domain's link."""
    code = make(api, "https://example.com/default", custom_code="dflt1")["short_code"]
    assert _at(api, default_brand, f"/{code}").status_code == 302
    assert api.get(f"/{code}").status_code == 404
    assert api.get(f"{URLS}/{code}").json()["short_url"].startswith("http://brand.example:")
    shortened = api.post("/shorten", json={"url": "https://example.com/"}).json()
    assert shortened["short_url"].startswith("http://brand.example:")
    assert _at(api, default_brand, f"/{shortened['short_code']}").status_code == 302
    shared = make(api, domain="localhost")
    assert shared["short_url"].startswith("http://localhost:")


def test_the_host_header_says_nothing_about_short_urls(api: httpx.Client, brand: str) -> None:
    """Whoever sends another one gets the same answer: it comes from the settings and the table of domains."""
    headers = {"host": "evil.example", "x-forwarded-host": "evil.example"}
    answer = api.post(URLS, json={"original_url": "https://example.com/"}, headers=headers)
    # An unknown host is not open mode's: a key would be needed.
    problem(answer, 401, "not_authenticated")
    code = make(api)["short_code"]
    for host in ("evil.example", "localhost"):
        preview = api.get(f"/{code}+", headers={"host": host}).json()
        assert preview["short_url"] == f"{str(api.base_url).rstrip('/')}/{code}"
    branded = make(api, domain=brand)
    preview = api.get(f"/{branded['short_code']}+", headers={"host": "Brand.Example:9"}).json()
    assert preview["short_url"] == branded["short_url"]


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/urls", "link_unknown"),
        ("POST", "/api/v1/urls", "link_unknown"),
        ("GET", "/api/v1/domains", "link_unknown"),
        ("POST", "/shorten", "method_not_allowed"),
        ("GET", "/stats/abcd", "link_unknown"),
        ("GET", "/docs", "link_unknown"),
        ("GET", "/openapi.json", "code_malformed"),
        ("GET", "/dashboard", "link_unknown"),
        ("GET", "/health", "link_unknown"),
        ("GET", "/api/admin/stats", "link_unknown"),
        ("GET", "/.well-known/laconic-verify.txt", "link_unknown"),
        ("GET", "/", "link_unknown"),
        ("POST", "/", "link_unknown"),
    ],
)
def test_no_api_and_no_page_of_ours_on_a_workspaces_domain(
    api: httpx.Client, brand: str, method: str, path: str, code: str
) -> None:
    """Its visitors find links there, and nothing that could ask them for a password."""
    answer = api.request(
        method, path, headers={"host": brand, "content-type": "application/json"}, content=b"{}"
    )
    assert answer.json()["code"] == code


def test_pages_of_a_link_work_on_its_domain(api: httpx.Client, brand: str) -> None:
    """The preview with its files, robots.txt, and the pages for those who are not sent on."""
    branded = make(api, domain=brand)
    page = _at(api, brand, f"/{branded['short_code']}+", **BROWSER)
    assert page.status_code == 200
    assert branded["short_url"] in page.text
    style = page.text.partition('rel="stylesheet" href="')[2].partition('"')[0]
    assert _at(api, brand, style).status_code == 200
    assert _at(api, brand, "/robots.txt").status_code == 200
    assert _at(api, brand, "/nothing", **BROWSER).status_code == 404


def test_root_and_unknown_codes_go_where_the_owner_wants(api: httpx.Client) -> None:
    """Neither is a click; what is gone stays gone."""
    host = "targets.example"
    _add(api, host, root_target="https://example.com/home")
    assert _at(api, host, "/").headers["location"] == "https://example.com/home"
    assert _at(api, host, "/nothing").status_code == 404
    gone = make(api, domain=host)["short_code"]
    api.delete(f"{URLS}/{gone}", params={"domain": host})
    changed = api.patch(
        f"{DOMAINS}/{host}", json={"root_target": None, "not_found_target": "https://example.com/404"}
    ).json()
    assert (changed["root_target"], changed["not_found_target"]) == (None, "https://example.com/404")
    for path in ("/nothing", "/several/parts", "/"):
        answer = _at(api, host, path)
        assert (answer.status_code, answer.headers["location"]) == (302, "https://example.com/404")
        assert "no-store" in answer.headers["cache-control"]
    assert _at(api, host, f"/{gone}").status_code == 410
    assert api.get("/nothing").status_code == 404


def test_links_to_a_domain_of_ours_are_refused(api: httpx.Client) -> None:
    """Also to one that was added a moment ago, also by an edit."""
    code = make(api)["short_code"]
    _add(api, "loop.example")
    for answer in (
        api.post(URLS, json={"original_url": "https://loop.example/x"}),
        api.patch(f"{URLS}/{code}", json={"original_url": "http://LOOP.example./"}),
    ):
        assert problem(answer, 400, "url_refused")["reason"] == "own_host"


def test_a_domain_is_shown_with_what_proves_it(api: httpx.Client) -> None:
    """Once it is proved nothing is left to do."""
    added = api.post(DOMAINS, json={"host": "Claim.Example."})
    assert added.status_code == 201
    domain = added.json()
    assert (domain["host"], domain["verified_at"], domain["is_default"]) == ("claim.example", None, False)
    assert domain["proof"]["dns"]["name"] == "_laconic.claim.example"
    assert domain["proof"]["dns"]["value"] == domain["proof"]["http"]["body"]
    assert api.get(f"{DOMAINS}/claim.example").json() == domain
    assert domain in api.get(DOMAINS).json()["items"]
    refused = api.post(URLS, json={"original_url": "https://example.com/", "domain": "claim.example"})
    assert fields_of(problem(refused, 422, "invalid_request")) == ["domain"]
    proved = api.post(f"{DOMAINS}/claim.example/verify", json={"method": "trusted"}).json()
    assert (proved["proof"], proved["verified_at"] is not None) == (None, True)
    assert api.delete(f"{DOMAINS}/claim.example").status_code == 204
    problem(api.get(f"{DOMAINS}/claim.example"), 404, "domain_unknown")


def test_a_proof_that_is_not_there_is_told(api: httpx.Client) -> None:
    """In words that say where was looked; nothing inside is reached meanwhile (P9)."""
    api.post(DOMAINS, json={"host": "unproved.invalid.example"})
    answer = api.post(f"{DOMAINS}/unproved.invalid.example/verify", json={})
    detail = problem(answer, 409, "domain_not_proved")["detail"]
    assert "_laconic.unproved.invalid.example" in detail
    assert "http://unproved.invalid.example/.well-known/laconic-verify.txt" in detail


def test_the_shared_domain_is_listed_and_not_to_be_changed(api: httpx.Client) -> None:
    """It is everybody's."""
    shared = api.get(f"{DOMAINS}/localhost").json()
    assert (shared["is_shared"], shared["is_default"]) == (True, True)
    for answer in (
        api.patch(f"{DOMAINS}/localhost", json={"root_target": "https://example.com/"}),
        api.delete(f"{DOMAINS}/localhost"),
        api.post(f"{DOMAINS}/localhost/verify", json={}),
    ):
        problem(answer, 404, "domain_unknown")


def test_a_key_needs_the_scope(server: LaconicServer, api: httpx.Client) -> None:
    """Reading is everybody's in the workspace; the rest is an admin's, and vouching the operator's."""
    secrets = {
        scope: server.run("key", "create", "domains", "--scope", scope) for scope in ("links:read", "admin")
    }
    reader, admin = ({"authorization": f"Bearer {secret}"} for secret in secrets.values())
    assert api.get(DOMAINS, headers=reader).status_code == 200
    claim = {"host": "scoped.example"}
    problem(api.post(DOMAINS, json=claim, headers=reader), 403, "scope_missing")
    problem(api.post(DOMAINS, json={**claim, "trusted": True}, headers=admin), 403, "scope_missing")
    assert api.post(DOMAINS, json=claim, headers=admin).status_code == 201
    trusting = {"method": "trusted"}
    problem(api.post(f"{DOMAINS}/scoped.example/verify", json=trusting, headers=admin), 403, "scope_missing")
    assert api.delete(f"{DOMAINS}/scoped.example", headers=admin).status_code == 204
