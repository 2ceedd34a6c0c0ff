"""backup, restore: everything there is, put away and put back."""

import asyncio
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.progress import bar_of_bytes
from laconic.clock import SECOND, now, to_rfc3339

if TYPE_CHECKING:
    from laconic.backups.manifest import Manifest


@click.command()
@click.argument("dest", type=click.Path(path_type=Path))
@shared_options
@pass_call
def backup(call: Call, dest: Path) -> None:
    """Write a backup of everything, while the server goes on: links, clicks, people, codes and secrets.

    DEST is a folder to be made; where one exists already, the backup is made inside it, named by its time. It holds
    secrets: keep it as you keep passwords.

    \b
    Examples:
      laconic backup /var/backups/laconic
      laconic backup monday --json
    """
    from laconic.backups.backup import Origin, back_up, place_for

    settings = call.settings()
    source = Origin(settings.owner_database_url, settings.journal_folder)
    place = place_for(dest, now())
    with bar_of_bytes("Backing up", is_wanted=not call.json) as bar:
        manifest = asyncio.run(back_up(source, place, bar.advance, bar.expect))
    counts = manifest.counts
    call.show(
        {"backup": str(place), **_document(manifest)},
        f"{place}: {counts['links']:,} links, {counts['clicks']:,} clicks, {manifest.bytes:,} bytes in"
        f" {(manifest.finished_at - manifest.began_at) / SECOND:.1f} s.",
    )


@click.command()
@click.argument("src", type=click.Path(path_type=Path))
@click.option("--check", is_flag=True, help="Only verify the backup; change nothing.")
@shared_options
@pass_call
def restore(call: Call, src: Path, check: bool) -> None:
    """Put a backup in the place of what is there, which is kept. The server must be stopped.

    The backup is verified first. Codes go on far beyond any that can have been given out since it was made.

    \b
    Examples:
      laconic restore /var/backups/laconic/laconic-20261116T031500Z --check
      laconic restore /var/backups/laconic/laconic-20261116T031500Z
    """
    from laconic.backups import restore as verbs
    from laconic.backups.manifest import Manifest

    settings = call.settings()
    target = verbs.Target(
        settings.owner_database_url,
        settings.data_folder,
        settings.journal_folder,
        tenant_url=settings.effective_database_url if settings.database_owner_url else "",
    )
    with bar_of_bytes("Verifying" if check else "Restoring", is_wanted=not call.json) as bar:
        bar.expect(Manifest.read(src).bytes)
        if check:
            manifest = asyncio.run(verbs.check(src, target.url, bar.advance))
            call.show(_document(manifest), f"{src} is whole: {_in_words(manifest)}.")
            return
        done = asyncio.run(verbs.restore(src, target, bar.advance))
    lines = [f"Restored {_in_words(done.manifest)}. Codes go on {done.skipped:,} counters later."]
    if done.kept:
        lines.append(f"What was there is kept: {done.kept}. Remove it when all is well.")
    if settings.redis_url:
        lines.append("Redis may remember links as they were: empty it (FLUSHDB) before the server starts.")
    call.show({**_document(done.manifest), "kept": done.kept, "skipped": done.skipped}, *lines)


def _document(manifest: "Manifest") -> dict[str, Any]:
    document = dataclasses.asdict(manifest)
    moments = {name: to_rfc3339(document[name]) for name in ("began_at", "finished_at")}
    return {**document, **moments, "bytes": manifest.bytes}


def _in_words(manifest: "Manifest") -> str:
    counts = manifest.counts
    return f"{counts['links']:,} links and {counts['clicks']:,} clicks of {to_rfc3339(manifest.began_at)}"
