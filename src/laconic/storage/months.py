"""Months, the unit in which raw clicks are kept and thrown away: whole numbers, counted since the year 0, UTC."""

from datetime import UTC, datetime

from laconic.clock import SECOND, from_datetime


def month_of(moment: int) -> int:
    """The month that a moment lies in."""
    date = datetime.fromtimestamp(moment // SECOND, UTC)
    return date.year * 12 + date.month - 1


def begin_of(month: int) -> int:
    """The first moment of a month; that of the next month is where it ends."""
    year, index = divmod(month, 12)
    return from_datetime(datetime(year, index + 1, 1, tzinfo=UTC))


def month_name(month: int) -> str:
    """2026-11"""
    year, index = divmod(month, 12)
    return f"{year:04d}-{index + 1:02d}"


def month_from_name(name: str) -> int:
    year, _, index = name.partition("-")
    return int(year) * 12 + int(index) - 1
