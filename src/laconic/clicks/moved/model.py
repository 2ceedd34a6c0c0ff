"""Clicks that were counted or recorded elsewhere, and what of them is here already."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from laconic.clock import DAY

Pair = tuple[int, int]  # clicks, and those of them that were bots

_Key = TypeVar("_Key", int, str)
NOTHING = (0, 0)


class Claim(NamedTuple):
    """What a source says that it has counted for a link, with or without a time for each."""

    link_id: int
    clicks: int
    bot_clicks: int
    last_clicked_at: int | None


@dataclass(slots=True)
class Portion:
    """Counted clicks of one link within one UTC day. A link's portions come in the order of their positions."""

    link_id: int
    position: int
    day: int
    quarters: dict[int, Pair]
    """By the moment at which the quarter of an hour begins."""
    dimensions: dict[str, dict[str, Pair]] = field(default_factory=dict)
    visitors: bytes | None = None
    """A sketch."""

    def counts(self) -> Pair:
        return (
            sum(clicks for clicks, _ in self.quarters.values()),
            sum(bots for _, bots in self.quarters.values()),
        )

    def last(self) -> int:
        return max(self.quarters, default=self.day * DAY)

    def text(self) -> str:
        """To be compared with when it comes again."""
        return json.dumps([self.quarters, self.dimensions], ensure_ascii=False, separators=(",", ":"))

    def beyond(self, text: str | None) -> "Portion":
        """What it has more than it had then."""
        if text is None:
            return self
        quarters, dimensions = json.loads(text)
        known = {int(moment): tuple(pair) for moment, pair in quarters.items()}
        return Portion(
            self.link_id,
            self.position,
            self.day,
            _less(self.quarters, known),
            {name: _less(values, dimensions.get(name, {})) for name, values in self.dimensions.items()},
            self.visitors,
        )


def _less(values: Mapping[_Key, Pair], known: Mapping[_Key, Pair]) -> dict[_Key, Pair]:
    found = {}
    for key, (clicks, bots) in values.items():
        had = known.get(key, NOTHING)
        more = max(clicks - had[0], 0), max(bots - had[1], 0)
        if more != NOTHING:
            found[key] = more
    return found


class RecordedClick(NamedTuple):
    """One click out of another shortener's log, to be enriched and counted like one of our own."""

    link_id: int
    position: int
    moment: int
    address: bytes = b""
    user_agent: bytes = b""
    referrer: bytes = b""
    # What the source knows better than the address and the header tell; empty or None: it does not say.
    country: str = ""
    city: str = ""
    is_bot: bool | None = None


@dataclass(slots=True)
class Entry:
    """What a source has added to a link so far."""

    position: int = -1
    portion: str | None = None
    dated: int = 0
    dated_bots: int = 0
    claimed: int = 0
    claimed_bots: int = 0

    def counts(self) -> Pair:
        """What is in the link's total of it. Clicks with a time are among those that the source claims."""
        return max(self.dated, self.claimed), max(self.dated_bots, self.claimed_bots)

    def claim(self, clicks: int, bot_clicks: int) -> None:
        self.claimed = max(self.claimed, clicks)
        self.claimed_bots = max(self.claimed_bots, bot_clicks)

    def take(self, portion: Portion) -> Portion | None:
        """What of a portion is new, which is known from now on; None when nothing is."""
        if portion.position < self.position:
            return None
        fresh = portion.beyond(self.portion if portion.position == self.position else None)
        self.position, self.portion = portion.position, portion.text()
        clicks, bots = fresh.counts()
        self.dated += clicks
        self.dated_bots += bots
        return fresh if clicks or fresh.visitors else None
