"""Who sees which page and may send which form: every route of these pages and every role, as a matrix."""

import re

import httpx
import pytest

from laconic.clock import now
from laconic.workspaces.model import command_actor
from tests.web.pages.dashboard.office import ROLES, Office, Person

PAGES = {
    "/dashboard/members": "admin",
    "/dashboard/members/{user}": "admin",
    "/dashboard/keys": "member",
    "/dashboard/domains": "viewer",
    "/dashboard/domains/{host}": "viewer",
    "/dashboard/settings": "admin",
    "/dashboard/audit": "admin",
    "/dashboard/account": "viewer",
    "/dashboard/transfer": "viewer",
    "/dashboard/transfer/links.csv": "viewer",
    "/dashboard/transfer/links.ndjson": "viewer",
    "/dashboard/operator": "operator",
    "/dashboard/operator/codes": "operator",
    "/dashboard/operator/cleanup": "operator",
    "/dashboard/operator/takedowns": "operator",
    "/dashboard/operator/reports": "operator",
    "/dashboard/operator/blocked": "operator",
    "/dashboard/operator/workspaces": "operator",
    "/dashboard/operator/workspaces/{workspace}": "operator",
}
FORMS = {
    "/dashboard/members": "admin",
    "/dashboard/members/{user}": "admin",
    "/dashboard/members/{user}/password": "admin",
    "/dashboard/members/{user}/remove": "admin",
    "/dashboard/members/invitations/{invitation}/withdraw": "admin",
    "/dashboard/keys": "member",
    "/dashboard/keys/{key}/rotate": "member",
    "/dashboard/keys/{key}/revoke": "member",
    "/dashboard/domains": "admin",
    "/dashboard/domains/{host}": "admin",
    "/dashboard/domains/{host}/default": "admin",
    "/dashboard/domains/{host}/remove": "admin",
    "/dashboard/domains/{host}/verify": "admin",
    "/dashboard/settings": "admin",
    "/dashboard/settings/delete": "admin",
    "/dashboard/account": "viewer",
    "/dashboard/account/password": "viewer",
    "/dashboard/account/sessions/{session}/end": "viewer",
    "/dashboard/transfer": "member",
    "/dashboard/operator/cleanup": "operator",
    "/dashboard/operator/takedowns": "operator",
    "/dashboard/operator/takedowns/undo": "operator",
    "/dashboard/operator/reports/{report}/dismiss": "operator",
    "/dashboard/operator/blocked": "operator",
    "/dashboard/operator/blocked/undo": "operator",
    "/dashboard/operator/workspaces": "operator",
    "/dashboard/operator/workspaces/{workspace}": "operator",
    "/dashboard/operator/workspaces/{workspace}/invite": "operator",
    "/dashboard/operator/workspaces/{workspace}/delete": "operator",
}
# Whose record of another tenant is 404: those that name one, for somebody who may do the same at home.
OWNED = sorted(path for path in {*PAGES, *FORMS} if "{" in path and "operator" not in path)


def may(role: str, least: str) -> bool:
    """The operator of these tests is a member: what is an admin's is not theirs."""
    if role == "operator":
        return least in ("operator", "member", "viewer")
    order = ("viewer", "member", "admin")
    return least in order and order.index(role) >= order.index(least)


async def plant(office: Office, workspace_id: int, owner_id: int) -> dict[str, str]:
    """A record of every kind in a workspace, by the name that stands for it in a path."""
    services, actor = office.api.services, command_actor(workspace_id)
    _, key = await services.api_keys.create(workspace_id, "planted", created_by=owner_id, actor=actor)
    _, invitation = await services.people.invitations.invite(actor, workspace_id, "viewer")
    sessions = await services.people.sessions.list(workspace_id, owner_id)
    host = f"go{workspace_id}.example.com"
    await services.database.execute(
        "INSERT INTO domain (id, workspace_id, host, is_default, verified_at, created_at)"
        " VALUES ($1, $2, $3, FALSE, $4, $4)",
        *(workspace_id + 100, workspace_id, host, now()),
    )
    await services.directory.catch_up()
    return {
        "user": str(owner_id),
        "key": str(key.id),
        "invitation": str(invitation.id),
        "session": str(sessions[0].id),
        "host": host,
        "workspace": str(workspace_id),
        "report": "1",
    }


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_sees_the_pages_that_the_matrix_says(office: Office, role: str) -> None:
    """200 or 403; and nobody is offered a page by the navigation that answers 403."""
    person = office.person(role)
    own = await plant(office, 1, person.user.id)
    navigation = re.findall(r'<li><a href="(/dashboard[^"]*)"', await person.open("/dashboard/account"))
    wrong = []
    for path, least in PAGES.items():
        answer = await person.client.get(path.format(**own))
        if answer.status_code != (200 if may(role, least) else 403):
            wrong.append(f"{path}: {answer.status_code}")
        if "{" not in path and "links." not in path and path != "/dashboard/account":
            assert (path in navigation) == may(role, least), path
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("role", ROLES)
async def test_a_role_sends_the_forms_that_the_matrix_says(office: Office, role: str) -> None:
    """403 below the least role, whatever the form holds; past the gate from it on."""
    person = office.person(role)
    own = await plant(office, 1, person.user.id)
    token = await person.token()
    wrong = []
    # Their own session ends last.
    for path, least in sorted(FORMS.items(), key=lambda one: one[0].endswith("/end")):
        answer = await send(person, path.format(**own), token)
        assert answer.headers.get("location") != "/dashboard/sign-in", path
        allowed = answer.status_code != 403 and answer.status_code < 500
        if allowed != may(role, least):
            wrong.append(f"{path}: {answer.status_code} {answer.text[:200]}")
    assert not wrong, "\n".join(wrong)


async def send(person: Person, path: str, token: str) -> httpx.Response:
    if path == "/dashboard/transfer":
        files = {"file": ("links.csv", b"url\nhttps://example.com/\n")}
        return await person.client.post(path, data={"token": token}, files=files)
    return await person.client.post(path, data={"token": token})


async def test_a_form_from_elsewhere_changes_nothing(office: Office) -> None:
    """Without the page's token, or with one from another site: 403, on every form there is."""
    person = office.operator
    own = await plant(office, 1, person.user.id)
    right = await person.token()
    before = await snapshot(office, 1)
    for path in FORMS:
        for token, headers in (("", {}), ("0" * 64, {}), (right, {"sec-fetch-site": "cross-site"})):
            person.client.headers.update(headers)
            answer = await send(person, path.format(**own), token)
            assert answer.status_code == 403, path
            for name in headers:
                del person.client.headers[name]
    assert await snapshot(office, 1) == before


async def test_another_tenants_records_are_not_there(every_office: Office) -> None:
    """P8: whatever of another tenant is named in the path, the answer is 404 and nothing changes."""
    office = every_office
    theirs = await plant(office, office.neighbour_id, office.neighbour.user.id)
    before = await snapshot(office, office.neighbour_id)
    token = await office.admin.token()
    for path in OWNED:
        named = path.format(**theirs)
        if path in PAGES:
            assert (await office.admin.client.get(named)).status_code == 404, path
        if path in FORMS:
            fields = {"token": token, "password": "a long enough password", "role": "viewer"}
            assert (await office.admin.client.post(named, data=fields)).status_code == 404, path
    assert await snapshot(office, office.neighbour_id) == before
    for path in PAGES:
        if "{" not in path:
            page = (await office.admin.client.get(path)).text
            assert "neighbour@example.com" not in page, path
            assert "planted" not in page, path


async def test_a_member_touches_no_key_but_their_own(office: Office) -> None:
    """An admin's key is not there for a member; the other way round it is."""
    _, key = await office.api.services.api_keys.create(
        1, "the admin's", created_by=office.admin.user.id, actor=command_actor(1)
    )
    assert "the admin" not in await office.member.open("/dashboard/keys")
    assert (await office.member.send(f"/dashboard/keys/{key.id}/revoke")).status_code == 404
    assert "the admin" in await office.admin.open("/dashboard/keys")


async def snapshot(office: Office, workspace_id: int) -> list[str]:
    """All rows of a tenant."""
    kept = []
    for table in ("users", "domain", "api_key", "session", "short_link", "invitation", "audit_event"):
        rows = await office.api.services.database.fetch_all(
            f"SELECT * FROM {table} WHERE workspace_id = $1 ORDER BY id", workspace_id
        )
        kept += [f"{table} {[str(value) for value in row]}" for row in rows]
    return kept
