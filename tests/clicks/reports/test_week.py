"""Hours of the week and visitors by day, on every engine."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from laconic.clicks.reports.periods import QUARTER, read_period
from laconic.clicks.reports.report import Reports
from laconic.clicks.reports.store import ReportStore, Scope
from laconic.clicks.reports.week import hours_of_week
from laconic.clock import DAY, HOUR, from_datetime
from tests.clicks.rollups import Counted

NOW = from_datetime(datetime(2026, 11, 15, 9, 20, tzinfo=UTC))  # a Sunday
Count = Callable[..., Awaitable[None]]


@pytest.fixture
def reports(store: ReportStore) -> Reports:
    return Reports(store, now=lambda: NOW)


def at(day: int, hour: int, minute: int = 0) -> int:
    return from_datetime(datetime(2026, 11, day, hour, minute, tzinfo=UTC))


async def test_hours_of_the_week_follow_the_zone(
    reports: Reports, links: tuple[int, ...], count_clicks: Count
) -> None:
    """Sunday evening in UTC is Monday morning in Kathmandu, three quarters past the hour; bots can be left out."""
    await count_clicks(
        Counted(links[0], at(8, 18, 20), times=3),
        Counted(links[0], at(9, 18, 20), is_bot=True, times=5),
        Counted(links[1], at(8, 18, 20), times=7),
    )
    period = read_period(None, None, None, "Asia/Kathmandu", NOW)
    own, whole = Scope(links[0]), Scope()
    week = await reports.week(1, own, period, "humans")
    assert week[0][0] == 3
    assert sum(map(sum, week)) == 3
    assert (await reports.week(1, own, period, "all"))[1][0] == 5
    assert (await reports.week(1, whole, period, "humans"))[0][0] == 10
    assert not sum(map(sum, await reports.week(2, whole, period, "all")))


async def test_hours_of_a_long_period_are_those_of_its_last_weeks(
    reports: Reports, links: tuple[int, ...], count_clicks: Count
) -> None:
    """What is read is bounded, whatever the period."""
    await count_clicks(Counted(links[0], NOW - 80 * DAY), Counted(links[0], NOW - 90 * DAY))
    period = read_period("2026-01-01", None, None, "UTC", NOW)
    assert sum(map(sum, await reports.week(1, Scope(links[0]), period, "all"))) == 1


def test_an_hour_that_clocks_show_twice_counts_both_times() -> None:
    """And one that they leave out stays empty: Berlin, 25 October and 29 March 2026, both Sundays."""
    berlin = ZoneInfo("Europe/Berlin")
    back = from_datetime(datetime(2026, 10, 25, 0, 0, tzinfo=UTC))
    quarters = [(back + place * QUARTER, 1) for place in range(12)]
    assert hours_of_week(quarters, berlin)[6][2:4] == [8, 4]
    ahead = from_datetime(datetime(2026, 3, 29, 0, 0, tzinfo=UTC))
    assert hours_of_week([(ahead, 1), (ahead + HOUR, 1)], berlin)[6][1:4] == [1, 0, 1]


async def test_visitors_of_each_day_without_gaps(
    reports: Reports, links: tuple[int, ...], count_clicks: Count
) -> None:
    """A day without visitors is there, with none; bots are no visitors; the sum is the report's."""
    await count_clicks(
        Counted(links[0], at(13, 9), visitor="ann"),
        Counted(links[0], at(13, 10), visitor="bob"),
        Counted(links[0], at(15, 9), visitor="ann"),
        Counted(links[0], at(14, 9), is_bot=True),
        Counted(links[1], at(14, 9), visitor="eve"),
    )
    period = read_period("2026-11-12", None, None, "UTC", NOW)
    found = await reports.daily_visitors(1, Scope(links[0]), period)
    assert [visitors for _, visitors in found] == [0, 2, 0, 1]
    assert [day for day, _ in found] == list(range(found[0][0], NOW // DAY + 1))
    assert sum(visitors for _, visitors in await reports.daily_visitors(1, Scope(), period)) == 4
