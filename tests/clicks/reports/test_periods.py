"""Periods and their buckets, in any zone."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.reports.periods import QUARTER, Interval, Period, read_period, read_zone
from laconic.clock import DAY, HOUR, MINUTE, from_datetime, to_rfc3339
from laconic.errors import ChoiceRefused

NOW = from_datetime(datetime(2026, 11, 15, 9, 20, tzinfo=UTC))
zones = st.sampled_from(sorted(available_timezones() - {"localtime", "posixrules", "Factory"}))
moments = st.integers(
    from_datetime(datetime(2000, 1, 5, tzinfo=UTC)), from_datetime(datetime(2099, 1, 1, tzinfo=UTC))
)


def period(start: str | None = None, end: str | None = None, **options: str) -> Period:
    asked = {"interval": None, "zone_name": "UTC", **options}
    return read_period(start, end, asked["interval"], str(asked["zone_name"]), NOW)  # type: ignore[arg-type]


def starts(one: Period) -> list[str]:
    return [one.local(bucket.start) for bucket in one.buckets()]


def test_the_default_is_thirty_days_with_today() -> None:
    """From a midnight on, to the quarter of an hour that has begun."""
    one = period()
    assert (to_rfc3339(one.start), to_rfc3339(one.end)) == ("2026-10-17T00:00:00Z", "2026-11-15T09:30:00Z")
    assert (one.interval, len(one.buckets())) == ("day", 30)


def test_dates_are_days_of_the_zone_and_the_last_one_is_included() -> None:
    one = period("2026-11-01", "2026-11-02", zone_name="Asia/Tokyo")
    assert (to_rfc3339(one.start), to_rfc3339(one.end)) == ("2026-10-31T15:00:00Z", "2026-11-02T15:00:00Z")


@pytest.mark.parametrize(
    "text", ["2026-11-01T02:00:00+02:00", "2026-11-01T02:00:00 02:00", "2026-11-01T00:00:00Z", "2026-11-01"]
)
def test_a_moment_may_be_written_in_several_ways(text: str) -> None:
    """Also with a plus sign that was not encoded and came as a space."""
    assert to_rfc3339(period(text, "2026-11-03").start) == "2026-11-01T00:00:00Z"


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"start": "yesterday"}, "from"),
        ({"start": "2026-11-01T00:00:00"}, "from"),
        ({"end": "2026-13-01"}, "to"),
        ({"start": "1999-12-31"}, "from"),
        ({"end": "2100-01-02"}, "to"),
        ({"end": "9999-12-31"}, "to"),
        ({"start": "0001-01-01T00:00:00+14:00"}, "from"),
        ({"start": "2026-11-10", "end": "2026-11-09"}, "from"),
        ({"start": "2027-01-01"}, "from"),
        ({"start": "2026-10-01", "interval": "hour"}, "interval"),
        ({"start": "2020-01-01", "interval": "day"}, "interval"),
        ({"start": "2005-01-01"}, "interval"),
        ({"zone_name": "Europe/Atlantis"}, "tz"),
        ({"zone_name": "Europe"}, "tz"),
        ({"zone_name": ""}, "tz"),
        ({"zone_name": "../../etc/passwd"}, "tz"),
        ({"zone_name": "/etc/localtime"}, "tz"),
        ({"zone_name": "a\0b"}, "tz"),
        ({"zone_name": "x" * 5000}, "tz"),
    ],
)
def test_what_is_not_allowed_is_refused_by_field(options: dict[str, str], field: str) -> None:
    with pytest.raises(ChoiceRefused) as refused:
        period(**options)
    assert refused.value.field == field


def test_a_day_may_have_23_and_25_hours() -> None:
    """Berlin, 2026: clocks go forward on 29 March and back on 25 October."""
    for day, hours in (("2026-03-29", 23), ("2026-10-25", 25)):
        one = period(day, day, interval="hour", zone_name="Europe/Berlin")
        assert len(one.buckets()) == hours
        (whole,) = period(day, day, interval="day", zone_name="Europe/Berlin").buckets()
        assert whole.end - whole.start == hours * HOUR


def test_the_hour_that_comes_twice_is_two_buckets() -> None:
    one = period("2026-10-25", "2026-10-25", interval="hour", zone_name="Europe/Berlin")
    assert starts(one)[2:4] == ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"]


def test_hours_and_days_of_odd_offsets_begin_on_the_zones_clock() -> None:
    for zone in ("Asia/Kathmandu", "Asia/Kolkata", "Pacific/Chatham", "America/St_Johns"):
        one = period("2026-11-01", "2026-11-02", interval="hour", zone_name=zone)
        assert all(start[14:19] == "00:00" for start in starts(one))
        assert len(one.buckets()) == 49 if zone == "America/St_Johns" else 48


def test_clocks_that_move_by_half_an_hour() -> None:
    """Lord Howe, 2026: back by half an hour on 5 April at two, forward on 4 October at two."""
    back = period("2026-04-05", "2026-04-05", interval="hour", zone_name="Australia/Lord_Howe")
    lengths = [bucket.end - bucket.start for bucket in back.buckets()]
    assert sum(lengths) == 24 * HOUR + 30 * MINUTE
    assert set(lengths) == {HOUR, 90 * MINUTE}
    assert all(start[14:16] == "00" for start in starts(back))
    forward = period("2026-10-04", "2026-10-04", interval="hour", zone_name="Australia/Lord_Howe")
    assert sum(bucket.end - bucket.start for bucket in forward.buckets()) == 23 * HOUR + 30 * MINUTE


def test_a_day_that_a_zone_left_out_is_no_bucket() -> None:
    """Samoa went from 29 to 31 December 2011."""
    one = period("2011-12-28", "2012-01-01", interval="day", zone_name="Pacific/Apia")
    assert [start[:10] for start in starts(one)] == ["2011-12-28", "2011-12-29", "2011-12-31", "2012-01-01"]


def test_weeks_begin_on_monday_and_months_on_the_first() -> None:
    """The first one where the period begins."""
    weeks = period("2026-10-01", "2026-10-31", interval="week", zone_name="America/New_York")
    assert [start[:10] for start in starts(weeks)] == [
        "2026-10-01",
        "2026-10-05",
        "2026-10-12",
        "2026-10-19",
        "2026-10-26",
    ]
    months = period("2025-11-15", "2026-02-03", interval="month")
    assert [start[:10] for start in starts(months)] == [
        "2025-11-15",
        "2025-12-01",
        "2026-01-01",
        "2026-02-01",
    ]


@pytest.mark.parametrize(
    ("days", "interval"), [(1, "hour"), (3, "hour"), (4, "day"), (93, "day"), (94, "week"), (800, "month")]
)
def test_the_interval_fits_the_length(days: int, interval: str) -> None:
    end = NOW - NOW % DAY
    one = period(to_rfc3339(end - days * DAY), to_rfc3339(end))
    assert one.interval == interval


def test_the_period_before_is_as_long_by_the_clock_on_the_wall() -> None:
    """Thirty days before, whether or not clocks were moved meanwhile."""
    one = period("2026-10-20", "2026-11-03", zone_name="Europe/Berlin")
    before = one.before()
    assert (before.local(before.start), before.end) == ("2026-10-05T00:00:00+02:00", one.start)


@pytest.mark.parametrize(
    ("zone", "start", "end", "days"),
    [
        ("UTC", "2026-11-01", "2026-11-07", ("2026-11-01", "2026-11-07")),
        ("Europe/Berlin", "2026-11-01", "2026-11-07", ("2026-11-01", "2026-11-07")),
        ("America/New_York", "2026-11-02", "2026-11-02", ("2026-11-02", "2026-11-02")),
        ("Asia/Tokyo", "2026-11-02", "2026-11-02", ("2026-11-02", "2026-11-02")),
        ("Pacific/Kiritimati", "2026-11-02", "2026-11-03", ("2026-11-01", "2026-11-02")),
        # Today, of which a part has passed.
        ("UTC", "2026-11-15", None, ("2026-11-15", "2026-11-15")),
        ("Europe/Berlin", "2026-11-15", None, ("2026-11-15", "2026-11-15")),
        ("America/New_York", "2026-11-14", None, ("2026-11-14", "2026-11-15")),
        ("UTC", "2026-11-15T09:00:00Z", None, ("2026-11-15", "2026-11-15")),
        ("UTC", "2026-11-14T23:45:00Z", "2026-11-15T00:15:00Z", ("2026-11-15", "2026-11-15")),
    ],
)
def test_utc_days_stand_for_the_days_of_a_zone(
    zone: str, start: str, end: str | None, days: tuple[str, str]
) -> None:
    """As many as the zone's own days, and today from its first minute on."""
    first, last = period(start, end, zone_name=zone).days(NOW)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert tuple((epoch + timedelta(days=day)).date().isoformat() for day in (first, last)) == days


@given(
    zone=zones,
    start=moments,
    minutes=st.integers(1, 31 * 1440),
    interval=st.sampled_from(["hour", "day", "week", "month"]),
)
def test_buckets_cover_the_period_without_gap_or_overlap(
    zone: str, start: int, minutes: int, interval: Interval
) -> None:
    """In any zone, at any time, all bounds are quarters: what is counted by quarters adds up."""
    one = read_period(
        to_rfc3339(start),
        to_rfc3339(start + minutes * MINUTE),
        interval,
        zone,
        NOW,
    )
    buckets = one.buckets()
    assert (buckets[0].start, buckets[-1].end) == (one.start, one.end)
    assert one.start <= start < start + minutes * MINUTE <= one.end
    assert all(bucket.start < bucket.end for bucket in buckets)
    assert all(before.end == behind.start for before, behind in pairwise(buckets))
    assert all(bucket.start % QUARTER == 0 for bucket in buckets)
    before = one.before()
    assert before.start < before.end == one.start
    first, last = one.days(NOW)
    assert first <= last


@given(zone=zones, moment=moments)
def test_every_day_of_a_zone_begins_when_its_clocks_say_so(zone: str, moment: int) -> None:
    """The bucket that a moment lies in has the moment's own date."""
    one = read_period(to_rfc3339(moment - 3 * DAY), to_rfc3339(moment + QUARTER), "day", zone, NOW)
    last = one.buckets()[-1]
    local = datetime.fromtimestamp((last.end - QUARTER) // 1_000_000, ZoneInfo(zone)).date()
    assert one.local(last.start)[:10] == local.isoformat()


def test_zones_are_found_by_name() -> None:
    assert str(read_zone("Europe/Berlin")) == "Europe/Berlin"
