"""How buckets, days and changes are called in a chart. The month is always a word: no reader takes it for the day."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Final, Literal

from laconic.clicks.reports.periods import Bucket, Interval, Period

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAY_ONE: Final = date(1970, 1, 1)

Name = Callable[[datetime], str]


def _day(moment: date) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


def _month(moment: date) -> str:
    return f"{_MONTHS[moment.month - 1]} {moment.year}"


def _weekday(moment: date) -> str:
    return WEEKDAYS[moment.weekday()][:3]


_SHORT: Final[Mapping[Interval, Name]] = {
    "hour": lambda at: f"{at:%H:%M}" if at.hour else _day(at),
    "day": _day,
    "week": _day,
    "month": _month,
}
_LONG: Final[Mapping[Interval, Name]] = {
    "hour": lambda at: f"{_weekday(at)}, {_day(at)}, {at:%H:%M}",
    "day": lambda at: f"{_weekday(at)}, {_day(at)} {at.year}",
    "week": lambda at: f"Week of {_day(at)} {at.year}",
    "month": _month,
}


def short_name(period: Period, bucket: Bucket) -> str:
    """For the axis."""
    return _SHORT[period.interval](_local(period, bucket.start))


def long_name(period: Period, bucket: Bucket) -> str:
    """For the table, and under the pointer."""
    return _LONG[period.interval](_local(period, bucket.start))


def period_name(period: Period) -> str:
    """17 Oct to 15 Nov 2026"""
    first, last = _local(period, period.start), _local(period, period.end - 1)
    if first.date() == last.date():
        return f"{_day(last)} {last.year}"
    year = "" if first.year == last.year else f" {first.year}"
    return f"{_day(first)}{year} to {_day(last)} {last.year}"


def utc_day_name(day: int) -> str:
    return _day(_DAY_ONE + timedelta(days=day))


def _local(period: Period, moment: int) -> datetime:
    return datetime.fromisoformat(period.local(moment))


Direction = Literal["up", "down", "same"]


def change(now: int, before: int) -> tuple[Direction, str]:
    """How a number has moved: a direction, and words that do not need the arrow."""
    if now == before:
        return "same", "as before"
    if before == 0:
        return "up", "none before"
    percent = abs(now - before) * 100 // before
    if percent == 0:
        return "same", "about as before"
    shown = f"{percent:,}" if percent < 10_000 else "over 9,999"
    return ("up", f"{shown} % more") if now > before else ("down", f"{shown} % less")
