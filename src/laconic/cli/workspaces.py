"""key create, key list, key rotate, key revoke: secrets of programs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import key_document, to_the_second
from laconic.cli.failures import CommandRefused
from laconic.cli.tables import Column, print_rows
from laconic.cli.values import DURATION
from laconic.clock import SECOND, now
from laconic.redirect.model import is_expired
from laconic.workspaces.model import LINKS_READ, LINKS_WRITE, SCOPES, Actor, ApiKey, command_actor

if TYPE_CHECKING:
    from laconic.wiring import Services

_LONGEST_NAME = 200
_COLUMNS = (
    Column("Prefix"),
    Column("Name", "text"),
    Column("State"),
    Column("Scopes", "text"),
    Column("Created", "moment"),
    Column("Expires", "moment"),
    Column("Last used", "moment"),
)


def in_workspace(command: Callable[..., Any]) -> Callable[..., Any]:
    """--workspace, for commands that work in one."""
    return click.option(
        "--workspace",
        "slug",
        metavar="SLUG",
        default="default",
        show_default=True,
        help="The workspace, by its slug.",
    )(command)


async def actor_in(services: "Services", slug: str) -> Actor:
    """Whoever has a shell here, acting in the workspace with this slug."""
    return command_actor((await services.tenants.find(slug)).id)


@click.group()
@shared_options
def key() -> None:
    """Make, list, rotate and revoke API keys."""


@key.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(sorted(SCOPES)),
    multiple=True,
    default=(LINKS_READ, LINKS_WRITE),
    show_default=True,
    help="What the key may do; say it once for each scope.",
)
@click.option("--expires-in", type=DURATION, metavar="DURATION", help="Such as 12h or 90d. Default: never.")
@in_workspace
@shared_options
@pass_call
def create(call: Call, name: str, scopes: tuple[str, ...], expires_in: int | None, slug: str) -> None:
    """Make an API key and print it, this once.

    \b
    Examples:
      laconic key create website
      laconic key create reports --scope links:read --scope analytics:read --expires-in 90d
      KEY=$(laconic key create website)
      curl -H "Authorization: Bearer $KEY" http://localhost:8000/api/v1/urls
    """
    if not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise click.UsageError(
            f"A key's name has 1 to {_LONGEST_NAME} printable characters.", click.get_current_context()
        )
    expires_at = None if expires_in is None else now() + expires_in * SECOND

    async def work(services: "Services") -> tuple[str, ApiKey]:
        actor = await actor_in(services, slug)
        return await services.api_keys.create(
            actor.workspace_id, name.strip(), frozenset(scopes), expires_at=expires_at, actor=actor
        )

    _show_secret(call, *call.run(work))


def _show_secret(call: Call, secret: str, made: ApiKey) -> None:
    call.show({**key_document(made), "secret": secret}, secret)
    if not call.json:
        click.echo("Keep it: it is shown only this once. Use: Authorization: Bearer lac_live_…", err=True)


@key.command("list")
@in_workspace
@shared_options
@pass_call
def list_keys(call: Call, slug: str) -> None:
    """Show the API keys by the beginning of their secrets.

    \b
    Columns: prefix, name, state, scopes, creation, expiry, last use.
    \b
    Example:
      laconic key list | cut -f 1,2
    """

    async def work(services: "Services") -> list[ApiKey]:
        return await services.api_keys.list(await actor_in(services, slug))

    keys = call.run(work)
    if call.json:
        call.show({"items": [key_document(one) for one in keys]})
        return
    print_rows(_COLUMNS, [_row(one) for one in keys])
    if not keys:
        click.echo("No keys. Make one with: laconic key create NAME", err=True)


def _row(one: ApiKey) -> tuple[str, ...]:
    state = "expired" if is_expired(one.expires_at, now()) else "active"
    return (
        one.key_prefix,
        one.name,
        state if one.is_active else "revoked",
        ",".join(sorted(one.scopes)),
        to_the_second(one.created_at),
        to_the_second(one.expires_at),
        to_the_second(one.last_used_at),
    )


async def _find(services: "Services", actor: Actor, prefix: str) -> ApiKey:
    for one in await services.api_keys.list(actor):
        if one.key_prefix == prefix and one.is_active:
            return one
    raise CommandRefused("key_unknown", f"There is no active key that begins with {prefix!r}.")


@key.command()
@click.argument("prefix")
@click.option(
    "--overlap",
    type=DURATION,
    metavar="DURATION",
    default="1d",
    show_default=True,
    help="How long the old secret goes on working, such as 1h.",
)
@in_workspace
@shared_options
@pass_call
def rotate(call: Call, prefix: str, overlap: int, slug: str) -> None:
    """Make a new secret for an API key; the old one goes on working for a while.

    \b
    Example:
      laconic key rotate lac_live_A1b2C3 --overlap 1h
    """

    async def work(services: "Services") -> tuple[str, ApiKey]:
        actor = await actor_in(services, slug)
        return await services.api_keys.rotate(actor, (await _find(services, actor, prefix)).id, overlap)

    _show_secret(call, *call.run(work))


@key.command()
@click.argument("prefix")
@in_workspace
@shared_options
@pass_call
def revoke(call: Call, prefix: str, slug: str) -> None:
    """End an API key. Servers refuse it within a second.

    \b
    Example:
      laconic key revoke lac_live_A1b2C3
    """

    async def work(services: "Services") -> None:
        actor = await actor_in(services, slug)
        await services.api_keys.revoke(actor, (await _find(services, actor, prefix)).id)

    call.run(work)
    call.show({"revoked": prefix}, f"Revoked {prefix}.")
