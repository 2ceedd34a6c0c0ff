"""secrets rotate: new secrets for those that may have been seen."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options

if TYPE_CHECKING:
    from laconic.wiring import Services


_PAGE = 100


@click.group()
@shared_options
def secrets() -> None:
    """Look after the installation's own secrets."""


@secrets.command()
@click.option("--sessions", is_flag=True, help="End every session: all people sign in again.")
@click.option("--visitors", is_flag=True, help="Forget what today's visitors are told apart by.")
@shared_options
@pass_call
def rotate(call: Call, sessions: bool, visitors: bool) -> None:
    """Make a new secret for forms and sign-in. Start the servers again afterwards.

    Forms that are open, and sign-ins that are under way, have to be begun anew. The secret behind the codes stays: with
    another one a code that was given out could be given again. API keys are rotated one by one.

    \b
    Examples:
      laconic secrets rotate
      laconic secrets rotate --sessions --visitors
    """

    async def work(services: "Services") -> dict[str, Any]:
        await services.works.store.rotate_signing_secret()
        ended = await _end_sessions(services) if sessions else 0
        forgotten = await _forget_visitors(call) if visitors else 0
        return {"rotated": ["signing"], "workspaces_signed_out": ended, "salts_forgotten": forgotten}

    document = call.run(work)
    lines = ["Rotated the secret of forms and sign-in."]
    if sessions:
        lines.append("Every session was ended.")
    if visitors:
        lines.append("Visitors of today are counted as new ones from now on.")
    call.show(document, *lines, "Start the servers again, so that they use it.")


async def _end_sessions(services: "Services") -> int:
    from laconic.workspaces.people.store import end_all_sessions

    ended, past = 0, -1
    while page := await services.workspaces.list_workspaces(past, _PAGE):
        for workspace in page:
            tenant = services.database.for_workspace(workspace.id)
            await tenant.transaction(partial(end_all_sessions, workspace_id=workspace.id))
        ended, past = ended + len(page), page[-1].id
    return ended


async def _forget_visitors(call: Call) -> int:
    """In the part of the database that only ingest writes."""
    from laconic.clicks.store import ClickStore
    from laconic.clock import DAY, now
    from laconic.storage.engines import open_database

    database = await open_database(call.settings().owner_database_url, writes="clicks")
    try:
        return await ClickStore(database).forget_salts(now() // DAY + 2)
    finally:
        await database.close()
