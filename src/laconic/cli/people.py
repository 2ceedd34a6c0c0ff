"""user create-admin, create, invite, list, edit, sign-out, delete. Passwords are typed or piped, never arguments."""

import sys
from typing import TYPE_CHECKING

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import to_the_second, user_document, when
from laconic.cli.failures import CommandRefused
from laconic.cli.tables import Column, print_rows
from laconic.cli.workspaces import actor_in, in_workspace
from laconic.workspaces.model import ROLES, Invitation, Role, User

if TYPE_CHECKING:
    from laconic.wiring import Services

_COLUMNS = (
    Column("E-mail", "text"),
    Column("Name", "text"),
    Column("Role"),
    Column("Created", "moment"),
    Column("Last sign-in", "moment"),
)


@click.group()
@shared_options
def user() -> None:
    """Make, invite, list, change and remove users."""


def _read_password() -> str:
    """From the keyboard, twice and unseen; from a pipe, its first line."""
    if sys.stdin.isatty():
        return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
    return sys.stdin.readline().rstrip("\r\n")


@user.command("create-admin")
@click.argument("email")
@click.option("--name", "full_name", help="What to call the person.")
@shared_options
@pass_call
def create_admin(call: Call, email: str, full_name: str | None) -> None:
    """Make an admin of the default workspace who is the operator, too. The first user ends open mode.

    The password is asked for, or read from standard input.

    \b
    Example:
      laconic user create-admin ann@example.com
    """
    _create(call, email, "admin", full_name, "default", _read_password(), is_operator=True)


@user.command()
@click.argument("email")
@click.option(
    "--role", type=click.Choice(ROLES), default="member", show_default=True, help="What the user may do."
)
@click.option("--name", "full_name", help="What to call the person.")
@click.option("--no-password", is_flag=True, help="For people who sign in through the identity provider.")
@in_workspace
@shared_options
@pass_call
def create(call: Call, email: str, role: Role, full_name: str | None, no_password: bool, slug: str) -> None:
    """Make a user. The password is asked for, or read from standard input.

    \b
    Example:
      laconic user create bob@example.com --role viewer --workspace acme
    """
    _create(call, email, role, full_name, slug, None if no_password else _read_password())


def _create(
    call: Call,
    email: str,
    role: Role,
    full_name: str | None,
    slug: str,
    password: str | None,
    *,
    is_operator: bool = False,
) -> None:
    async def work(services: "Services") -> User:
        from laconic.workspaces.people.users import UserDraft

        actor = await actor_in(services, slug)
        draft = UserDraft(email, role, full_name, password, is_operator)
        return await services.people.users.create(actor, actor.workspace_id, draft)

    made = call.run(work)
    call.show(user_document(made), f"Made {made.email}, {made.role} of {slug}.")


@user.command()
@click.option("--email", help="For this person only. Default: whoever has the link.")
@click.option(
    "--role", type=click.Choice(ROLES), default="member", show_default=True, help="What the user may do."
)
@in_workspace
@shared_options
@pass_call
def invite(call: Call, email: str | None, role: Role, slug: str) -> None:
    """Print a link that makes a user, once, within a week.

    \b
    Example:
      laconic user invite --role admin --workspace acme
    """

    async def work(services: "Services") -> tuple[str, Invitation, bool]:
        actor, letters = await actor_in(services, slug), services.people.letters
        token, made = await services.people.invitations.invite(actor, actor.workspace_id, role, email)
        workspace = await services.tenants.get(actor.workspace_id)
        return letters.invitation_url(token), made, await letters.invite(made, workspace.name, token)

    url, made, mailed = call.run(work)
    document = {"id": str(made.id), "email": made.email, "role": made.role}
    call.show({**document, "expires_at": when(made.expires_at), "url": url, "mailed": mailed}, url)


@user.command()
@click.argument("email")
@in_workspace
@shared_options
@pass_call
def reset(call: Call, email: str, slug: str) -> None:
    """Print a link by which a user chooses a new password, once, within a day.

    \b
    Example:
      laconic user reset bob@example.com
    """

    async def work(services: "Services") -> tuple[str, int, bool]:
        actor, letters = await actor_in(services, slug), services.people.letters
        found = await _find(services, actor.workspace_id, email)
        made = await services.people.resets.make(actor, actor.workspace_id, found.id)
        return letters.reset_url(made.token), made.expires_at, await letters.reset(made.user, made.token)

    url, expires_at, mailed = call.run(work)
    call.show({"email": email, "expires_at": when(expires_at), "url": url, "mailed": mailed}, url)


@user.command("list")
@in_workspace
@shared_options
@pass_call
def list_users(call: Call, slug: str) -> None:
    """Show the users of a workspace.

    \b
    Columns: e-mail, name, role, creation, last sign-in.
    \b
    Example:
      laconic user list --workspace acme
    """

    async def work(services: "Services") -> list[User]:
        return await services.people.users.list((await services.tenants.find(slug)).id)

    users = call.run(work)
    if call.json:
        call.show({"items": [user_document(one) for one in users]})
        return
    rows = [
        (
            one.email,
            one.full_name or "",
            one.role,
            to_the_second(one.created_at),
            to_the_second(one.last_login_at),
        )
        for one in users
    ]
    print_rows(_COLUMNS, rows)


async def _find(services: "Services", workspace_id: int, email: str) -> User:
    for one in await services.people.users.list(workspace_id):
        if one.email.lower() == email.strip().lower():
            return one
    raise CommandRefused("user_unknown", f"There is no user {email!r} in this workspace.")


@user.command()
@click.argument("email")
@click.option("--role", type=click.Choice(ROLES), help="What the user may do.")
@click.option("--name", "full_name", help="What to call the person.")
@click.option(
    "--password", "new_password", is_flag=True, help="Ask for a new password, or read it from standard input."
)
@in_workspace
@shared_options
@pass_call
def edit(
    call: Call, email: str, role: Role | None, full_name: str | None, new_password: bool, slug: str
) -> None:
    """Change a user's role, name or password. A new password signs the person out everywhere.

    \b
    Examples:
      laconic user edit bob@example.com --role admin
      laconic user edit bob@example.com --password
    """
    said = {"role": role, "full_name": full_name, "password": _read_password() if new_password else None}
    fields = frozenset(name for name, value in said.items() if value is not None)

    async def work(services: "Services") -> User:
        from laconic.workspaces.people.users import UserEdit

        actor = await actor_in(services, slug)
        found = await _find(services, actor.workspace_id, email)
        change = UserEdit(fields, full_name, role, said["password"])
        return await services.people.users.change(actor, actor.workspace_id, found.id, change)

    after = call.run(work)
    call.show(user_document(after), f"{after.email} is {after.role} of {slug}.")


@user.command("sign-out")
@click.argument("email")
@in_workspace
@shared_options
@pass_call
def sign_out(call: Call, email: str, slug: str) -> None:
    """End all sessions of a user.

    \b
    Example:
      laconic user sign-out bob@example.com
    """

    async def work(services: "Services") -> int:
        actor = await actor_in(services, slug)
        found = await _find(services, actor.workspace_id, email)
        return await services.people.sessions.end_all(actor, found)

    ended = call.run(work)
    call.show({"ended": ended}, f"Ended {ended} session{'' if ended == 1 else 's'} of {email}.")


@user.command()
@click.argument("email")
@in_workspace
@shared_options
@pass_call
def delete(call: Call, email: str, slug: str) -> None:
    """Remove a user, with sessions and API keys. Links that the person has made stay.

    \b
    Example:
      laconic user delete bob@example.com
    """

    async def work(services: "Services") -> None:
        actor = await actor_in(services, slug)
        found = await _find(services, actor.workspace_id, email)
        await services.people.users.delete(actor, actor.workspace_id, found.id)

    call.run(work)
    call.show({"deleted": email}, f"Removed {email}.")
