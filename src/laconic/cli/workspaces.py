"""key create, key list, key revoke: secrets of programs, for the default workspace."""

from typing import TYPE_CHECKING

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import key_document, to_the_second
from laconic.cli.failures import CommandRefused
from laconic.cli.tables import Column, print_rows
from laconic.cli.values import DURATION
from laconic.clock import SECOND, now
from laconic.redirect.model import is_expired
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, LINKS_READ, LINKS_WRITE, SCOPES, ApiKey

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
)


@click.group()
@shared_options
def key() -> None:
    """Make, list and revoke API keys."""


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
@shared_options
@pass_call
def create(call: Call, name: str, scopes: tuple[str, ...], expires_in: int | None) -> None:
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
        return await services.api_keys.create(
            DEFAULT_WORKSPACE_ID, name.strip(), frozenset(scopes), expires_at=expires_at
        )

    secret, made = call.run(work)
    call.show({**key_document(made), "secret": secret}, secret)
    if not call.json:
        click.echo("Keep it: it is shown only this once. Use: Authorization: Bearer lac_live_…", err=True)


@key.command("list")
@shared_options
@pass_call
def list_keys(call: Call) -> None:
    """Show the API keys by the beginning of their secrets.

    \b
    Columns: prefix, name, state, scopes, creation, expiry.
    \b
    Example:
      laconic key list | cut -f 1,2
    """

    async def work(services: "Services") -> list[ApiKey]:
        return await services.workspaces.list_keys(DEFAULT_WORKSPACE_ID)

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
    )


@key.command()
@click.argument("prefix")
@shared_options
@pass_call
def revoke(call: Call, prefix: str) -> None:
    """End an API key. Servers refuse it within a few seconds.

    \b
    Example:
      laconic key revoke lac_live_A1b2C3
    """

    async def work(services: "Services") -> None:
        if not await services.workspaces.revoke_key(DEFAULT_WORKSPACE_ID, prefix):
            raise CommandRefused("key_unknown", f"There is no active key that begins with {prefix!r}.")

    call.run(work)
    call.show({"revoked": prefix}, f"Revoked {prefix}.")
