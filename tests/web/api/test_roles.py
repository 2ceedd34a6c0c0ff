"""Who may do what: every route of the OpenAPI document and every role, as a matrix."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from laconic.workspaces.model import command_actor
from tests.web.api.opened import Api
from tests.web.people import Browser, browser, make_user

ROLES = ("nobody", "viewer", "member", "admin", "operator")

# The least role that may, for every route. A new route fails the first test until it stands here.
LEAST = {
    "GET /live": "nobody",
    "GET /ready": "nobody",
    "GET /health": "nobody",
    "GET /metrics": "operator",
    "POST /shorten": "member",
    "GET /stats/{code}": "viewer",
    "POST /api/v1/urls": "member",
    "POST /api/v1/urls/bulk": "member",
    "GET /api/v1/urls": "viewer",
    "GET /api/v1/urls/{code}": "viewer",
    "PATCH /api/v1/urls/{code}": "member",
    "DELETE /api/v1/urls/{code}": "member",
    "GET /api/v1/urls/{code}/stats": "viewer",
    "GET /api/v1/urls/{code}/qr": "viewer",
    "GET /api/v1/codes/{code}": "member",
    "GET /api/v1/me": "viewer",
    "PATCH /api/v1/me": "viewer",
    "POST /api/v1/workspaces": "operator",
    "GET /api/v1/workspaces": "viewer",
    "GET /api/v1/workspaces/{workspace_id}": "viewer",
    "PATCH /api/v1/workspaces/{workspace_id}": "admin",
    "DELETE /api/v1/workspaces/{workspace_id}": "admin",
    "GET /api/v1/users": "admin",
    "POST /api/v1/users": "admin",
    "GET /api/v1/users/{user_id}": "admin",
    "PATCH /api/v1/users/{user_id}": "admin",
    "DELETE /api/v1/users/{user_id}": "admin",
    "POST /api/v1/users/{user_id}/password-reset": "admin",
    "GET /api/v1/invitations": "admin",
    "POST /api/v1/invitations": "admin",
    "DELETE /api/v1/invitations/{invitation_id}": "admin",
    "GET /api/v1/api-keys": "member",
    "POST /api/v1/api-keys": "member",
    "GET /api/v1/api-keys/{key_id}": "member",
    "POST /api/v1/api-keys/{key_id}/rotate": "member",
    "DELETE /api/v1/api-keys/{key_id}": "member",
    "GET /api/v1/sessions": "viewer",
    "DELETE /api/v1/sessions": "viewer",
    "DELETE /api/v1/sessions/{session_id}": "viewer",
    "GET /api/v1/audit": "admin",
    "GET /api/v1/audit/export": "admin",
    "GET /api/v1/urls/{code}/analytics": "viewer",
    "GET /api/v1/analytics": "viewer",
    "GET /api/v1/urls/{code}/clicks": "viewer",
    "DELETE /api/v1/urls/{code}/clicks": "member",
    "GET /api/v1/urls/{code}/clicks/export": "viewer",
    "DELETE /api/v1/clicks": "admin",
    "GET /api/v1/clicks/live": "viewer",
    "GET /api/v1/kgs/key": "admin",
    "POST /api/v1/kgs/keys/bulk": "admin",
    "POST /api/v1/kgs/keys/return": "admin",
    "GET /api/v1/kgs/stats": "admin",
    "GET /api/admin/cleanup/stats": "operator",
    "POST /api/admin/cleanup/run": "operator",
    "GET /api/v1/domains": "viewer",
    "POST /api/v1/domains": "admin",
    "GET /api/v1/domains/{host}": "viewer",
    "PATCH /api/v1/domains/{host}": "admin",
    "DELETE /api/v1/domains/{host}": "admin",
    "POST /api/v1/domains/{host}/verify": "admin",
    "POST /api/admin/links/{code}/takedown": "operator",
    "DELETE /api/admin/links/{code}/takedown": "operator",
    "GET /api/admin/takedowns": "operator",
    "POST /api/admin/blocked-hosts": "operator",
    "GET /api/admin/blocked-hosts": "operator",
    "DELETE /api/admin/blocked-hosts/{host}": "operator",
    "GET /api/admin/reports": "operator",
    "POST /api/admin/reports/{report_id}/dismiss": "operator",
    "GET /api/admin/stats": "operator",
    "GET /api/admin/audit": "operator",
    "DELETE /api/admin/domains/{host}": "operator",
    "GET /api/admin/audit/export": "operator",
}


@pytest.fixture
async def people(closed_api: Api) -> AsyncIterator[dict[str, Browser]]:
    """A browser for each role; the operator is admin of the default workspace as well, as the first user is."""
    async with AsyncExitStack() as stack:
        found = {}
        for role in ROLES:
            one = browser(closed_api)
            found[role] = Browser(await stack.enter_async_context(one.client))
            if role == "nobody":
                continue
            is_operator = role == "operator"
            user = await make_user(
                closed_api,
                f"{role}@example.com",
                "admin" if is_operator else role,  # type: ignore[arg-type]
                password=None,
                is_operator=is_operator,
            )
            token = await closed_api.services.people.sessions.start(user, command_actor(1), None)
            one.client.cookies.set("laconic_session", token)
        yield found


async def test_every_route_has_its_least_role(closed_api: Api) -> None:
    """What nobody has decided on is not open to anybody by accident."""
    async with closed_api.client() as client:
        document = (await client.get("/openapi.json")).json()
    known = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert known == LEAST.keys()


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_may_do_what_the_matrix_says(people: dict[str, Browser], role: str) -> None:
    """401 without a sign-in, 403 below the least role, and past the gate from it on."""
    caller = people[role]
    headers = {"content-type": "application/json"}
    if role != "nobody":
        headers |= await caller.csrf()
    wrong = []
    # Signing out everywhere comes last.
    for route, least in sorted(LEAST.items(), key=lambda one: one[0] == "DELETE /api/v1/sessions"):
        method, path = route.split()
        own = path.replace("{workspace_id}", "1")
        if route == "GET /api/v1/clicks/live":
            own += "?code=nothere"  # without it, a stream that never ends
        answer = await caller.client.request(
            method,
            re.sub(r"\{\w+\}", "nothere", own),
            headers=headers,
            content=b"{}" if method != "GET" else b"",
        )
        if ROLES.index(role) >= ROLES.index(least):
            is_right = answer.status_code not in (401, 403) and answer.status_code < 500
        else:
            is_right = answer.status_code == (401 if role == "nobody" else 403)
        if not is_right:
            wrong.append(f"{route} as {role}: {answer.status_code} {answer.text[:100]}")
    assert not wrong, "\n".join(wrong)
