"""clicks export, clicks erase: raw clicks as a file, or no longer."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.links import domain_of, domain_option
from laconic.cli.private_files import private
from laconic.clock import now
from laconic.errors import LinkUnknown
from laconic.links.model import Link
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, command_actor

if TYPE_CHECKING:
    from laconic.clicks.events.model import ClickEvent
    from laconic.wiring import Services


@click.group()
@shared_options
def clicks() -> None:
    """Raw clicks: export them, or erase them on request."""


@clicks.command()
@click.argument("link", metavar="CODE|SHORT_URL")
@click.option("--format", "form", type=click.Choice(["csv", "json"]), default="csv", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Default: standard output.")
@click.option("--from", "since", metavar="TIME", help="RFC 3339, or a date. Default: all that is kept.")
@click.option("--to", "until", metavar="TIME", help="The same; a date is included.")
@click.option("--tz", default="UTC", show_default=True, metavar="ZONE", help="A time zone, for dates.")
@domain_option
@shared_options
@pass_call
def export(
    call: Call,
    link: str,
    form: str,
    output: str | None,
    since: str | None,
    until: str | None,
    tz: str,
    domain: str | None,
) -> None:
    """Write the raw clicks of a link, oldest first: CSV, or one JSON object a line.

    In CSV a text that a spreadsheet would take for a formula has an apostrophe before it.

    \b
    Examples:
      laconic clicks export sale24 -o sale24.csv
      laconic clicks export sale24 --format json --from 2030-01-01 | jq .country
    """
    from laconic.clicks.reports.periods import read_bounds

    start, end = read_bounds(since, until, tz, now())

    async def work(services: "Services") -> int:
        found = await _find(services, link, domain)
        written = 0
        with _opened(output) as file, _progress(found, output is not None) as advance:
            if form == "csv":
                file.write(_csv_head())
            async for batch in services.events.export(DEFAULT_WORKSPACE_ID, found.id, start, end):
                file.write(_WRITERS[form](found.short_code, batch))
                written += len(batch)
                advance(len(batch))
        return written

    written = call.run(work)
    if output is not None:
        call.show({"file": output, "clicks": written}, f"Wrote {written:,} clicks to {output}.")


@clicks.command()
@click.option("--link", metavar="CODE|SHORT_URL", help="All raw clicks of this link.")
@click.option("--visitor", metavar="HEX", help="All raw clicks of this visitor, as an export names them.")
@domain_option
@shared_options
@pass_call
def erase(call: Call, link: str | None, visitor: str | None, domain: str | None) -> None:
    """Erase raw clicks for good, of a link or of a visitor. Counts and charts stay as they are.

    \b
    Examples:
      laconic clicks erase --link sale24
      laconic clicks erase --visitor 6f1c0a52b7d3e980
    """
    if (link is None) == (visitor is None):
        raise click.UsageError("Say either --link or --visitor.", click.get_current_context())

    async def work(services: "Services") -> int:
        if visitor is not None:
            return await services.eraser.visitor(command_actor(DEFAULT_WORKSPACE_ID), visitor)
        found = await _find(services, link or "", domain)
        return await services.eraser.link(command_actor(DEFAULT_WORKSPACE_ID), found)

    erased = call.run(work)
    call.show({"erased": erased}, f"Erased {erased:,} raw clicks.")


async def _find(services: "Services", text: str, domain: str | None) -> Link:
    """Deleted ones too: their clicks must be erasable."""
    domain_id, code = await domain_of(services, text, domain)
    link = await services.links.find(DEFAULT_WORKSPACE_ID, domain_id, code)
    if link is None:
        raise LinkUnknown(code)
    return link


@contextlib.contextmanager
def _opened(output: str | None) -> Iterator[IO[str]]:
    if output is None:
        yield sys.stdout
        return
    # Lines of CSV bring their own ends. Raw clicks are not for everybody's eyes.
    with open(output, "w", encoding="utf-8", errors="replace", newline="", opener=private) as file:
        yield file


@contextlib.contextmanager
def _progress(link: Link, is_file: bool) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, unless that is no terminal or the clicks themselves go to this one."""
    if not sys.stderr.isatty() or not (is_file or not sys.stdout.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        # All clicks ever counted: more than there are, where old ones were thrown away.
        task = progress.add_task(f"Clicks of {link.short_code}", total=max(link.click_count, 1))
        yield lambda count: progress.advance(task, count)


def _csv_head() -> str:
    from laconic.clicks.csv_text import csv_lines
    from laconic.clicks.events.model import FIELDS

    return csv_lines([FIELDS])


def _csv(code: str, events: "list[ClickEvent]") -> str:
    from laconic.clicks.csv_text import csv_lines

    return csv_lines(event.values(code) for event in events)


def _json(code: str, events: "list[ClickEvent]") -> str:
    return "".join(json.dumps(event.document(code), ensure_ascii=False) + "\n" for event in events)


_WRITERS = {"csv": _csv, "json": _json}
