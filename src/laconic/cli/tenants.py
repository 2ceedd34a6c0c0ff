"""workspace create, list, edit, delete."""

from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import to_the_second, workspace_document
from laconic.cli.tables import Column, print_rows
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, Workspace, command_actor

if TYPE_CHECKING:
    from laconic.wiring import Services

_COLUMNS = (Column("Slug"), Column("Name", "text"), Column("Choices", "text"), Column("Created", "moment"))
_PAGE = 500


@click.group()
@shared_options
def workspace() -> None:
    """Make, list, change and delete workspaces."""


@workspace.command()
@click.argument("slug")
@click.option("--name", help="What people call it. Default: the slug.")
@shared_options
@pass_call
def create(call: Call, slug: str, name: str | None) -> None:
    """Make a workspace, and print the link by which its first admin comes in.

    \b
    Example:
      laconic workspace create acme --name "Acme Ltd"
    """

    async def work(services: "Services") -> tuple[Workspace, str]:
        actor = command_actor(DEFAULT_WORKSPACE_ID)
        made = await services.tenants.create(actor, name or slug, slug)
        token, _ = await services.people.invitations.invite(command_actor(made.id), made.id, "admin")
        return made, f"{services.settings.base_url}/dashboard/invitation/{token}"

    made, url = call.run(work)
    call.show({**workspace_document(made), "invitation_url": url}, url)
    if not call.json:
        click.echo("Send this link to its first admin: it works once, for a week.", err=True)


@workspace.command("list")
@shared_options
@pass_call
def list_workspaces(call: Call) -> None:
    """Show the workspaces.

    \b
    Columns: slug, name, what it has chosen, creation.
    \b
    Example:
      laconic workspace list
    """

    async def work(services: "Services") -> list[Workspace]:
        found: list[Workspace] = []
        while page := await services.tenants.page(found[-1].id if found else 0, _PAGE):
            found += page
        return found

    found = call.run(work)
    if call.json:
        call.show({"items": [workspace_document(one) for one in found]})
        return
    print_rows(
        _COLUMNS, [(one.slug, one.name, _choices(one), to_the_second(one.created_at)) for one in found]
    )


def _choices(one: Workspace) -> str:
    settings = workspace_document(one)["settings"]
    return " ".join(f"{name}={value}" for name, value in settings.items() if value not in (None, False))


@workspace.command()
@click.argument("slug")
@click.option("--name", help="What people call it.")
@click.option("--deterministic/--no-deterministic", default=None, help="The same URL gets the same code.")
@click.option(
    "--redirect-status", type=click.Choice(["301", "302", "307", "308"]), help="For links that do not say."
)
@click.option("--expires-in-hours", type=click.IntRange(1, 8760), help="For links that do not say.")
@click.option("--click-retention-days", type=click.IntRange(1, 3650), help="How long single clicks are kept.")
@click.option("--privacy", type=click.Choice(["full", "truncate", "none"]), help="What is kept of addresses.")
@click.option("--reset", is_flag=True, help="First take back all that was chosen.")
@shared_options
@pass_call
def edit(call: Call, /, slug: str, name: str | None, reset: bool, **said: Any) -> None:
    """Change a workspace's name and what it has chosen.

    \b
    Examples:
      laconic workspace edit acme --deterministic --redirect-status 301
      laconic workspace edit acme --reset
    """
    from laconic.workspaces.tenants import WorkspaceEdit

    if said["redirect_status"] is not None:
        said["redirect_status"] = int(said["redirect_status"])
    chosen: dict[str, Any] = {**dict.fromkeys(said), "deterministic": False} if reset else {}
    chosen |= {option: value for option, value in said.items() if value is not None}

    async def work(services: "Services") -> Workspace:
        found = await services.tenants.find(slug)
        return await services.tenants.change(command_actor(found.id), found.id, WorkspaceEdit(name, chosen))

    after = call.run(work)
    call.show(workspace_document(after), f"{after.slug}: {_choices(after) or 'as the installation has it'}")


@workspace.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared_options
@pass_call
def delete(call: Call, slug: str, yes: bool) -> None:
    """Delete a workspace: nobody gets in, and its links answer 410. Its slug is never given again.

    \b
    Example:
      laconic workspace delete acme --yes
    """
    if not yes:
        click.confirm(f"Delete the workspace {slug!r} and all its links?", abort=True, err=True)

    async def work(services: "Services") -> int:
        from laconic.links.retire import delete_links_of

        found = await services.tenants.find(slug)
        await services.tenants.delete(command_actor(found.id), found.id)
        return await delete_links_of(services.database, found.id, most_batches=1_000_000)

    links = call.run(work)
    call.show({"deleted": slug, "links": links}, f"Deleted {slug} and {links} links.")
