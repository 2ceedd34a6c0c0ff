"""Clicks, and those of them that were bots."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

Traffic = Literal["all", "humans", "bots"]


class Counts(NamedTuple):
    """Bots are included in `clicks`."""

    clicks: int = 0
    bot_clicks: int = 0

    def __sub__(self, other: "Counts") -> "Counts":
        return Counts(self.clicks - other.clicks, self.bot_clicks - other.bot_clicks)


def only(traffic: Traffic, counts: Counts) -> Counts:
    """As if there had been no other clicks."""
    if traffic == "humans":
        return Counts(counts.clicks - counts.bot_clicks, 0)
    if traffic == "bots":
        return Counts(counts.bot_clicks, counts.bot_clicks)
    return counts


def measure(traffic: Traffic, counts: Counts) -> int:
    """By what lists are sorted."""
    return only(traffic, counts).clicks


def total(some: Iterable[Counts]) -> Counts:
    counted = list(some)
    return Counts(sum(one.clicks for one in counted), sum(one.bot_clicks for one in counted))
