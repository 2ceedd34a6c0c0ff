"""db migrate, db status: the schema of the database."""

import asyncio
from typing import Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.failures import REFUSED
from laconic.cli.places import place_of_database


@click.group()
@shared_options
def db() -> None:
    """Look after the database's schema."""


@db.command()
@shared_options
@pass_call
def migrate(call: Call) -> None:
    """Bring the database to this release's schema. Servers do the same at their start.

    \b
    Example:
      laconic db migrate
    """
    from laconic.storage import engines

    settings = call.settings()
    applied = asyncio.run(engines.migrate(settings.effective_database_url, settings.database_owner_url))
    call.show({"applied": applied}, *(f"Applied {name}." for name in applied))
    if not applied and not call.json:
        click.echo("Nothing to do: the schema is up to date.")


@db.command()
@shared_options
@pass_call
def status(call: Call) -> int:
    """Show engine, schema and sizes. Exit status 1 when this release and the database do not match.

    \b
    Examples:
      laconic db status
      laconic db status --json
    """
    url = call.settings().owner_database_url
    document = asyncio.run(_status(url))
    lines = [
        f"Engine   {document['engine']}",
        f"Place    {place_of_database(url)}",
        f"Schema   {_schema_in_words(document)}",
        *(f"{_label(name):<8} {_readable(size)}" for name, size in document["sizes"].items()),
    ]
    call.show(document, *lines)
    return 0 if document["applied"] == document["known"] else REFUSED


async def _status(url: str) -> dict[str, Any]:
    from laconic.storage.engines import open_database, schema_status

    schema = await schema_status(url)
    sizes: dict[str, int] = {}
    if schema.applied:
        # Opening would make a database that is not there.
        database = await open_database(url)
        try:
            sizes = await database.sizes()
        finally:
            await database.close()
    return {"engine": schema.engine, "applied": schema.applied, "known": schema.known, "sizes": sizes}


def _schema_in_words(document: dict[str, Any]) -> str:
    applied, known = document["applied"], document["known"]
    if applied == 0:
        return f"none yet; `laconic db migrate` or `laconic serve` makes version {known}"
    if applied < known:
        return f"{applied}, to be brought to {known} by `laconic db migrate` or `laconic serve`"
    if applied > known:
        return f"{applied}, newer than this release, which knows {known}"
    return f"{applied}, up to date"


def _label(name: str) -> str:
    return name.upper() if name == "wal" else name.capitalize()


def _readable(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TiB"
