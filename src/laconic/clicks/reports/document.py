"""A report as JSON and as CSV, for the API and the command line alike."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from laconic.clicks.reports.counts import Counts
from laconic.clicks.reports.lists import Group
from laconic.clicks.reports.report import Report, TopLink, Totals
from laconic.clock import to_rfc3339

CSV_COLUMNS = ("section", "name", "start", "clicks", "human_clicks", "bot_clicks")


def report_document(report: Report, ingest_lag_seconds: float | None) -> dict[str, Any]:
    period = report.question.period
    first, last = report.days
    document: dict[str, Any] = {
        "period": {**_bounds(report.totals), "tz": period.zone_name, "interval": period.interval},
        "traffic": report.question.traffic,
        "totals": _totals(report.totals),
        "previous": _previous(report.previous),
        "series": [
            {"start": to_rfc3339(bucket.start), "local": period.local(bucket.start), **_counts(counts)}
            for bucket, counts in report.series
        ],
        "groups": {name: _group(group) for name, group in report.groups.items()},
    }
    if report.top_links is not None:
        document["top_links"] = [_top_link(one) for one in report.top_links]
    document["about"] = {
        # Lists and visitors are kept by UTC day, whatever the zone of the series.
        "days": {"from": _day(first), "to": _day(last), "tz": "UTC"},
        "unique_visitors": "estimate_of_one_day" if first == last else "sum_of_daily_estimates",
        "ingest_lag_seconds": ingest_lag_seconds,
    }
    return document


def report_rows(report: Report) -> Iterator[tuple[Any, ...]]:
    """One row for each number of a report, under CSV_COLUMNS."""
    yield ("total", "clicks", to_rfc3339(report.totals.period.start), *_three(report.totals.counts))
    if report.previous is not None:
        yield (
            "previous",
            "clicks",
            to_rfc3339(report.previous.period.start),
            *_three(report.previous.counts),
        )
    for bucket, counts in report.series:
        yield ("series", report.question.period.interval, to_rfc3339(bucket.start), *_three(counts))
    for name, group in report.groups.items():
        for value, counts in group.values:
            yield (name, value, _day(report.days[0]), *_three(counts))
        if group.other.clicks:
            yield (f"{name}:other", "", _day(report.days[0]), *_three(group.other))
    for one in report.top_links or ():
        yield ("link", one.link.short_code, _day(report.days[0]), *_three(one.counts))


def _three(counts: Counts) -> tuple[int, int, int]:
    return counts.clicks, counts.clicks - counts.bot_clicks, counts.bot_clicks


def _counts(counts: Counts) -> dict[str, int]:
    return {"clicks": counts.clicks, "bot_clicks": counts.bot_clicks}


def _bounds(totals: Totals) -> dict[str, str]:
    return {"from": to_rfc3339(totals.period.start), "to": to_rfc3339(totals.period.end)}


def _totals(totals: Totals) -> dict[str, int | None]:
    clicks, human, bots = _three(totals.counts)
    return {
        "clicks": clicks,
        "human_clicks": human,
        "bot_clicks": bots,
        "unique_visitors": totals.visitors,
    }


def _previous(totals: Totals | None) -> dict[str, Any] | None:
    return None if totals is None else {**_bounds(totals), **_totals(totals)}


def _group(group: Group) -> dict[str, Any]:
    return {
        "values": [{"value": value, **_counts(counts)} for value, counts in group.values],
        "other": _counts(group.other),
    }


def _top_link(one: TopLink) -> dict[str, Any]:
    return {
        "id": str(one.link.link_id),
        "short_code": one.link.short_code,
        "original_url": one.link.original_url,
        "title": one.link.title,
        "is_deleted": bool(one.link.is_deleted),
        **_counts(one.counts),
    }


def _day(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
