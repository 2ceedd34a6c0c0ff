"""Portions of one UTC day, summed by link and by workspace in the form in which ingest adds its own."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from laconic.clicks.moved.model import NOTHING, Pair, Portion
from laconic.clicks.store import Column


class TallyRows:
    """Of each owner, in order. Totals add nothing here: they are settled by what the source claims."""

    def __init__(self, portions: Iterable[tuple[int, Portion]]) -> None:
        quarters: dict[tuple[int, int], Pair] = defaultdict(lambda: NOTHING)
        daily: dict[tuple[int, str, str], Pair] = defaultdict(lambda: NOTHING)
        last: dict[int, int] = defaultdict(int)
        for owner, portion in portions:
            last[owner] = max(last[owner], portion.last())
            for quarter, pair in portion.quarters.items():
                quarters[owner, quarter] = _sum(quarters[owner, quarter], pair)
            for dimension, values in portion.dimensions.items():
                for value, pair in values.items():
                    daily[owner, dimension, value] = _sum(daily[owner, dimension, value], pair)
        self.owners = sorted(last)
        zeros = [0] * len(self.owners)
        self.totals: tuple[Column, Column, Column] = (zeros, zeros, [last[owner] for owner in self.owners])
        places = sorted(quarters)
        self.quarters: tuple[Column, Column, Column, Column] = (
            [owner for owner, _ in places],
            [quarter for _, quarter in places],
            *_columns([quarters[place] for place in places]),
        )
        cells = sorted(daily)
        self.daily: tuple[Column, Column, Column, Column, Column] = (
            [owner for owner, _, _ in cells],
            [dimension for _, dimension, _ in cells],
            [value for _, _, value in cells],
            *_columns([daily[cell] for cell in cells]),
        )
        self.people: Mapping[int, Sequence[int]] = {}


class Tally:
    """See `Countable`."""

    def __init__(self, day: int, workspace_id: int, portions: Sequence[Portion]) -> None:
        self.day = day
        self.workspaces: Mapping[int, int] = {portion.link_id: workspace_id for portion in portions}
        self.of_links = TallyRows((portion.link_id, portion) for portion in portions)
        self.of_workspaces = TallyRows((workspace_id, portion) for portion in portions)
        links: dict[int, int] = defaultdict(int)
        for portion in portions:
            links[portion.link_id] += portion.counts()[0]
        self.links_by_workspace: Mapping[int, Mapping[int, int]] = {workspace_id: links}


def _sum(one: Pair, other: Pair) -> Pair:
    return one[0] + other[0], one[1] + other[1]


def _columns(pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    return [clicks for clicks, _ in pairs], [bots for _, bots in pairs]
