"""reap: cleaning by hand."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor

if TYPE_CHECKING:
    from laconic.wiring import Services


@click.command()
@click.option("--dry-run", is_flag=True, help="Count what would be done, and change nothing.")
@shared_options
@pass_call
def reap(call: Call, dry_run: bool) -> None:
    """Retire expired links, blank what is long gone, remove what has served its time.

    The server does the same every LACONIC_CLEANUP_INTERVAL. Nothing a visitor sees depends on it.

    \b
    Examples:
      laconic reap --dry-run
      laconic reap
    """

    async def work(services: "Services") -> dict[str, Any]:
        if dry_run:
            return asdict(await services.reaper.forecast())
        document = asdict(await services.reaper.run(command_actor(DEFAULT_WORKSPACE_ID)))
        return {**document, "duration_ms": round(document["duration_ms"], 1)}

    document = call.run(work)
    will = "would be " if dry_run else ""
    call.show(
        document,
        f"{document['retired']} expired links {will}retired.",
        f"{document['blanked']} links that are long gone {will}blanked.",
        f"{document['removed']} old keys, sessions and change rows {will}removed.",
    )
    if not document.get("is_complete", True) and not call.json:
        click.echo("The time of a run was over; the next one goes on.")
