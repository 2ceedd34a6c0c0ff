"""Members, API keys and one's own account: what the pages do, and what they show once."""

import re

from laconic.workspaces.model import command_actor
from laconic.workspaces.people.users import UserEdit
from tests.web.pages.dashboard.office import Office, Person
from tests.web.people import PASSWORD, browser, make_user
from tests.web.site import outline

MEMBERS = "/dashboard/members"
KEYS = "/dashboard/keys"
ACCOUNT = "/dashboard/account"


async def test_an_invitation_is_shown_once_and_makes_a_member(office: Office) -> None:
    """The link stands in the answer to the form and on no page after it; withdrawn, it is dead."""
    made = await office.admin.send(MEMBERS, email="bob@example.com", role="viewer")
    assert made.status_code == 201
    link = re.search(r"http://localhost:8000(/dashboard/invitation/[\w-]+)", made.text)
    assert link
    page = await office.admin.open(MEMBERS)
    assert "bob@example.com" in page
    assert link[1] not in page
    assert (await office.api.client().get(link[1])).status_code == 200
    number = re.search(r"/invitations/(\d+)/withdraw", page)
    assert number
    assert "works no more" in await office.admin.follow(f"{MEMBERS}/invitations/{number[1]}/withdraw")
    assert (await office.api.client().get(link[1])).status_code == 410


async def test_a_mistake_is_told_beside_what_was_typed(office: Office) -> None:
    """An e-mail that is none comes back with the form, and nobody is invited."""
    refused = await office.admin.send(MEMBERS, email="no mail", role="admin")
    assert refused.status_code == 422
    assert 'value="no mail"' in refused.text
    assert '<option value="admin" selected>' in refused.text
    assert await office.api.services.people.invitations.list(1) == []
    assert (await office.admin.send(MEMBERS, role="emperor")).status_code == 422


async def test_an_admin_changes_a_member(office: Office) -> None:
    """Name and role, a new password, and the end."""
    user = office.viewer.user
    one = f"{MEMBERS}/{user.id}"
    assert "was changed" in await office.admin.follow(one, full_name="Vera", role="member")
    changed = await office.api.services.people.users.get(1, user.id)
    assert (changed.full_name, changed.role) == ("Vera", "member")
    assert (await office.admin.send(f"{one}/password", password="short")).status_code == 422
    assert "new password" in await office.admin.follow(f"{one}/password", password=PASSWORD)
    assert (await office.viewer.client.get(ACCOUNT)).status_code == 303
    assert "was removed" in await office.admin.follow(f"{one}/remove")
    assert "viewer@example.com" not in await office.admin.open(MEMBERS)


async def test_the_last_admin_stays(office: Office) -> None:
    """409 with the reason, and the role is what it was."""
    one = f"{MEMBERS}/{office.admin.user.id}"
    for action, fields in ((one, {"role": "viewer"}), (f"{one}/remove", {})):
        refused = await office.admin.send(action, **fields)
        assert refused.status_code == 409
        assert "only admin" in refused.text
    assert (await office.api.services.people.users.get(1, office.admin.user.id)).role == "admin"


async def test_an_admin_cannot_touch_the_operator(office: Office) -> None:
    """No form is shown, and one that is sent all the same is refused."""
    one = f"{MEMBERS}/{office.operator.user.id}"
    page = await office.admin.open(one)
    assert f'action="{one}' not in page
    for action in (one, f"{one}/password", f"{one}/remove"):
        refused = await office.admin.send(action, role="viewer", password=PASSWORD)
        assert refused.status_code == 403, action


async def test_a_key_is_shown_once_and_works(office: Office) -> None:
    """The secret stands in the answer to the form and on no page after it; with what was ticked, no more."""
    made = await office.member.send(KEYS, name="Script", scope=["links:read"], days="30")
    assert made.status_code == 201
    found = re.search(r"lac_live_\w{32}", made.text)
    assert found
    async with office.api.client(x_api_key=found[0]) as client:
        assert (await client.get("/api/v1/urls")).status_code == 200
        assert (await client.post("/api/v1/urls", json={})).status_code == 403
    page = await office.member.open(KEYS)
    assert "Script" in page
    assert found[0] not in page
    number = re.search(r"/keys/(\d+)/rotate", page)
    assert number
    rotated = await office.member.send(f"{KEYS}/{number[1]}/rotate", overlap="0")
    second = re.search(r"lac_live_\w{32}", rotated.text)
    assert second
    assert second[0] != found[0]
    for key in await office.api.services.api_keys.list(command_actor(1)):
        await office.member.send(f"{KEYS}/{key.id}/revoke")
    async with office.api.client(x_api_key=second[0]) as client:
        assert (await client.get("/api/v1/urls")).status_code == 401


async def test_nobody_gives_a_key_more_than_they_have(office: Office) -> None:
    """A member is not offered the scope admin, and does not get it either."""
    assert 'value="admin"' not in await office.member.open(KEYS)
    assert (await office.member.send(KEYS, name="x", scope=["admin"])).status_code == 403
    assert (await office.member.send(KEYS, name="x")).status_code == 422
    assert (await office.member.send(KEYS, name="x", scope=["links:read"], days="-3")).status_code == 422


async def test_a_person_changes_their_own_name_and_password(office: Office) -> None:
    """With the password they have; other browsers are signed out, this one stays."""
    user = await make_user(office.api, "mia@example.com")
    window = browser(office.api)
    async with window.client:
        assert (await window.sign_in(user.email)).status_code == 303
        mia = Person(user, window.client)
        assert "Saved" in await mia.follow(ACCOUNT, full_name="Mia")
        change = {"password": "another long one", "password_again": "another long one"}
        wrong = await mia.send(f"{ACCOUNT}/password", current_password="nonsense", **change)
        assert wrong.status_code == 401
        assert "another long one" not in wrong.text
        differ = {**change, "password_again": "something else"}
        refused = await mia.send(f"{ACCOUNT}/password", current_password=PASSWORD, **differ)
        assert refused.status_code == 422
        done = await mia.follow(f"{ACCOUNT}/password", current_password=PASSWORD, **change)
        assert "You have a new password" in done
        assert "Mia" in done


async def test_a_person_signs_one_browser_out(office: Office) -> None:
    """The other one, by its button; that of somebody else is not there."""
    sessions = office.api.services.people.sessions
    user = office.member.user
    other = await sessions.start(user, command_actor(1), "An old telephone")
    page = await office.member.open(ACCOUNT)
    assert "An old telephone" in page
    number = re.search(r"/sessions/(\d+)/end", page)
    assert number
    assert (await office.viewer.send(f"{ACCOUNT}/sessions/{number[1]}/end")).status_code == 404
    assert "signed out" in await office.member.follow(f"{ACCOUNT}/sessions/{number[1]}/end")
    assert await sessions.find(other) is None


async def test_words_from_outside_stay_words(office: Office) -> None:
    """Names, key names and user agents with markup in them change no page's tags."""
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    services = office.api.services
    before = outline(await office.admin.open(MEMBERS)), outline(await office.member.open(ACCOUNT))
    names = UserEdit(frozenset({"full_name"}), evil)
    await services.people.users.change(command_actor(1), 1, office.member.user.id, names)
    shown = outline(await office.member.open(ACCOUNT))
    assert shown == before[1]
    members = outline(await office.admin.open(MEMBERS))
    assert ("script",) not in members
    assert [tag for tag in members if "onerror" in tag] == []
    refused = await office.admin.send(KEYS, name=evil * 5, scope=["links:read"])
    assert refused.status_code == 422
    assert ("script",) not in outline(refused.text)
