"""The operator's side, over HTTP with real servers."""

import html
import re
from typing import Any

import httpx
import pytest

from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import URLS, make, make_code, problem

ADMIN = "/api/admin"
BROWSER = {"accept": "text/html"}


def _take_down(api: httpx.Client, code: str, reason: str = "Phishing", **parameters: str) -> httpx.Response:
    return api.post(f"{ADMIN}/links/{code}/takedown", json={"reason": reason}, params=parameters)


def _token(page: str) -> str:
    found = re.search(r'name="token" value="([0-9a-f]+)"', page)
    assert found
    return found[1]


def test_a_takedown_answers_410_with_its_reason(api: httpx.Client) -> None:
    """To people and programs, by the link and its preview; and the link comes back when it is undone."""
    code = make_code(api)
    assert api.get(f"/{code}").status_code == 302
    reason = 'Phishing <b>"bank"</b>'
    taken = _take_down(api, code, reason)
    assert taken.status_code == 200
    assert (taken.json()["short_code"], taken.json()["reason"]) == (code, reason)
    for path in (f"/{code}", f"/{code}+"):
        answer = api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (410, "link_taken_down")
        assert answer.json()["reason"] == reason
        page = api.get(path, headers=BROWSER)
        assert page.status_code == 410
        assert reason in html.unescape(page.text)
        assert "<b>" not in page.text
    assert taken.json() in api.get(f"{ADMIN}/takedowns").json()["items"]
    problem(api.patch(f"{URLS}/{code}", json={"is_active": True}), 422, "invalid_request")
    assert api.delete(f"{ADMIN}/links/{code}/takedown").status_code == 204
    assert api.get(f"/{code}").status_code == 302
    problem(api.delete(f"{ADMIN}/links/{code}/takedown"), 404, "entry_unknown")
    problem(_take_down(api, "unknown1"), 404, "link_unknown")
    problem(_take_down(api, "unknown1", domain="no.example"), 404, "link_unknown")
    problem(_take_down(api, "un.known"), 400, "code_malformed")


def test_a_takedown_names_the_domain(api: httpx.Client) -> None:
    """The same code on another domain is another link."""
    host = "oversight.example"
    assert api.post("/api/v1/domains", json={"host": host, "trusted": True}).status_code == 201
    make(api, custom_code="ovrsee")
    make(api, custom_code="ovrsee", domain=host)
    assert _take_down(api, "ovrsee", domain=host).status_code == 200
    assert api.get("/ovrsee").status_code == 302
    assert api.get("/ovrsee", headers={"host": host}).status_code == 410


def test_blocked_hosts_stop_old_links_and_refuse_new_ones(api: httpx.Client) -> None:
    """Until they are unblocked."""
    code = make_code(api, "https://www.blocked.example/x")
    assert api.get(f"/{code}").status_code == 302
    blocked = api.post(f"{ADMIN}/blocked-hosts", json={"host": "*.Blocked.example", "reason": "kit"})
    assert blocked.status_code == 201
    assert (blocked.json()["host"], blocked.json()["includes_subdomains"]) == ("blocked.example", True)
    for path in (f"/{code}", f"/{code}+"):
        answer = api.get(path)
        assert (answer.status_code, answer.json()["code"]) == (410, "link_blocked")
    other = make_code(api)
    for refused in (
        api.post(URLS, json={"original_url": "https://blocked.example/"}),
        api.post("/shorten", json={"url": "https://a.b.BLOCKED.example./"}),
        api.patch(f"{URLS}/{other}", json={"original_url": "https://blocked.example/"}),
    ):
        assert problem(refused, 400, "url_refused")["reason"] == "blocked_host"
    assert blocked.json() in api.get(f"{ADMIN}/blocked-hosts").json()["items"]
    assert api.delete(f"{ADMIN}/blocked-hosts/blocked.example").status_code == 204
    assert api.get(f"/{code}").status_code == 302
    problem(api.delete(f"{ADMIN}/blocked-hosts/blocked.example"), 404, "entry_unknown")


def test_lists_of_the_operator_are_paged(api: httpx.Client) -> None:
    """A page ends with where the next one begins."""
    for number in range(3):
        api.post(f"{ADMIN}/blocked-hosts", json={"host": f"paged{number}.example"})
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        page = api.get(f"{ADMIN}/blocked-hosts", params={"limit": 2, **cursor}).json()
        seen += [one["host"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert [host for host in seen if host.startswith("paged")] == [f"paged{n}.example" for n in range(3)]
    for path in ("takedowns", "reports"):
        problem(api.get(f"{ADMIN}/{path}", params={"cursor": "x1"}), 404, "entry_unknown")


@pytest.fixture
def visitor(server: LaconicServer) -> Any:
    with server.client(headers=BROWSER) as client:
        yield client


def test_a_visitor_reports_a_link_without_javascript(api: httpx.Client, visitor: httpx.Client) -> None:
    """By the form on the preview, with its token; the operator finds it in the list, and looks at it once."""
    code = make_code(api, "https://example.com/reported")
    page = visitor.get(f"/{code}+").text
    assert "Report this link" in page
    form = {
        "token": _token(page),
        "reason": "phishing",
        "message": "Not my bank <i>",
        "contact": "me@x.example",
    }
    sent = visitor.post(f"/{code}+", data=form)
    assert sent.status_code == 201
    assert "Thank you" in sent.text
    reports = api.get(f"{ADMIN}/reports").json()["items"]
    (report,) = [one for one in reports if one["short_code"] == code]
    assert (report["reason"], report["message"], report["state"]) == ("phishing", "Not my bank <i>", "open")
    assert (report["target"], report["contact"]) == ("https://example.com/reported", "me@x.example")
    done = api.post(f"{ADMIN}/reports/{report['id']}/dismiss", json={})
    assert done.json()["state"] == "dismissed"
    problem(api.post(f"{ADMIN}/reports/{report['id']}/dismiss", json={}), 404, "entry_unknown")
    problem(api.post(f"{ADMIN}/reports/none/dismiss", json={}), 404, "entry_unknown")


def test_a_report_needs_the_forms_token(api: httpx.Client, visitor: httpx.Client) -> None:
    """Another site can make no visitor report anything; what was filled in comes back."""
    code = make_code(api)
    page = visitor.get(f"/{code}+").text
    form = {"token": _token(page), "reason": "spam", "message": "kept words"}
    for headers, token in (({}, "0" * 64), ({"origin": "https://evil.example"}, form["token"])):
        refused = visitor.post(f"/{code}+", data={**form, "token": token}, headers=headers)
        assert refused.status_code == 403
        assert "kept words" in refused.text
    wrong = visitor.post(f"/{code}+", data={**form, "reason": "boring"})
    assert wrong.status_code == 422
    assert not [one for one in api.get(f"{ADMIN}/reports").json()["items"] if one["short_code"] == code]


def test_reports_are_rate_limited(server: LaconicServer, api: httpx.Client, visitor: httpx.Client) -> None:
    """By address, whatever the link."""
    code = make_code(api)
    page = visitor.get(f"/{code}+").text
    form = {"token": _token(page), "reason": "spam"}
    answers = [visitor.post(f"/{code}+", data=form) for _ in range(8)]
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_numbers_of_the_installation(api: httpx.Client) -> None:
    """For the operator only."""
    make_code(api)
    numbers = api.get(f"{ADMIN}/stats").json()
    assert numbers["links"] >= numbers["links_live"] >= 1
    assert numbers["workspaces"] == 1
    assert numbers["bytes"]["database"] > 0


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/links/abcd/takedown"),
        ("DELETE", "/links/abcd/takedown"),
        ("GET", "/takedowns"),
        ("GET", "/blocked-hosts"),
        ("POST", "/blocked-hosts"),
        ("DELETE", "/blocked-hosts/x.example"),
        ("GET", "/reports"),
        ("POST", "/reports/1/dismiss"),
        ("GET", "/stats"),
    ],
)
def test_only_the_operator_may(server: LaconicServer, api: httpx.Client, method: str, path: str) -> None:
    """A tenant's admin is not the operator; a key with the scope is."""
    admin = server.run("key", "create", "admin", "--scope", "admin")
    answer = api.request(method, ADMIN + path, json={}, headers={"authorization": f"Bearer {admin}"})
    problem(answer, 403, "scope_missing")
    operator = server.run("key", "create", "operator", "--scope", "operator")
    answer = api.request(method, ADMIN + path, json={}, headers={"authorization": f"Bearer {operator}"})
    assert answer.status_code in (200, 404, 422)


def test_a_command_beside_the_server_reaches_it(server: LaconicServer, api: httpx.Client) -> None:
    """Another process takes down, blocks and adds: the server hears of it by itself."""
    code = make_code(api, "https://beside.example/")
    assert api.get(f"/{code}").status_code == 302
    server.run("takedown", code, "--reason", "By hand")
    eventually(lambda: api.get(f"/{code}").status_code == 410, "the takedown never came")
    server.run("takedown", code, "--undo")
    eventually(lambda: api.get(f"/{code}").status_code == 302, "the link never came back")
    server.run("blocked", "add", "beside.example")
    eventually(lambda: api.get(f"/{code}").status_code == 410, "the block never came")
    server.run("blocked", "remove", "beside.example")
    eventually(lambda: api.get(f"/{code}").status_code == 302, "the block never went")
    server.run("domain", "add", "beside.example", "--trusted", "--root", "https://example.com/")

    def root() -> str:
        return str(api.get("/", headers={"host": "beside.example"}).headers.get("location", ""))

    assert eventually(root, "the domain never came") == "https://example.com/"
