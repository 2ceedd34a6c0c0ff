"""Every write leaves an audit event: the OpenAPI document is walked, so a route that is added later is walked, too."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from laconic.oversight.model import ReportDraft
from laconic.workspaces.domains.model import DomainDraft
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor
from tests.web.api.opened import Api, OpenApi
from tests.web.people import Browser, browser, make_user, make_workspace

COMMAND = command_actor(DEFAULT_WORKSPACE_ID)

# Writes that change nothing of anybody's, with the reason.
NO_CHANGE = {
    "POST /api/v1/kgs/keys/bulk": "hands codes out; each code's row says when and to whom",
    "POST /api/v1/kgs/keys/return": "takes codes back that nothing was made of",
}


@dataclass
class Scene:
    """An operator, who is admin of the default workspace as well, in a browser; `number` makes names that are new."""

    api: Api
    caller: Browser
    headers: dict[str, str]
    user_id: int
    number: int = 0

    def name(self) -> str:
        self.number += 1
        return f"walk{self.number}"

    async def link(self) -> str:
        made = await self.call("POST", "/api/v1/urls", {"original_url": "https://example.com/"})
        return str(made.json()["short_code"])

    async def call(self, method: str, path: str, body: Any = None) -> httpx.Response:
        content = b"" if body is None else json.dumps(body).encode()
        headers = {**self.headers, "content-type": "application/json"}
        return await self.caller.client.request(method, path, content=content, headers=headers)

    async def made(self, path: str, body: Any) -> dict[str, Any]:
        answer = await self.call("POST", path, body)
        assert answer.status_code in (200, 201), answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def events(self) -> int:
        row = await self.api.services.database.fetch_one("SELECT count(*) FROM audit_event")
        return int(row[0]) if row else 0

    async def newest(self) -> dict[str, Any]:
        """Of the installation or the workspace, whichever was written last."""
        found = []
        for path in ("/api/admin/audit", "/api/v1/audit"):
            found += (await self.caller.client.get(f"{path}?limit=1")).json()["items"]
        return max(found, key=lambda event: str(event["created_at"]))


Recipe = Callable[[Scene], Awaitable[tuple[str, Any]]]
_URL = {"original_url": "https://example.com/"}


async def _workspace(scene: Scene) -> tuple[str, Any]:
    return f"/api/v1/workspaces/{await make_workspace(scene.api, scene.name())}", {"name": "Other"}


async def _user(scene: Scene) -> tuple[str, Any]:
    made = await make_user(scene.api, f"{scene.name()}@example.com", password=None)
    return f"/api/v1/users/{made.id}", {"role": "viewer"}


async def _reset(scene: Scene) -> tuple[str, Any]:
    return (await _user(scene))[0] + "/password-reset", {}


async def _invitation(scene: Scene) -> tuple[str, Any]:
    made = await scene.made("/api/v1/invitations", {"role": "viewer"})
    return f"/api/v1/invitations/{made['id']}", None


async def _key(scene: Scene) -> tuple[str, Any]:
    return f"/api/v1/api-keys/{(await scene.made('/api/v1/api-keys', {'name': 'x'}))['id']}", None


async def _rotation(scene: Scene) -> tuple[str, Any]:
    return (await _key(scene))[0] + "/rotate", {}


async def _session(scene: Scene) -> tuple[str, Any]:
    user = await scene.api.services.people.users.get(DEFAULT_WORKSPACE_ID, scene.user_id)
    await scene.api.services.people.sessions.start(user, COMMAND, None)
    listed = (await scene.caller.client.get("/api/v1/sessions")).json()["items"]
    other = next(one["id"] for one in listed if not one["is_current"])
    return f"/api/v1/sessions/{other}", None


async def _domain(scene: Scene) -> tuple[str, Any]:
    host = f"{scene.name()}.example.com"
    await scene.api.services.domains.add(COMMAND, DomainDraft(host), is_trusted=True)
    return f"/api/v1/domains/{host}", {"root_target": "https://example.org/"}


async def _domain_of_operator(scene: Scene) -> tuple[str, Any]:
    path, _ = await _domain(scene)
    return path.replace("/api/v1/", "/api/admin/"), None


async def _claim(scene: Scene) -> tuple[str, Any]:
    host = f"{scene.name()}.example.com"
    await scene.api.services.domains.add(COMMAND, DomainDraft(host))
    return f"/api/v1/domains/{host}/verify", {"method": "trusted"}


async def _takedown(scene: Scene) -> tuple[str, Any]:
    return f"/api/admin/links/{await scene.link()}/takedown", {"reason": "Phishing"}


async def _put_back(scene: Scene) -> tuple[str, Any]:
    path, body = await _takedown(scene)
    await scene.call("POST", path, body)
    return path, None


async def _block(scene: Scene) -> tuple[str, Any]:
    return "/api/admin/blocked-hosts", {"host": f"{scene.name()}.example.net"}


async def _unblock(scene: Scene) -> tuple[str, Any]:
    path, body = await _block(scene)
    await scene.call("POST", path, body)
    return f"{path}/{body['host']}", None


async def _report(scene: Scene) -> tuple[str, Any]:
    code = await scene.link()
    services = scene.api.services
    link = await services.links.find_public(1, code)
    assert link is not None
    await services.visitor_reports.send(1, code, link, ReportDraft("spam", "", "", "203.0.113.9"))
    reports = (await scene.caller.client.get("/api/admin/reports")).json()["items"]
    return f"/api/admin/reports/{reports[-1]['id']}/dismiss", {}


def _plain(path: str, body: Any = None) -> Recipe:
    async def recipe(scene: Scene) -> tuple[str, Any]:
        named = json.loads(json.dumps(body).replace("NEW", scene.name()))
        return path.replace("CODE", await scene.link() if "CODE" in path else ""), named

    return recipe


# How each write is made to succeed. A new route fails the walk until it stands here or in NO_CHANGE.
RECIPES: dict[str, Recipe] = {
    "POST /shorten": _plain("/shorten", {"url": "https://example.com/"}),
    "POST /api/v1/urls": _plain("/api/v1/urls", _URL),
    "POST /api/v1/urls/bulk": _plain("/api/v1/urls/bulk", [_URL]),
    "PATCH /api/v1/urls/{code}": _plain("/api/v1/urls/CODE", {"title": "x"}),
    "DELETE /api/v1/urls/{code}": _plain("/api/v1/urls/CODE"),
    "DELETE /api/v1/urls/{code}/clicks": _plain("/api/v1/urls/CODE/clicks"),
    "DELETE /api/v1/clicks": _plain("/api/v1/clicks?visitor=0011223344556677"),
    "PATCH /api/v1/me": _plain("/api/v1/me", {"full_name": "NEW"}),
    "POST /api/v1/workspaces": _plain("/api/v1/workspaces", {"name": "x", "slug": "NEW"}),
    "PATCH /api/v1/workspaces/{workspace_id}": _workspace,
    "DELETE /api/v1/workspaces/{workspace_id}": _workspace,
    "POST /api/v1/users": _plain("/api/v1/users", {"email": "NEW@example.org", "role": "viewer"}),
    "PATCH /api/v1/users/{user_id}": _user,
    "DELETE /api/v1/users/{user_id}": _user,
    "POST /api/v1/users/{user_id}/password-reset": _reset,
    "POST /api/v1/invitations": _plain("/api/v1/invitations", {"role": "viewer"}),
    "DELETE /api/v1/invitations/{invitation_id}": _invitation,
    "POST /api/v1/api-keys": _plain("/api/v1/api-keys", {"name": "x"}),
    "POST /api/v1/api-keys/{key_id}/rotate": _rotation,
    "DELETE /api/v1/api-keys/{key_id}": _key,
    "DELETE /api/v1/sessions": _plain("/api/v1/sessions"),
    "DELETE /api/v1/sessions/{session_id}": _session,
    "POST /api/v1/domains": _plain("/api/v1/domains", {"host": "NEW.example.com"}),
    "PATCH /api/v1/domains/{host}": _domain,
    "DELETE /api/v1/domains/{host}": _domain,
    "POST /api/v1/domains/{host}/verify": _claim,
    "POST /api/admin/links/{code}/takedown": _takedown,
    "DELETE /api/admin/links/{code}/takedown": _put_back,
    "POST /api/admin/blocked-hosts": _block,
    "DELETE /api/admin/blocked-hosts/{host}": _unblock,
    "POST /api/admin/reports/{report_id}/dismiss": _report,
    "DELETE /api/admin/domains/{host}": _domain_of_operator,
    "POST /api/admin/cleanup/run": _plain("/api/admin/cleanup/run"),
}
# They need the processes that a whole server has.
_ELSEWHERE = {"POST /api/v1/urls/bulk": "tests/flows/test_bulk.py"}


@pytest.fixture
async def scene(open_every_api: OpenApi) -> AsyncIterator[Scene]:
    async with open_every_api(host="0.0.0.0") as api:
        user = await make_user(api, "op@example.com", "admin", password=None, is_operator=True)
        token = await api.services.people.sessions.start(user, COMMAND, None)
        one = browser(api)
        one.client.cookies.set("laconic_session", token)
        async with one.client as client:
            caller = Browser(client)
            yield Scene(api, caller, await caller.csrf(), user.id)


async def writes(scene: Scene) -> list[str]:
    document = (await scene.caller.client.get("/openapi.json")).json()
    return [
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
        if method not in ("get", "head", "options")
    ]


async def test_every_write_leaves_an_event(scene: Scene) -> None:
    """Who, what, when and from where; in one walk over all routes that change something."""
    missing = []
    found = await writes(scene)
    assert {*RECIPES, *NO_CHANGE} == set(found), (
        "say of a new route how it succeeds, or why it changes nothing"
    )
    # Signing out everywhere comes last.
    for route in sorted(RECIPES, key=lambda one: one == "DELETE /api/v1/sessions"):
        if route in _ELSEWHERE:
            continue
        path, body = await RECIPES[route](scene)
        before = await scene.events()
        answer = await scene.call(route.split()[0], path, body)
        if answer.status_code not in (200, 201, 202, 204):
            missing.append(f"{route}: {answer.status_code} {answer.text[:200]}")
        elif await scene.events() <= before:
            missing.append(f"{route}: no event")
        elif route != "DELETE /api/v1/sessions":
            event = await scene.newest()
            if event["actor_id"] != str(scene.user_id) or event["address"] != "203.0.113.9":
                missing.append(f"{route}: by {event['actor_id']} from {event['address']} ({event['action']})")
    assert not missing, "\n".join(missing)


async def test_the_operator_reads_what_concerns_the_installation(scene: Scene) -> None:
    """By page and as a file; before and after."""
    await scene.made("/api/admin/blocked-hosts", {"host": "evil.example", "reason": "Phishing"})
    await scene.made("/api/admin/blocked-hosts", {"host": "evil.example", "includes_subdomains": False})
    page = (await scene.caller.client.get("/api/admin/audit?action=blocked_host.add")).json()
    newest, first = page["items"]
    assert first["before"] is None
    assert first["after"] == {"includes_subdomains": True, "reason": "Phishing"}
    assert newest["before"] == first["after"]
    assert newest["after"] == {"includes_subdomains": False, "reason": None}
    assert newest["subject"] == "evil.example"
    exported = await scene.caller.client.get("/api/admin/audit/export?action=blocked_host.add")
    assert [json.loads(line) for line in exported.text.splitlines()] == page["items"]
    own = (await scene.caller.client.get("/api/v1/audit?action=blocked_host.add")).json()
    assert own["items"] == []


async def test_a_tenant_reads_that_it_was_the_operator_and_not_who(scene: Scene) -> None:
    """Whose link was taken down: why, and not from where."""
    workspace_id = await make_workspace(scene.api, "acme")
    key = await scene.api.key("admin", workspace_id=workspace_id)
    async with scene.api.client(x_api_key=key) as acme:
        code = (await acme.post("/api/v1/urls", json=_URL)).json()["short_code"]
        await scene.call("POST", f"/api/admin/links/{code}/takedown", {"reason": "Phishing"})
        seen = (await acme.get("/api/v1/audit?action=link.take_down")).json()["items"]
    assert [(one["actor_kind"], one["actor_id"], one["address"]) for one in seen] == [
        ("operator", None, None)
    ]
    assert seen[0]["subject"] == code
    assert seen[0]["after"]["reason"] == "Phishing"
    known = (await scene.caller.client.get("/api/admin/audit?action=link.take_down")).json()["items"]
    assert [(one["actor_kind"], one["actor_id"], one["address"]) for one in known] == [
        ("user", str(scene.user_id), "203.0.113.9")
    ]


async def test_a_change_that_fails_leaves_no_event(scene: Scene) -> None:
    """They are one transaction."""
    await scene.api.services.domains.add(COMMAND, DomainDraft("go.example.com"), is_trusted=True)
    other = command_actor(await make_workspace(scene.api, "acme"))
    await scene.api.services.domains.add(other, DomainDraft("go.example.com"))
    before = await scene.events()
    with pytest.raises(Exception, match=r"go\.example\.com"):
        await scene.api.services.domains.trust(other, "go.example.com")
    answer = await scene.call("DELETE", "/api/admin/blocked-hosts/nothere.example")
    assert answer.status_code == 404
    assert await scene.events() == before
