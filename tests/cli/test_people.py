"""user create-admin, create, invite, reset, list, edit, sign-out, delete."""

import asyncio
import io
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from laconic.settings import Settings
from laconic.wiring import Services, open_services
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor
from laconic.workspaces.people.sign_in import Attempt
from tests.cli.conftest import Laconic, Result

BOB = "bob@example.com"
OLD, NEW = "correct horse battery", "another horse battery"


@pytest.fixture
def typing(laconic: Laconic, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`laconic` with a password on its standard input."""

    def run(password: str, *arguments: str) -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{password}\n"))
        return laconic(*arguments)

    return run


Ask = Callable[[Callable[[Services], Awaitable[object]]], object]


@pytest.fixture
def ask(migrated_url: str, tmp_path: Path) -> Ask:
    """What a server that has just been started says."""

    def run(question: Callable[[Services], Awaitable[object]]) -> object:
        async def work() -> object:
            settings = Settings(data=str(tmp_path / "asked"), database_url=migrated_url)
            async with open_services(settings, pooled=False) as services:
                return await question(services)

        return asyncio.run(work())

    return run


async def _sessions(services: Services) -> int:
    (user,) = await services.people.users.list(DEFAULT_WORKSPACE_ID)
    return await services.people.sessions.end_all(command_actor(DEFAULT_WORKSPACE_ID), user)


def _signs_in(password: str) -> Callable[[Services], Awaitable[object]]:
    return lambda services: services.people.sign_in.with_password(Attempt(BOB, password, None, "192.0.2.1"))


def test_the_first_admin_is_the_operator(typing: Callable[..., Result], laconic: Laconic) -> None:
    """A password that is too short is refused and nobody is made; no password is ever printed."""
    short = typing("short", "user", "create-admin", BOB, "--json")
    assert (short.status, short.problem()["code"]) == (1, "invalid_request")
    assert laconic("user", "list", "--json").json()["items"] == []
    made = typing(OLD, "user", "create-admin", BOB, "--name", "Bob", "--json")
    assert (made.json()["role"], made.json()["is_operator"], made.json()["full_name"]) == (
        "admin",
        True,
        "Bob",
    )
    assert OLD not in made.out + made.err


def test_a_user_has_the_role_and_the_workspace_that_were_said(
    typing: Callable[..., Result], laconic: Laconic
) -> None:
    laconic("workspace", "create", "acme")
    words = ("--role", "viewer", "--workspace", "acme")
    assert typing(OLD, "user", "create", BOB, *words).line() == f"Made {BOB}, viewer of acme."
    assert laconic("user", "list").out == ""
    email, name, role, *_ = laconic("user", "list", "--workspace", "acme").line().split("\t")
    assert (email, name, role) == (BOB, "", "viewer")
    again = typing(OLD, "user", "create", BOB, *words, "--json")
    assert (again.status, again.problem()["code"]) == (1, "name_taken")
    nowhere = typing(OLD, "user", "create", BOB, "--workspace", "nowhere", "--json")
    assert (nowhere.status, nowhere.problem()["code"]) == (1, "record_unknown")


def test_an_invitation_is_a_link_that_is_printed_alone(laconic: Laconic, ask: Ask) -> None:
    """And says for programs whom it is for."""
    made = laconic("user", "invite", "--role", "admin", "--email", BOB, "--json").json()
    assert (made["email"], made["role"], made["mailed"]) == (BOB, "admin", False)
    link = laconic("user", "invite").line()
    token = link.removeprefix("http://localhost:8000/dashboard/invitation/")
    assert token != link
    invitation = ask(lambda services: services.people.invitations.look(token))
    assert (invitation.role, invitation.email) == ("member", None)  # type: ignore[attr-defined]


def test_a_reset_link_gives_a_new_password_once(
    typing: Callable[..., Result], laconic: Laconic, ask: Ask
) -> None:
    """Whatever the letter case of the e-mail; for somebody who is not there, none is made."""
    typing(OLD, "user", "create", BOB)
    link = laconic("user", "reset", "Bob@Example.com").line()
    token = link.removeprefix("http://localhost:8000/dashboard/reset/")
    assert token != link
    ask(_signs_in(OLD))
    ask(lambda services: services.people.resets.use(token, NEW, None))
    ask(_signs_in(NEW))
    with pytest.raises(Exception, match=r".+"):
        ask(lambda services: services.people.resets.use(token, OLD, None))
    shown = laconic("user", "reset", BOB, "--json").json()
    assert shown.keys() == {"email", "expires_at", "url", "mailed"}
    missing = laconic("user", "reset", "nobody@example.com", "--json")
    assert (missing.status, missing.problem()["code"]) == (1, "user_unknown")


def test_a_user_is_changed_signed_out_and_removed(
    typing: Callable[..., Result], laconic: Laconic, ask: Ask
) -> None:
    typing(OLD, "user", "create", BOB)
    edited = laconic("user", "edit", BOB, "--role", "admin", "--name", "Bob", "--json").json()
    assert (edited["role"], edited["full_name"]) == ("admin", "Bob")

    async def sign_in_twice(services: Services) -> None:
        (user,) = await services.people.users.list(DEFAULT_WORKSPACE_ID)
        for _ in range(2):
            await services.people.sessions.start(user, command_actor(DEFAULT_WORKSPACE_ID), None)

    ask(sign_in_twice)
    assert laconic("user", "sign-out", BOB, "--json").json() == {"ended": 2}
    ask(sign_in_twice)
    assert typing(NEW, "user", "edit", BOB, "--password").status == 0
    assert ask(_sessions) == 0
    ask(_signs_in(NEW))
    last = laconic("user", "delete", BOB, "--json")
    assert (last.status, last.problem()["code"]) == (1, "last_admin")
    typing(OLD, "user", "create", "ann@example.com", "--role", "admin")
    assert laconic("user", "delete", BOB, "--json").json() == {"deleted": BOB}
    assert [one["email"] for one in laconic("user", "list", "--json").json()["items"]] == ["ann@example.com"]
