"""Hours of the week: when people click, by the clocks on their walls."""

from collections.abc import Iterable
from datetime import datetime, tzinfo

from laconic.clock import DAY, SECOND

# Every quarter is read by itself, because only the zone knows which hour it belongs to: twelve weeks have 8,064.
LONGEST_WEEKS = 12 * 7 * DAY

Week = list[list[int]]
"""Seven days from Monday on, 24 hours each."""


def hours_of_week(quarters: Iterable[tuple[int, int]], zone: tzinfo) -> Week:
    """From the beginnings of quarters of an hour and their clicks. An hour that clocks show twice counts both times."""
    week = [[0] * 24 for _ in range(7)]
    for moment, clicks in quarters:
        local = datetime.fromtimestamp(moment // SECOND, zone)
        week[local.weekday()][local.hour] += clicks
    return week
