"""Users, invitations and sessions: made, changed, ended, and told of."""

import asyncio

import pytest

from laconic.clock import DAY, HOUR, MINUTE
from laconic.errors import (
    ChoiceRefused,
    InvitationOver,
    LastAdmin,
    NameTaken,
    RecordUnknown,
    ScopeMissing,
    SignInFailed,
)
from laconic.workspaces.model import Actor, command_actor
from laconic.workspaces.people.sign_in import Attempt
from laconic.workspaces.people.users import UserDraft, UserEdit
from tests.workspaces.desk import OPERATOR, PASSWORD, Desk


async def test_an_e_mail_is_taken_once_in_each_workspace(desk: Desk) -> None:
    """Whatever its letter case; another workspace has its own. A removed user gives it back."""
    ann = await desk.user("ann@example.com")
    with pytest.raises(NameTaken):
        await desk.user("Ann@Example.com")
    acme = await desk.tenants.create(OPERATOR, "Acme", "acme")
    await desk.users.create(command_actor(acme.id), acme.id, UserDraft("ann@example.com", "admin"))
    await desk.user("bob@example.com")
    await desk.users.delete(OPERATOR, 1, ann.id)
    assert (await desk.user("ann@example.com")).id != ann.id


@pytest.mark.parametrize(
    "email", ["", "ann", "a@b@c", "a b@example.com", "a@" + "x" * 300, "a\0@example.com"]
)
async def test_what_is_no_e_mail_is_refused(desk: Desk, email: str) -> None:
    with pytest.raises(ChoiceRefused):
        await desk.user(email)


async def test_a_workspace_keeps_an_admin(desk: Desk) -> None:
    """Not even two who demote each other at the same moment leave it without."""
    ann, bob = await desk.user("ann@example.com"), await desk.user("bob@example.com")
    edit = UserEdit(frozenset({"role"}), role="viewer")
    outcomes = await asyncio.gather(
        *(desk.users.change(OPERATOR, 1, one.id, edit) for one in (ann, bob)), return_exceptions=True
    )
    assert [type(one) for one in outcomes].count(LastAdmin) == 1
    admins = [one for one in await desk.users.list(1) if one.role == "admin"]
    with pytest.raises(LastAdmin):
        await desk.users.delete(OPERATOR, 1, admins[0].id)


async def test_a_lower_role_ends_the_keys_that_go_beyond_it(desk: Desk) -> None:
    """And a removed user's keys end altogether."""
    await desk.user("root@example.com")
    ann = await desk.user("ann@example.com")
    await desk.keys.create(1, "wide", frozenset({"links:write"}), created_by=ann.id)
    await desk.keys.create(1, "narrow", frozenset({"links:read"}), created_by=ann.id)
    await desk.users.change(OPERATOR, 1, ann.id, UserEdit(frozenset({"role"}), role="viewer"))
    assert [key.name for key in await desk.keys.list(OPERATOR) if key.is_active] == ["narrow"]
    await desk.users.delete(OPERATOR, 1, ann.id)
    assert not [key for key in await desk.keys.list(OPERATOR) if key.is_active]


async def test_a_tenants_admin_cannot_become_the_operator(desk: Desk) -> None:
    """Neither by a new password for the operator nor by removing them."""
    operator = await desk.users.create(OPERATOR, 1, UserDraft("op@example.com", "admin", is_operator=True))
    ann = await desk.user("ann@example.com")
    admin = Actor(1, ann.scopes, user_id=ann.id, kind="user")
    with pytest.raises(ScopeMissing):
        await desk.users.change(
            admin, 1, operator.id, UserEdit(frozenset({"password"}), password="mine, all mine")
        )
    with pytest.raises(ScopeMissing):
        await desk.users.delete(admin, 1, operator.id)
    with pytest.raises(ScopeMissing):
        await desk.keys.create(1, "more", frozenset({"operator"}), actor=admin)


async def test_a_new_password_ends_the_other_sessions(desk: Desk) -> None:
    ann = await desk.user(password=PASSWORD)
    tokens = [await desk.sessions.start(ann, OPERATOR, None) for _ in range(2)]
    here = await desk.sessions.find(tokens[0])
    assert here is not None
    edit = UserEdit(frozenset({"password"}), password="another long password")
    await desk.users.change(here.actor(None), 1, ann.id, edit)
    assert await desk.sessions.find(tokens[0]) is not None
    assert await desk.sessions.find(tokens[1]) is None
    with pytest.raises(SignInFailed):
        await desk.sign_in.with_password(Attempt(ann.email, PASSWORD))


async def test_an_invitation_is_used_once_by_whoever_is_first(desk: Desk) -> None:
    """Two who open it at the same moment make one user."""
    token, _ = await desk.invitations.invite(OPERATOR, 1, "member")
    outcomes = await asyncio.gather(
        *(
            desk.invitations.accept(token, UserDraft(f"{name}@example.com", password=PASSWORD), None)
            for name in "ab"
        ),
        return_exceptions=True,
    )
    assert [type(one) for one in outcomes].count(InvitationOver) == 1
    assert [one.role for one in await desk.users.list(1)] == ["member"]


async def test_an_invitation_ends(desk: Desk) -> None:
    """By time, by being taken back, with its workspace; a made-up one never was."""
    old, _ = await desk.invitations.invite(OPERATOR, 1, "member")
    back, made = await desk.invitations.invite(OPERATOR, 1, "member")
    await desk.invitations.withdraw(OPERATOR, 1, made.id)
    acme = await desk.tenants.create(OPERATOR, "Acme", "acme")
    gone, _ = await desk.invitations.invite(command_actor(acme.id), acme.id, "member")
    await desk.tenants.delete(OPERATOR, acme.id)
    with pytest.raises(RecordUnknown):
        await desk.invitations.withdraw(OPERATOR, 1, made.id)
    desk.moved = 8 * DAY
    for token in (old, back, gone, "made-up"):
        with pytest.raises(InvitationOver):
            await desk.invitations.look(token)


async def test_a_session_is_renewed_every_hour(desk: Desk) -> None:
    """The old token works for a minute more, for requests under way, and then no more."""
    ann = await desk.user()
    token = await desk.sessions.start(ann, OPERATOR, "a browser")
    found = await desk.sessions.find(token)
    assert found is not None
    assert await desk.sessions.renew(found, token) is None
    desk.moved = HOUR + MINUTE
    renewed = [await desk.sessions.renew(found, token) for _ in range(2)]
    assert renewed[0]
    assert renewed[1] is None  # another request of the same browser was first
    assert await desk.sessions.find(token) is not None
    desk.moved += 2 * MINUTE
    assert await desk.sessions.find(token) is None
    assert await desk.sessions.find(renewed[0]) is not None


async def test_a_session_ends_by_itself(desk: Desk) -> None:
    """After two weeks without use, and after ninety days in any case."""
    ann = await desk.user()
    token = await desk.sessions.start(ann, OPERATOR, None)
    desk.moved = 15 * DAY
    assert await desk.sessions.find(token) is None
    desk.moved = 0
    for _ in range(9):
        desk.moved += 13 * DAY
        found = await desk.sessions.find(token)
        if found is None:
            break
        token = await desk.sessions.renew(found, token) or token
    assert 80 * DAY < desk.moved < 120 * DAY


async def test_the_trail_tells_who_did_what_from_where(desk: Desk) -> None:
    """Before and after, and never a password."""
    actor = Actor(1, OPERATOR.scopes, user_id=None, api_key_id=77, kind="api_key", address="192.0.2.1")
    ann = await desk.users.create(actor, 1, UserDraft("ann@example.com", "admin", password=PASSWORD))
    await desk.user("bob@example.com")
    await desk.users.change(
        actor, 1, ann.id, UserEdit(frozenset({"role", "password"}), role="viewer", password="a new password")
    )
    last = (await desk.events())[-1]
    assert (last.action, last.subject_id, last.actor_kind, last.actor_id, last.address) == (
        *("user.change", ann.id, "api_key", 77),
        "192.0.2.1",
    )
    assert '"role": "admin"' in str(last.before)
    assert '"role": "viewer"' in str(last.after)
    assert "argon2" not in str(await desk.events())
