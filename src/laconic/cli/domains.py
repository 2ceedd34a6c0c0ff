"""domain add, list, verify, edit, remove: hosts that links live on, for the default workspace."""

from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import domain_document, to_the_second
from laconic.cli.tables import Column, print_rows
from laconic.workspaces.domains.model import DNS_LABEL, HTTP_PATH, Domain, DomainDraft, DomainEdit
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor

if TYPE_CHECKING:
    from laconic.wiring import Services

_ACTOR = command_actor(DEFAULT_WORKSPACE_ID)
_COLUMNS = (
    Column("Host"),
    Column("State"),
    Column("Default"),
    Column("Root", "text"),
    Column("Not found", "text"),
    Column("Added", "moment"),
)


def _target_options(command: Any) -> Any:
    root = click.option("--root", metavar="URL", help="Where the bare host sends visitors. Empty: nowhere.")
    not_found = click.option(
        "--not-found", metavar="URL", help="Where unknown codes send visitors. Empty: a 404."
    )
    return root(not_found(command))


def _trusted_option(command: Any) -> Any:
    return click.option(
        "--trusted", is_flag=True, help="You vouch for it, as the operator: no proof is looked for."
    )(command)


@click.group()
@shared_options
def domain() -> None:
    """Serve links on hosts of your own."""


@domain.command()
@click.argument("host")
@_target_options
@_trusted_option
@shared_options
@pass_call
def add(call: Call, host: str, root: str | None, not_found: str | None, trusted: bool) -> None:
    """Add a domain and print what proves that it is yours.

    \b
    Examples:
      laconic domain add go.example.com
      laconic domain add go.example.com --trusted --root https://example.com/
    """
    draft = DomainDraft(host, root or None, not_found or None)

    async def work(services: "Services") -> None:
        added = await services.domains.add(_ACTOR, draft, is_trusted=trusted)
        _show(call, services, added)

    call.run(work)


@domain.command("list")
@shared_options
@pass_call
def list_domains(call: Call) -> None:
    """Show the domains that links can live on.

    \b
    Columns: host, state, default, root target, not-found target, creation.
    \b
    Example:
      laconic domain list | cut -f 1,2
    """

    async def work(services: "Services") -> None:
        domains = await services.domains.list_all(DEFAULT_WORKSPACE_ID)
        default_id = services.directory.default_of(DEFAULT_WORKSPACE_ID)
        if call.json:
            call.show({"items": [domain_document(one, default_id) for one in domains]})
            return
        print_rows(_COLUMNS, [_row(one, default_id) for one in domains])

    call.run(work)


def _row(one: Domain, default_id: int) -> tuple[str, ...]:
    return (
        one.host,
        _state(one),
        "default" if one.id == default_id else "",
        one.root_target or "",
        one.not_found_target or "",
        to_the_second(one.created_at),
    )


def _state(one: Domain) -> str:
    if one.verified_at is None:
        return "not proved"
    if one.is_shared:
        return "shared"
    return "proof missing" if one.lapsed_at is not None else "proved"


@domain.command()
@click.argument("host")
@click.option(
    "--method",
    type=click.Choice(["any", "dns", "http"]),
    default="any",
    show_default=True,
    help="Where to look.",
)
@_trusted_option
@shared_options
@pass_call
def verify(call: Call, host: str, method: Any, trusted: bool) -> None:
    """Look for the proof of a domain, now.

    \b
    Examples:
      laconic domain verify go.example.com
      laconic domain verify go.example.com --trusted
    """

    async def work(services: "Services") -> None:
        if trusted:
            proved = await services.domains.trust(_ACTOR, host)
        else:
            proved = await services.domains.verify(_ACTOR, host, method)
        _show(call, services, proved)

    call.run(work)


@domain.command()
@click.argument("host")
@_target_options
@click.option("--default/--no-default", "is_default", default=None, help="New links go there, or no longer.")
@shared_options
@pass_call
def edit(call: Call, host: str, root: str | None, not_found: str | None, is_default: bool | None) -> None:
    """Change a domain. What is not named stays; every worker follows within a second.

    \b
    Examples:
      laconic domain edit go.example.com --default
      laconic domain edit go.example.com --not-found https://example.com/ --root ""
    """
    values: dict[str, Any] = {}
    if is_default is not None:
        values["is_default"] = is_default
    for field, said in (("root_target", root), ("not_found_target", not_found)):
        if said is not None:
            values[field] = said or None
    if not values:
        raise click.UsageError(
            "Nothing to change: say what, for example --root.", click.get_current_context()
        )

    async def work(services: "Services") -> None:
        change = DomainEdit(frozenset(values), **values)
        _show(call, services, await services.domains.change(_ACTOR, host, change))

    call.run(work)


@domain.command()
@click.argument("host")
@shared_options
@pass_call
def remove(call: Call, host: str) -> None:
    """Give a domain up. Refused while links live on it.

    \b
    Example:
      laconic domain remove go.example.com
    """

    async def work(services: "Services") -> None:
        await services.domains.remove(_ACTOR, host)

    call.run(work)
    call.show({"removed": host}, f"Removed {host}.")


@domain.command()
@click.argument("host")
@click.option("--yes", is_flag=True, help="Do not ask.")
@shared_options
@pass_call
def end(call: Call, host: str, yes: bool) -> None:
    """End a domain, whichever workspace has it and whether or not links live on it, such as one that was sold.

    \b
    Example:
      laconic domain end go.example.com --yes
    """
    if not yes:
        click.confirm(f"End the domain {host!r}? Its links stop working.", abort=True, err=True)

    async def work(services: "Services") -> str:
        return (await services.domains.end(_ACTOR, host)).host

    ended = call.run(work)
    call.show({"ended": ended}, f"Ended {ended}: whoever proves it from now on has it.")


def _show(call: Call, services: "Services", one: Domain) -> None:
    document = domain_document(one, services.directory.default_of(DEFAULT_WORKSPACE_ID))
    if one.verified_at is not None:
        call.show(document, f"{one.host} is served.")
        return
    call.show(
        document,
        f"{one.host} is not served yet. Prove that it is yours in one of two ways:",
        f"  DNS   {DNS_LABEL}.{one.host} TXT {one.proof_text}",
        f"  HTTP  http://{one.host}{HTTP_PATH} holds {one.proof_text}",
        f"Then: laconic domain verify {one.host}",
    )
