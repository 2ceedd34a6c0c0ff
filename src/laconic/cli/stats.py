"""stats: a link's clicks in the terminal, with a small chart and top lists."""

from typing import TYPE_CHECKING, Any

import click

from laconic.cli.call import Call, pass_call, shared_options
from laconic.cli.charts import column_chart
from laconic.cli.documents import target_of
from laconic.cli.failures import visible
from laconic.cli.links import domain_of, domain_option
from laconic.clock import now, to_rfc3339
from laconic.links.model import Link
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID

if TYPE_CHECKING:
    from laconic.clicks.reports.report import Report
    from laconic.wiring import Services

_LONGEST_DAYS = 1_830
_LISTS = {
    "country": "Countries",
    "city": "Cities",
    "device_type": "Devices",
    "browser": "Browsers",
    "os": "Systems",
    "referer": "Referrers",
    "language": "Languages",
}
_LIST_WIDTH = 36


@click.command(short_help="Show a link's clicks, with a chart.")
@click.argument("link", metavar="CODE|SHORT_URL")
@click.option(
    "--days", type=click.IntRange(1, _LONGEST_DAYS), default=30, show_default=True, help="Today included."
)
@click.option(
    "--tz", default="UTC", show_default=True, metavar="ZONE", help="A time zone, such as Europe/Berlin."
)
@click.option("--traffic", type=click.Choice(["all", "humans", "bots"]), default="all", show_default=True)
@click.option(
    "--limit", type=click.IntRange(1, 100), default=5, show_default=True, help="Entries of each list."
)
@domain_option
@shared_options
@pass_call
def stats(call: Call, link: str, days: int, tz: str, traffic: Any, limit: int, domain: str | None) -> None:
    """Show how often a link was followed: totals, a chart, and top lists.

    \b
    Examples:
      laconic stats sale24
      laconic stats sale24 --days 7 --tz Europe/Berlin
      laconic stats sale24 --json | jq .totals
    """
    from laconic.clicks.reports.document import report_document
    from laconic.clicks.reports.periods import days_before, read_period
    from laconic.clicks.reports.report import Question

    moment = now()
    period = read_period(days_before(moment, days, tz), None, None, tz, moment)
    question = Question(period, traffic=traffic, limit=limit)

    async def work(services: "Services") -> None:
        found = await services.browser.get(DEFAULT_WORKSPACE_ID, *await domain_of(services, link, domain))
        report = await services.reports.of_link(DEFAULT_WORKSPACE_ID, found.id, question)
        if call.json:
            call.show({"short_code": found.short_code, **report_document(report, None)})
        else:
            _print(found, services.directory.short_url(found.domain_id, found.short_code), report)

    call.run(work)


def _print(link: Link, short_url: str, report: "Report") -> None:
    from rich.columns import Columns
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False)
    console.print(Text(f"{short_url} → {visible(target_of(link))}", style="bold"), soft_wrap=True)
    console.print(f"{_totals(report)}\n", soft_wrap=True)
    for line in _chart(report, console.width):
        console.print(Text(line, style="cyan"), no_wrap=True, crop=False)
    console.print(f"{_axis(report, console.width)}\n", style="dim")
    lists = [
        _list(_LISTS[name], [(value, counts.clicks) for value, counts in group.values], group.other.clicks)
        for name, group in report.groups.items()
        if any(value for value, _ in group.values)
    ]
    console.print(Columns(lists, padding=(0, 2)) if lists else "No clicks in this time.")
    console.print(f"{link.click_count:,} clicks since {to_rfc3339(link.created_at)[:10]}.", style="dim")


def _totals(report: "Report") -> str:
    totals, previous = report.totals, report.previous
    people = totals.counts.clicks - totals.counts.bot_clicks
    said = [
        f"{totals.counts.clicks:,} clicks",
        f"{people:,} by people",
        f"{totals.counts.bot_clicks:,} by bots",
    ]
    if totals.visitors is not None:
        said.append(f"{totals.visitors:,} visitors, day by day")
    if previous is not None and previous.counts.clicks:
        change = totals.counts.clicks / previous.counts.clicks - 1
        said.append(f"{change:+.0%} to the time before")
    return " · ".join(said)


def _chart(report: "Report", width: int) -> list[str]:
    values = [counts.clicks for _, counts in report.series]
    lines = column_chart(values, width - 10)
    scale = [f"{max(values):>8,} ", *[" " * 9] * (len(lines) - 2), f"{0:>8} "]
    return [f"{mark}{line}" for mark, line in zip(scale, lines, strict=True)]


def _axis(report: "Report", width: int) -> str:
    period = report.question.period
    first, last = (period.local(report.series[place][0].start)[:16].replace("T", " ") for place in (0, -1))
    return f"{' ' * 9}{first} to {last}, by {period.interval}, {period.zone_name}"[:width]


def _list(heading: str, values: list[tuple[str, int]], other: int) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold", width=_LIST_WIDTH)
    table.add_column(heading, no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column("", justify="right", no_wrap=True)
    for value, clicks in values:
        table.add_row(Text(visible(value) or "unknown"), f"{clicks:,}")
    if other:
        table.add_row(Text("others", style="dim"), f"{other:,}")
    return table
