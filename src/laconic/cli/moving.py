"""export, import: links and clicks of a workspace out of here, or in here from anywhere."""

import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import click

from laconic import __version__
from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.export_file import lines_of, part_of, written_to
from laconic.cli.failures import REFUSED, CommandRefused, visible
from laconic.cli.private_files import private
from laconic.errors import DomainUnknown
from laconic.workspaces.model import Workspace, command_actor

if TYPE_CHECKING:
    from laconic.clicks.moved.add import MovedClicks
    from laconic.moving.records import Source
    from laconic.moving.report import Report
    from laconic.moving.resume import Beginning
    from laconic.wiring import Services

_SHOWN_LINES = 20


def _workspace_option(command: Any) -> Any:
    return click.option(
        "--workspace", "slug", metavar="SLUG", default="default", show_default=True, help="Whose links."
    )(command)


@click.command("export")
@click.option(
    "-o", "--output", metavar="FILE", help="Compressed where its name ends in .gz. Default: standard output."
)
@click.option("--no-days", is_flag=True, help="Without clicks by day.")
@click.option("--no-clicks", is_flag=True, help="Without single clicks.")
@click.option(
    "--resume", is_flag=True, help="Go on with a file that was cut off, FILE.part, if there is one."
)
@_workspace_option
@shared_options
@pass_call
def export_all(
    call: Call, output: str | None, no_days: bool, no_clicks: bool, resume: bool, slug: str
) -> None:
    """Write all links of a workspace, with their clicks, as a file that `laconic import` reads.

    \b
    Examples:
      laconic export -o links.ndjson.gz
      laconic export -o links.ndjson.gz --resume
      laconic export --no-days --no-clicks | jq -r 'select(.record == "link") | .short_code'
    """
    from laconic.moving.export import Choice, Exporter
    from laconic.moving.resume import Written

    if resume and output is None:
        raise click.UsageError("--resume needs a file, --output.", click.get_current_context())
    choice = Choice(days=not no_days, clicks=not no_clicks)

    async def work(services: "Services") -> Written:
        workspace = await _workspace(services, slug)
        exporter = Exporter(
            services.database, services.directory, source=await _own_name(services), version=__version__
        )
        beginning = _beginning(output) if resume and output is not None else None
        if beginning is not None:
            await exporter.check(workspace, choice, beginning)
        written = Written() if beginning is None else beginning.written
        kept_bytes = 0 if beginning is None else beginning.size
        with (
            written_to(output, kept_bytes) as file,
            _progress("Exporting", None, output is not None) as advance,
        ):
            async for text in exporter.lines(workspace, choice, written, beginning):
                file.write(text)
                advance(text.count("\n"))
        return written

    written = call.run(work)
    if output is not None:
        counts = {"links": written.links, "days": written.days, "clicks": written.clicks}
        line = (
            f"Wrote {written.links:,} links, {written.days:,} days and {written.clicks:,} clicks to {output}."
        )
        call.show({"file": output, **counts}, line)


def _beginning(output: str) -> "Beginning | None":
    """Of a file that was cut off; None where there is nothing to go on with."""
    from laconic.moving.resume import read_beginning

    try:
        return read_beginning(lines_of(part_of(output)))
    except FileNotFoundError:
        return None


@click.command("import")
@click.argument("source", metavar="FILE|URL")
@click.option(
    "--from",
    "kind",
    type=click.Choice(["laconic", "yourls", "shlink", "kutt", "bitly", "csv"]),
    help="Default: told by what is in it.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be done.")
@click.option("--overwrite", is_flag=True, help="Change links that are here and differ, targets too.")
@click.option("--no-clicks", is_flag=True, help="Links only.")
@click.option("--domain", metavar="HOST", help="For links whose source names no domain.")
@click.option(
    "--map-domain", "maps", multiple=True, metavar="OLD=NEW", help="A domain has another name here."
)
@click.option(
    "--column", "columns", multiple=True, metavar="FIELD=NAME", help="CSV and JSON: which column is it?"
)
@click.option("--tz", default="UTC", show_default=True, metavar="ZONE", help="For times that name no zone.")
@click.option("--name", metavar="NAME", help="Tells two sources of one kind apart. Default: the kind.")
@click.option(
    "--report", "report_file", metavar="FILE", help="Every line that was not simply taken in, as NDJSON."
)
@_workspace_option
@shared_options
@pass_call
def import_all(
    call: Call,
    source: str,
    kind: str | None,
    dry_run: bool,
    overwrite: bool,
    no_clicks: bool,
    domain: str | None,
    maps: tuple[str, ...],
    columns: tuple[str, ...],
    tz: str,
    name: str | None,
    report_file: str | None,
    slug: str,
) -> int:
    """Take in links and clicks: of another Laconic, YOURLS, Shlink, Kutt, Bitly, or any CSV.

    Codes stay as they are. What is here already stays, too: the same import again adds what is new, and nothing
    twice. Exit status 1 when something was not taken in.

    \b
    Examples:
      laconic import links.ndjson.gz --dry-run
      laconic import yourls-dump.sql
      laconic import postgresql://shlink:secret@localhost/shlink --domain go.example.com
      laconic import links.csv --column url=Destination --column code=Alias
    """
    from laconic.moving.bring import Importer, Plan
    from laconic.moving.report import Report
    from laconic.moving.sources.opening import open_source

    zone = _zone(tz)
    maps_, columns_ = _pairs("--map-domain", maps), _pairs("--column", columns)

    async def work(services: "Services") -> Report:
        from laconic.links.adopted.adopt import LinkAdopter

        workspace = await _workspace(services, slug)
        domain_id = _domain(services, workspace.id, domain)
        plan = Plan(workspace.id, domain_id, maps_, overwrite=overwrite, dry_run=dry_run)
        opened = await open_source(source, kind=kind, name=name, columns=columns_, zone=zone)
        with contextlib.ExitStack() as stack:
            report = Report(stack.enter_context(_teller(report_file)))
            try:
                is_own = opened.name == f"{await _own_name(services)}/{workspace.slug}"
                report.clicks_left_alone = is_own and not no_clicks
                _tell_source(call, opened)
                adopter = LinkAdopter(
                    services.database,
                    services.targets,
                    redirect_status=services.settings.redirect_status,
                    allocations=services.allocations,
                    cache=services.cache,
                )
                async with _clicks(services, workspace.id, opened, dry_run) as clicks:
                    adding = None if no_clicks or is_own else clicks
                    importer = Importer(adopter, adding, services.directory, plan, report)
                    advance = stack.enter_context(_progress("Importing", await opened.size(), True))
                    await importer.run(opened, advance)
                report.is_cut_short = not getattr(opened, "is_whole", True)
                await _record(services, workspace.id, opened, report, dry_run)
            finally:
                await opened.close()
        return report

    report = call.run(work)
    call.show({"dry_run": dry_run, **report.document()}, *_lines(report, dry_run))
    return 0 if report.is_whole else REFUSED


async def _workspace(services: "Services", slug: str) -> Workspace:
    found = await services.workspaces.find_slug(slug)
    if found is None:
        raise CommandRefused("workspace_unknown", f"There is no workspace {slug!r}.")
    return found


def _domain(services: "Services", workspace_id: int, host: str | None) -> int | None:
    if host is None:
        return None
    found = services.directory.find(workspace_id, host)
    if found is None or not found.is_served:
        raise DomainUnknown(host)
    return found.id


async def _own_name(services: "Services") -> str:
    """Of this installation: what its codes are made with is nowhere else."""
    from hashlib import blake2b

    secret = await services.works.store.permutation_secret()
    return blake2b(secret, digest_size=8, person=b"export").hexdigest()


@contextlib.asynccontextmanager
async def _clicks(
    services: "Services", workspace_id: int, source: "Source", dry_run: bool
) -> AsyncIterator["MovedClicks"]:
    """Clicks have a writer of their own."""
    from laconic.clicks.enrich import Enricher
    from laconic.clicks.moved.add import MovedClicks
    from laconic.storage.engines import open_database

    settings = services.settings
    database = await open_database(
        settings.effective_database_url, writes="clicks", owner_url=settings.database_owner_url
    )
    try:
        yield MovedClicks(
            database,
            workspace_id,
            source.name,
            lambda: Enricher.from_settings(settings.privacy, settings.geoip_file),
            retention=settings.click_retention,
            dry_run=dry_run,
        )
    finally:
        await database.close()


async def _record(
    services: "Services", workspace_id: int, source: "Source", report: "Report", dry_run: bool
) -> None:
    """In the audit trail, as a whole."""
    from laconic.clock import now
    from laconic.workspaces.audit.record import Event, record

    if dry_run:
        return
    counts = {"source": source.kind, "links": report.links["added"], "clicks": report.clicks_added}
    event = Event("link.import", None, None, after=counts)
    await services.database.for_workspace(workspace_id).transaction(
        lambda statements: record(statements, workspace_id, command_actor(workspace_id), event, now())
    )


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError):
        raise click.UsageError(f"{name!r} is no time zone.", click.get_current_context()) from None


def _pairs(option: str, values: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for value in values:
        key, equals, other = value.partition("=")
        if not equals or not key or not other:
            raise click.UsageError(f"{option} takes two names, as in OLD=NEW.", click.get_current_context())
        pairs[key.strip()] = other.strip()
    return pairs


@contextlib.contextmanager
def _teller(path: str | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    if path is None:
        yield lambda _: None
        return
    with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=private) as file:
        yield lambda line: print(json.dumps(line, ensure_ascii=False), file=file)


@contextlib.contextmanager
def _progress(what: str, total: int | None, is_file: bool) -> Iterator[Callable[[int], None]]:
    """A bar on standard error, unless that is no terminal or the records themselves go to this one."""
    if not sys.stderr.isatty() or not (is_file or not sys.stdout.isatty()):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)


def _tell_source(call: Call, source: "Source") -> None:
    """Before anything is written, so that a wrong guess can be stopped."""
    if call.json:
        return
    click.echo(f"Source: {source.kind} ({visible(source.name)})", err=True)
    columns = getattr(source, "columns", None)
    if columns:
        shown = ", ".join(f"{field} = {visible(column)}" for field, column in columns.items())
        click.echo(f"Columns: {shown}", err=True)


def _lines(report: "Report", dry_run: bool) -> Iterator[str]:
    if dry_run:
        yield "Nothing was written. An import would do this:"
    for what, said in (
        ("added", "added"),
        ("present", "here already"),
        ("differs", "here already, but different; left as they are"),
        ("changed", "changed"),
        ("conflict", "not taken in: the code leads elsewhere here"),
        ("refused", "refused"),
    ):
        if report.links[what] or what == "added":
            yield f"{report.links[what]:>10,} {_links(report.links[what])} {said}"
    yield f"{report.clicks_added:>10,} clicks added, {report.clicks_dated:,} of them with their time"
    for count, said in (
        (report.raw_clicks, "single clicks kept"),
        (report.clicks_without_link, "clicks of links that are not here"),
        (report.unreadable, "lines that cannot be read"),
    ):
        if count:
            yield f"{count:>10,} {said}"
    if report.clicks_left_alone:
        yield "The file comes from this installation: its clicks are here, and were left as they are."
    for note, count in report.notes.items():
        yield f"{count:>10,} {note}"
    if report.is_cut_short:
        yield "The file ends before its end: it was cut off, or is still being written."
    yield from _told(report)


def _links(count: int) -> str:
    return "link" if count == 1 else "links"


def _told(report: "Report") -> Iterator[str]:
    serious = [line for line in report.lines if line["what"] != "added"]
    for line in serious[:_SHOWN_LINES]:
        named = line.get("short_code") or ""
        said = line.get("detail") or ", ".join(line.get("fields", []))
        yield visible(f"  {line['what']}: {line['place']} {named} {said}".rstrip())
    if len(serious) > _SHOWN_LINES:
        yield "  … and more: --report FILE writes all of them."
