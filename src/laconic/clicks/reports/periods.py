"""Which time a report is about, and how it is cut into buckets.

All bounds are quarters of an hour, because clicks are counted by quarters: since 2000 every time zone's offset is a
whole number of them, so that hours and days of any zone add up exactly. Before 2000 nobody clicked here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from itertools import pairwise
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo

from laconic.clock import DAY, HOUR, MINUTE, SECOND, from_datetime
from laconic.errors import ChoiceRefused

Interval = Literal["hour", "day", "week", "month"]

QUARTER = 15 * MINUTE
MOST_BUCKETS = 1_000
_LONGEST: dict[Interval, int] = {"hour": 31, "day": 731, "week": 1_830, "month": 1_830}  # days
# The interval for whoever names none: the first that covers the period with a chart's worth of buckets.
_BY_LENGTH: tuple[tuple[int, Interval], ...] = ((3, "hour"), (93, "day"), (731, "week"))
_DEFAULT_DAYS = 30
_LONGEST_ZONE_NAME = 64
_FIRST = from_datetime(datetime(2000, 1, 1, tzinfo=UTC))
_LAST = from_datetime(datetime(2100, 1, 1, tzinfo=UTC))
# A plus sign that nobody has encoded arrives as a space.
_LOST_PLUS = re.compile(r" (?=\d\d:\d\d$)")


class Bucket(NamedTuple):
    """From one moment to another, which it does not contain."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Period:
    """What a report is about. `start` and `end` are quarters; the end is not part of it."""

    start: int
    end: int
    zone: tzinfo
    zone_name: str
    interval: Interval

    def buckets(self) -> list[Bucket]:
        """All of them in order, without gaps; the first and the last may be cut by the period's bounds."""
        cuts = [self.start, *self._cuts(), self.end]
        return [Bucket(start, end) for start, end in pairwise(cuts)]

    def _cuts(self) -> Iterator[int]:
        """Where one bucket ends and the next begins, inside the period."""
        step = _hours if self.interval == "hour" else _dates
        last = self.start
        for moment in step(self):
            if moment >= self.end:
                return
            if moment > last:  # a date that a zone has left out has no length
                yield moment
                last = moment

    def before(self) -> "Period":
        """As long by the clock on the wall, ending where this one begins."""
        start, end = _local(self.start, self.zone), _local(self.end, self.zone)
        length = end.replace(tzinfo=None) - start.replace(tzinfo=None)
        moment = _floor(_moment(start.replace(tzinfo=None) - length, self.zone))
        # Where clocks were set back a wall's length can be nothing.
        return Period(min(moment, self.start - QUARTER), self.start, self.zone, self.zone_name, self.interval)

    def days(self, moment: int) -> tuple[int, int]:
        """The first and the last UTC day that stand for this period at `moment`, as days since 1970.

        Those of which at least half lies in it, of what has passed of them: thirty days of any zone are thirty UTC
        days, and today counts from its first minute on.
        """
        first, last = self.start // DAY, (self.end - 1) // DAY
        if first < last and not self._is_mostly_inside(first, moment):
            first += 1
        if first < last and not self._is_mostly_inside(last, moment):
            last -= 1
        return first, last

    def _is_mostly_inside(self, day: int, moment: int) -> bool:
        begin = day * DAY
        end = min(begin + DAY, max(moment, begin + 1))
        inside = min(end, self.end) - max(begin, self.start)
        return inside * 2 >= end - begin

    def local(self, moment: int) -> str:
        """As the zone's clocks show it, with their offset: 2026-11-15T00:00:00+01:00"""
        return _local(moment, self.zone).isoformat()


def read_zone(name: str) -> tzinfo:
    """By its IANA name."""
    try:
        if name and len(name) <= _LONGEST_ZONE_NAME:
            return ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        pass  # unknown; not a possible name; a folder of the time zone database
    raise ChoiceRefused("tz", "This is no time zone's name, such as Europe/Berlin or UTC.")


def read_period(
    start: str | None, end: str | None, interval: Interval | None, zone_name: str, moment: int
) -> Period:
    """From what a caller has said, for a caller at `moment`; by default the last thirty days, today included."""
    zone = read_zone(zone_name)
    last = min(moment, _LAST) if end is None else _read_bound("to", end, zone, is_end=True)
    end_moment = -_floor(-last)
    if start is not None:
        start_moment = _floor(_read_bound("from", start, zone, is_end=False))
    else:
        # The end may be a midnight: then the last day is the one before it.
        day = _local(end_moment - 1, zone).date() - timedelta(days=_DEFAULT_DAYS - 1)
        start_moment = _floor(_moment(datetime.combine(day, time()), zone))
    if start_moment >= end_moment:
        raise ChoiceRefused("from", "`from` must lie before `to`, and before now.")
    days = (end_moment - start_moment) / DAY
    period = Period(start_moment, end_moment, zone, zone_name, interval or _interval_for(days))
    _check_length(period, days)
    return period


def read_bounds(start: str | None, end: str | None, zone_name: str, moment: int) -> tuple[int, int]:
    """Two moments to the microsecond, from what a caller has said; by default everything until `moment`."""
    zone = read_zone(zone_name)
    first = _FIRST if start is None else _read_bound("from", start, zone, is_end=False)
    # A click of this very moment, by another machine's clock, is not left out.
    last = moment + HOUR if end is None else _read_bound("to", end, zone, is_end=True)
    if first >= last:
        raise ChoiceRefused("from", "`from` must lie before `to`, and before now.")
    return first, last


def days_before(moment: int, days: int, zone_name: str) -> str:
    """The date from which on it is so many days until `moment`, the zone's today included."""
    today = _local(moment, read_zone(zone_name)).date()
    return (today - timedelta(days=days - 1)).isoformat()


def _interval_for(days: float) -> Interval:
    return next((interval for longest, interval in _BY_LENGTH if days <= longest), "month")


def _check_length(period: Period, days: float) -> None:
    longest = _LONGEST[period.interval]
    # An hour more: clocks are set back once in a while.
    if days > longest + HOUR / DAY:
        raise ChoiceRefused(
            "interval",
            f"By {period.interval} a period has at most {longest:,} days; this one has {days:,.0f}.",
        )


def _read_bound(field: str, text: str, zone: tzinfo, *, is_end: bool) -> int:
    moment = _read_date(text, zone, is_end=is_end)
    if moment is None:
        moment = _read_moment(field, text)
    if not _FIRST <= moment <= _LAST:
        raise ChoiceRefused(field, "The time must lie between the years 2000 and 2100.")
    return moment


def _read_date(text: str, zone: tzinfo, *, is_end: bool) -> int | None:
    """A day of the zone: its beginning, or its end where a period ends with it."""
    try:
        day = date.fromisoformat(text)
        return _moment(datetime.combine(day + timedelta(days=is_end), time()), zone)
    except (ValueError, OverflowError):
        return None


def _read_moment(field: str, text: str) -> int:
    try:
        read = datetime.fromisoformat(_LOST_PLUS.sub("+", text.strip()))
        if read.tzinfo is not None:
            return from_datetime(read)
    except (ValueError, OverflowError):
        pass
    raise ChoiceRefused(
        field, "This is neither a date nor a time with its zone, such as 2030-01-31 or 2030-01-31T12:00:00Z."
    )


def _floor(moment: int) -> int:
    return moment - moment % QUARTER


def _local(moment: int, zone: tzinfo) -> datetime:
    return datetime.fromtimestamp(moment // SECOND, zone)


def _moment(wall: datetime, zone: tzinfo) -> int:
    """When the zone's clocks show this: the first time where they do so twice, the jump where they never do."""
    return from_datetime(wall.replace(tzinfo=zone))


def _hours(period: Period) -> Iterator[int]:
    """Every moment after the start at which the zone's clocks show a full hour."""
    moment = period.start
    while True:
        full = moment + HOUR - _local(moment, period.zone).minute * MINUTE
        if _local(full, period.zone).minute:
            # Clocks were moved by half an hour meanwhile: the full hour comes earlier or later.
            full = moment + QUARTER
            while _local(full, period.zone).minute:
                full += QUARTER
        moment = full
        yield moment


def _dates(period: Period) -> Iterator[int]:
    """The beginnings of days, of weeks (Monday) or of months after the start."""
    day = _local(period.start, period.zone).date()
    while True:
        if period.interval == "day":
            day += timedelta(days=1)
        elif period.interval == "week":
            day += timedelta(days=7 - day.weekday())
        else:
            day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
        yield _moment(datetime.combine(day, time()), period.zone)
