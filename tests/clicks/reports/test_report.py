"""Reports over rollups, on every engine."""

import random
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from laconic.clicks.reports.counts import Counts
from laconic.clicks.reports.document import CSV_COLUMNS, report_document, report_rows
from laconic.clicks.reports.periods import read_period
from laconic.clicks.reports.report import DIMENSIONS, Question, Report, Reports
from laconic.clicks.reports.store import ReportStore
from laconic.clock import DAY, HOUR, MINUTE, SECOND, from_datetime
from tests.clicks.rollups import Counted

NOW = from_datetime(datetime(2026, 11, 15, 9, 20, tzinfo=UTC))
Count = Callable[..., Awaitable[None]]


@pytest.fixture
def reports(store: ReportStore) -> Reports:
    return Reports(store, now=lambda: NOW)


def ask(
    start: str | None = None, end: str | None = None, interval: Any = None, tz: str = "UTC", **options: Any
) -> Question:
    return Question(read_period(start, end, interval, tz, NOW), **options)


def at(day: int, hour: int = 12, minute: int = 0) -> int:
    return from_datetime(datetime(2026, 11, day, hour, minute, tzinfo=UTC))


def many(links: tuple[int, ...], seed: int = 1) -> list[Counted]:
    """Clicks of five weeks, each with a value of every dimension."""
    chance = random.Random(seed)
    return [
        Counted(
            chance.choice(links),
            NOW - chance.randrange(35 * DAY),
            is_bot=chance.random() < 0.2,
            visitor=str(chance.randrange(50)),
            values={name: f"{name}{int(chance.expovariate(0.2))}" for name in DIMENSIONS},
            times=chance.randint(1, 3),
        )
        for _ in range(400)
    ]


def expected(clicks: list[Counted], start: int, end: int) -> Counts:
    inside = [click for click in clicks if start <= click.moment < end]
    return Counts(sum(click.times for click in inside), sum(click.times for click in inside if click.is_bot))


async def test_a_link_without_clicks(reports: Reports, links: tuple[int, ...]) -> None:
    """Every bucket is there, with zeros; every list is empty."""
    report = await reports.of_link(1, links[0], ask())
    assert [counts for _, counts in report.series] == [Counts()] * 30
    assert report.totals.counts == Counts()
    assert report.totals.visitors == 0
    assert report.previous is not None
    assert report.previous.counts == Counts()
    assert list(report.groups) == list(DIMENSIONS)
    assert all(not group.values and group.other == Counts() for group in report.groups.values())
    assert (await reports.of_workspace(1, ask())).top_links == []


@pytest.mark.parametrize("tz", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/New_York"])
@pytest.mark.parametrize("interval", ["hour", "day", "week", "month"])
async def test_buckets_hold_exactly_their_clicks(
    reports: Reports, count_clicks: Count, links: tuple[int, ...], tz: str, interval: str
) -> None:
    """In every zone, of a link and of the workspace, and they add up to the totals."""
    clicks = many(links)
    await count_clicks(*clicks)
    question = ask("2026-10-20", "2026-11-13", interval, tz)
    for scope, report in (
        (links[:1], await reports.of_link(1, links[0], question)),
        (links, await reports.of_workspace(1, question)),
    ):
        own = [click for click in clicks if click.link_id in scope]
        for bucket, counts in report.series:
            assert counts == expected(own, bucket.start, bucket.end)
        period = question.period
        assert report.totals.counts == expected(own, period.start, period.end)
        assert report.totals.counts.clicks == sum(counts.clicks for _, counts in report.series) > 0
        assert report.previous is not None
        before = period.before()
        assert report.previous.counts == expected(own, before.start, before.end)


async def test_an_hour_of_a_zone_has_the_clicks_its_clocks_saw(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """Counted the slow way, by the zone's own clock."""
    clicks = many(links)
    await count_clicks(*clicks)
    zone = ZoneInfo("Asia/Kathmandu")
    report = await reports.of_workspace(1, ask("2026-11-01", "2026-11-14", "hour", "Asia/Kathmandu"))
    slow: Counter[str] = Counter()
    for click in clicks:
        local = datetime.fromtimestamp(click.moment / SECOND, zone)
        if datetime(2026, 11, 1, tzinfo=zone) <= local < datetime(2026, 11, 15, tzinfo=zone):
            slow[local.replace(minute=0, second=0, microsecond=0).isoformat()] += click.times
    shown = {
        ask(tz="Asia/Kathmandu").period.local(bucket.start): counts.clicks for bucket, counts in report.series
    }
    assert {start: clicks for start, clicks in shown.items() if clicks} == dict(slow)


async def test_lists_name_the_most_frequent_and_the_rest(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """A list and its rest add up to all clicks of the UTC days, in every dimension."""
    clicks = many(links)
    await count_clicks(*clicks)
    question = ask("2026-10-20", "2026-11-13", tz="America/New_York", limit=3)
    report = await reports.of_workspace(1, question)
    first, last = report.days
    inside = [click for click in clicks if first <= click.moment // DAY <= last]
    for name, group in report.groups.items():
        slow: Counter[str] = Counter()
        for click in inside:
            slow[click.values[name]] += click.times
        assert [(value, counts.clicks) for value, counts in group.values] == sorted(
            slow.items(), key=lambda item: (-item[1], item[0])
        )[:3]
        listed = sum(counts.clicks for _, counts in group.values)
        assert listed + group.other.clicks == sum(click.times for click in inside)


@pytest.mark.parametrize("traffic", ["all", "humans", "bots"])
@pytest.mark.parametrize("slope", [0.0, 0.5, 1.5, 4.0])
async def test_lists_are_exact_however_the_clicks_are_spread(
    reports: Reports, count_clicks: Count, links: tuple[int, ...], slope: float, traffic: Any
) -> None:
    """All values alike, or a few far ahead; steady, or on one day only: leaders are found without sorting everything,
    and where that proves nothing, by sorting."""
    chance = random.Random(5)
    clicks = [
        Counted(
            links[0],
            at(day),
            is_bot=is_bot,
            values={"referer": f"r{place}", "country": f"c{place % 40}", "os": f"o{place % 7}"},
            times=max(int(chance.uniform(0, 40_000) / (place + 1) ** slope), 1),
        )
        for day in range(1, 11)
        for place in range(120)
        for is_bot in (False, True)
        if chance.random() < 0.6
    ]
    # Nothing on most days, most of all on one.
    clicks.append(Counted(links[0], at(4), values={"referer": "once"}, times=150_000))
    await count_clicks(*clicks)
    report = await reports.of_link(1, links[0], ask("2026-11-01", "2026-11-10", traffic=traffic, limit=5))
    wanted = [click for click in clicks if traffic == "all" or click.is_bot is (traffic == "bots")]
    for name in ("referer", "country", "os"):
        slow: Counter[str] = Counter()
        for click in wanted:
            slow[click.values.get(name, "")] += click.times
        group = report.groups[name]
        ordered = sorted(slow.items(), key=lambda item: (-item[1], item[0]))
        assert [(value, counts.clicks) for value, counts in group.values] == ordered[:5], name
        assert group.other.clicks == sum(slow.values()) - sum(count for _, count in ordered[:5])


@pytest.mark.parametrize("traffic", ["humans", "bots"])
async def test_people_and_bots_are_told_apart(
    reports: Reports, count_clicks: Count, links: tuple[int, ...], traffic: Any
) -> None:
    """Every number is as if there had been no other clicks; bots are not told apart from each other."""
    clicks = many(links)
    await count_clicks(*clicks)
    alone = [click for click in clicks if click.is_bot is (traffic == "bots")]
    report = await reports.of_workspace(1, ask("2026-10-20", "2026-11-13", traffic=traffic, limit=100))
    assert report.totals.counts == expected(alone, report.question.period.start, report.question.period.end)
    for group in report.groups.values():
        assert sum(counts.clicks for _, counts in group.values) == report.totals.counts.clicks
    assert report.top_links is not None
    assert sum(one.counts.clicks for one in report.top_links) == report.totals.counts.clicks
    assert (report.totals.visitors is None) is (traffic == "bots")


async def test_visitors_are_those_of_each_day(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """Whoever comes on two days counts twice, and the report says that it is a sum; bots never count."""
    await count_clicks(
        Counted(links[0], at(1), visitor="a"),
        Counted(links[0], at(1), visitor="b"),
        Counted(links[1], at(1), visitor="b"),
        Counted(links[0], at(2), visitor="a"),
        Counted(links[0], at(2), visitor="c", is_bot=True),
    )
    both = await reports.of_link(1, links[0], ask("2026-11-01", "2026-11-02"))
    assert both.totals.visitors == 3
    assert report_document(both, None)["about"]["unique_visitors"] == "sum_of_daily_estimates"
    one = await reports.of_workspace(1, ask("2026-11-01", "2026-11-01"))
    assert one.totals.visitors == 2
    assert report_document(one, None)["about"]["unique_visitors"] == "estimate_of_one_day"
    later = await reports.of_link(1, links[0], ask("2026-11-02", "2026-11-02"))
    assert (later.totals.visitors, later.previous and later.previous.visitors) == (1, 2)


async def test_top_links_are_counted_exactly(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """Of the period alone; a link of which there is no row any more is left out."""
    await count_clicks(
        Counted(links[0], at(1), times=5),
        Counted(links[1], at(2), times=7),
        Counted(links[2], at(9), times=100),
        Counted(987_654, at(2), times=9),
    )
    report = await reports.of_workspace(1, ask("2026-11-01", "2026-11-03"))
    assert report.top_links is not None
    assert [(one.link.link_id, one.counts.clicks) for one in report.top_links] == [
        (links[1], 7),
        (links[0], 5),
    ]
    assert report.top_links[0].link.short_code == f"code{links[1]}"
    limited = await reports.of_workspace(1, ask(limit=1))
    assert [one.link.link_id for one in limited.top_links or ()] == [links[2]]


async def test_top_links_of_a_long_time_come_from_the_totals(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    await count_clicks(Counted(links[0], at(1), times=5), Counted(links[1], at(2) - 300 * DAY, times=7))
    report = await reports.of_workspace(1, ask("2026-01-01", "2026-11-14"))
    assert [(one.link.link_id, one.counts.clicks) for one in report.top_links or ()] == [
        (links[1], 7),
        (links[0], 5),
    ]


async def test_p8_reports_hold_no_other_tenants_clicks(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """Neither by the workspace nor by a link that belongs to somebody else."""
    await count_clicks(*many(links))

    def is_empty(report: Report) -> bool:
        return (
            report.totals.counts == Counts()
            and not report.totals.visitors
            and not any(group.values for group in report.groups.values())
            and not report.top_links
        )

    assert is_empty(await reports.of_workspace(2, ask()))
    assert is_empty(await reports.of_link(2, links[0], ask()))
    assert not is_empty(await reports.of_link(1, links[0], ask()))


async def test_no_comparison_when_none_is_wanted(reports: Reports, links: tuple[int, ...]) -> None:
    report = await reports.of_link(1, links[0], ask(compare=False, dimensions=("os",)))
    assert report.previous is None
    assert list(report.groups) == ["os"]


async def test_a_table_holds_every_number(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """As CSV: one row each, whose sections add up as the report does."""
    await count_clicks(*many(links))
    report = await reports.of_workspace(1, ask(limit=2))
    rows = [dict(zip(CSV_COLUMNS, row, strict=True)) for row in report_rows(report)]
    by_section: Counter[str] = Counter()
    for row in rows:
        assert row["clicks"] == row["human_clicks"] + row["bot_clicks"]
        by_section[row["section"]] += row["clicks"]
    assert by_section["series"] == by_section["total"] == report.totals.counts.clicks
    assert by_section["country"] + by_section["country:other"] == by_section["os"] + by_section["os:other"]


async def test_a_quarter_belongs_to_one_bucket(
    reports: Reports, count_clicks: Count, links: tuple[int, ...]
) -> None:
    """The first microsecond of an hour is in it, the last before it is not."""
    await count_clicks(
        Counted(links[0], at(3, 10), times=2),
        Counted(links[0], at(3, 10) - 1),
        Counted(links[0], at(3, 11) - 1),
    )
    question = ask("2026-11-03T09:00:00Z", "2026-11-03T12:00:00Z", "hour")
    report = await reports.of_link(1, links[0], question)
    assert [counts.clicks for _, counts in report.series] == [1, 3, 0]
    assert [bucket.start for bucket, _ in report.series] == [at(3, 9), at(3, 10), at(3, 11)]
    assert report.series[0][0].end - report.series[0][0].start == HOUR == 4 * 15 * MINUTE
