"""Invitations and links for a new password: mailed where there is a mail server, shown in any case."""

from typing import Any

import pytest

from laconic.errors import InvitationOver
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor
from tests.outside.mail_server import serving_mail
from tests.web.api.opened import Api, OpenApi
from tests.web.people import PASSWORD, browser, make_user

pytestmark = pytest.mark.anyio

NEW = "another horse battery"


async def post(api: Api, path: str, body: dict[str, Any]) -> dict[str, Any]:
    async with api.client(x_api_key=await api.key("admin")) as client:
        answer = await client.post(path, json=body)
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def test_an_invitation_is_mailed_and_shown(open_api: OpenApi) -> None:
    """The mail holds the very link that the answer has; one that names nobody is only shown."""
    async with serving_mail() as box:
        options = {"smtp_host": "localhost", "smtp_port": box.port, "smtp_tls": "none"}
        async with open_api(host="0.0.0.0", **options) as api:
            made = await post(api, "/api/v1/invitations", {"email": "bob@example.com"})
            open_one = await post(api, "/api/v1/invitations", {"role": "viewer"})
    assert (made["mailed"], open_one["mailed"]) == (True, False)
    assert made["url"] in box.mails[0].get_content()
    assert box.mails[0]["From"] == "laconic@localhost"
    assert box.recipients == ["bob@example.com"]


async def test_a_mail_that_fails_loses_no_invitation(open_api: OpenApi) -> None:
    """The answer says so, and its link makes a user."""
    async with open_api(host="0.0.0.0", smtp_host="localhost", smtp_port=1, smtp_tls="none") as api:
        made = await post(api, "/api/v1/invitations", {"email": "bob@example.com"})
        assert made["mailed"] is False
        invitation = await api.services.people.invitations.look(made["url"].rpartition("/")[2])
        assert invitation.email == "bob@example.com"


async def test_a_reset_link_gives_a_new_password_once(closed_every_api: Api) -> None:
    """The old password works until then; afterwards it does not, and every session has ended."""
    api = closed_every_api
    user = await make_user(api, "bob@example.com")
    made = await post(api, f"/api/v1/users/{user.id}/password-reset", {})
    path = made["url"].removeprefix("http://localhost:8000")
    before, after = browser(api), browser(api, "203.0.113.10")
    async with before.client, after.client:
        assert (await before.sign_in("bob@example.com")).status_code == 303
        short = await after.send(path, "/dashboard/reset", reset=path.rpartition("/")[2], password="short")
        assert short.status_code == 422
        done = await after.send(path, "/dashboard/reset", reset=path.rpartition("/")[2], password=NEW)
        assert done.status_code == 303, done.text
        assert (await after.client.get("/api/v1/me")).status_code == 200
        assert (await before.client.get("/api/v1/me")).status_code == 401
        assert (await before.sign_in("bob@example.com", PASSWORD)).status_code == 401
        assert (await before.sign_in("bob@example.com", NEW)).status_code == 303
        assert (await after.client.get(path)).status_code == 410


async def test_a_new_reset_link_ends_the_one_before(closed_every_api: Api) -> None:
    """And a user who is gone has none."""
    people, actor = closed_every_api.services.people, command_actor(DEFAULT_WORKSPACE_ID)
    user = await make_user(closed_every_api, "bob@example.com", password=None)
    first = await people.resets.make(actor, DEFAULT_WORKSPACE_ID, user.id)
    second = await people.resets.make(actor, DEFAULT_WORKSPACE_ID, user.id)
    with pytest.raises(InvitationOver):
        await people.resets.use(first.token, NEW, None)
    assert (await people.resets.look(second.token)).id == user.id
    await people.users.delete(actor, DEFAULT_WORKSPACE_ID, user.id)
    with pytest.raises(InvitationOver):
        await people.resets.look(second.token)


async def test_an_admin_cannot_become_the_operator_by_a_reset_link(closed_api: Api) -> None:
    """As with a new password: only the operator may touch an operator."""
    operator = await make_user(closed_api, "op@example.com", "admin", is_operator=True)
    async with closed_api.client(x_api_key=await closed_api.key("admin")) as client:
        answer = await client.post(f"/api/v1/users/{operator.id}/password-reset", json={})
    assert answer.status_code == 403
