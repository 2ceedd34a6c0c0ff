"""takedown, blocked, report: what the operator does, whoever's links they are."""

from typing import TYPE_CHECKING, Any, get_args

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.documents import block_document, report_document, takedown_document, to_the_second
from laconic.cli.failures import CommandRefused
from laconic.cli.tables import Column, print_rows
from laconic.cli.values import split_short_url
from laconic.oversight.model import BlockedHost, Report, ReportState
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, DEFAULT_WORKSPACE_ID, command_actor

if TYPE_CHECKING:
    from laconic.wiring import Services

_ACTOR = command_actor(DEFAULT_WORKSPACE_ID)
_MOST_SHOWN = 1_000
_BLOCKED_COLUMNS = (
    Column("Host"),
    Column("Reach"),
    Column("Reason", "text"),
    Column("Blocked", "moment"),
)
_REPORT_COLUMNS = (
    Column("Report"),
    Column("Link"),
    Column("Reason"),
    Column("Target", "text"),
    Column("Message", "text"),
    Column("Contact", "text"),
    Column("Sent", "moment"),
)


def _domain_of(services: "Services", text: str, domain: str | None) -> tuple[int, str]:
    """Domain and code of a link, whoever owns it."""
    host, code = split_short_url(text)
    host = domain or host
    if not host:
        return DEFAULT_DOMAIN_ID, code
    known = services.directory.find_served(host)
    if known is None:
        raise CommandRefused("link_unknown", f"{host} is no domain of this installation.")
    return known.id, code


@click.command()
@click.argument("link", metavar="CODE|SHORT_URL")
@click.option("--reason", help="Why. Visitors and the link's owner read it.")
@click.option("--undo", is_flag=True, help="Put the link back as it was.")
@click.option("--domain", metavar="HOST", help="The domain of the link. Default: the shared one.")
@shared_options
@pass_call
def takedown(call: Call, link: str, reason: str | None, undo: bool, domain: str | None) -> None:
    """Take a link down, whoever owns it: it answers 410 with the reason, on every worker within a second.

    \b
    Examples:
      laconic takedown sale24 --reason "Phishing"
      laconic takedown https://go.example.com/sale24 --reason "Court order 12/345"
      laconic takedown sale24 --undo
    """
    if undo == (reason is not None):
        raise click.UsageError("Say either --reason or --undo.", click.get_current_context())

    async def work(services: "Services") -> None:
        domain_id, code = _domain_of(services, link, domain)
        short_url = services.directory.short_url
        if reason is None:
            await services.takedowns.put_back(domain_id, code, _ACTOR)
            shown = {"put_back": short_url(domain_id, code)}
            call.show(shown, f"{short_url(domain_id, code)} is what it was.")
            return
        taken = await services.takedowns.take_down(domain_id, code, reason, _ACTOR)
        call.show(takedown_document(taken, short_url), f"Took {short_url(domain_id, code)} down.")

    call.run(work)


@click.group()
@shared_options
def blocked() -> None:
    """Keep links from leading to certain hosts."""


@blocked.command("add")
@click.argument("host")
@click.option("--reason", default="", help="For your own list.")
@click.option("--exact", is_flag=True, help="Only this name, not what lies below it.")
@shared_options
@pass_call
def add_blocked(call: Call, host: str, reason: str, exact: bool) -> None:
    """Block a host: new links to it are refused, those that are there answer 410.

    \b
    Examples:
      laconic blocked add evil.example --reason "Phishing kit"
      laconic blocked add files.example --exact
    """

    async def work(services: "Services") -> BlockedHost:
        return await services.blocks.block(host, _ACTOR, includes_subdomains=not exact, reason=reason)

    made = call.run(work)
    call.show(block_document(made), f"Blocked {made.host}{'' if exact else ' and every name below it'}.")


@blocked.command("remove")
@click.argument("host")
@shared_options
@pass_call
def remove_blocked(call: Call, host: str) -> None:
    """Let links lead to a host again.

    \b
    Example:
      laconic blocked remove evil.example
    """

    async def work(services: "Services") -> None:
        await services.blocks.unblock(host, _ACTOR)

    call.run(work)
    call.show({"removed": host}, f"{host} is no longer blocked.")


@blocked.command("list")
@click.option("--after", default="", metavar="HOST", help="Go on behind this name.")
@shared_options
@pass_call
def list_blocked(call: Call, after: str) -> None:
    """Show the blocked hosts by name, at most a thousand at once.

    \b
    Columns: host, reach, reason, since when.
    \b
    Example:
      laconic blocked list | cut -f 1
    """

    async def work(services: "Services") -> list[BlockedHost]:
        return await services.blocks.page(after, _MOST_SHOWN)

    hosts = call.run(work)
    if call.json:
        call.show({"items": [block_document(one) for one in hosts]})
        return
    print_rows(
        _BLOCKED_COLUMNS,
        [
            (
                one.host,
                "with all below" if one.includes_subdomains else "exact",
                one.reason or "",
                to_the_second(one.created_at),
            )
            for one in hosts
        ],
    )
    if not hosts:
        click.echo("No blocked hosts.", err=True)


@click.group()
@shared_options
def report() -> None:
    """Look at what visitors report."""


@report.command("list")
@click.option("--state", type=click.Choice(get_args(ReportState)), default="open", show_default=True)
@click.option(
    "--after", type=click.IntRange(min=0), default=0, metavar="ID", help="Go on behind this report."
)
@shared_options
@pass_call
def list_reports(call: Call, state: Any, after: int) -> None:
    """Show reports, those that have waited longest first, at most a thousand at once.

    \b
    Columns: id, short URL, reason, target when it was reported, message, contact, time.
    \b
    Example:
      laconic report list
    """

    async def work(services: "Services") -> None:
        found = await services.visitor_reports.page(state, after, _MOST_SHOWN)
        short_url = services.directory.short_url
        if call.json:
            call.show({"items": [report_document(one, short_url) for one in found]})
            return
        print_rows(
            _REPORT_COLUMNS,
            [
                (
                    str(one.id),
                    short_url(one.domain_id, one.short_code),
                    one.reason,
                    one.target,
                    one.message or "",
                    one.contact or "",
                    to_the_second(one.created_at),
                )
                for one in found
            ],
        )
        if not found:
            click.echo("No reports.", err=True)

    call.run(work)


@report.command()
@click.argument("report_id", metavar="ID", type=click.IntRange(min=0))
@shared_options
@pass_call
def dismiss(call: Call, report_id: int) -> None:
    """Say that nothing is wrong. Taking the link down is what upholds a report.

    \b
    Example:
      laconic report dismiss 1234567890
    """

    async def work(services: "Services") -> None:
        done: Report = await services.visitor_reports.dismiss(report_id, _ACTOR)
        call.show(report_document(done, services.directory.short_url), f"Dismissed {report_id}.")

    call.run(work)
