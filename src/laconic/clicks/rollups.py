"""What the clicks of one UTC day add to totals, rollups and sketches, by link or by workspace.

Everything is a column, for two reasons: counting pairs of numbers with numpy costs a tenth of counting tuples, and
the engines take columns as they are.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from laconic.clicks.coded import Coded, Numbers, take
from laconic.clicks.columns import Columns
from laconic.clock import MINUTE

QUARTER = 15 * MINUTE


class Sums:
    """What is counted for each owner: a link, or a workspace."""

    def __init__(self, columns: Columns, owners: Coded) -> None:
        """The owners' values are in order."""
        self._columns = columns
        self._owners = owners
        self._are_bots = columns.are_bots.astype(np.int64)

    @property
    def owners(self) -> Sequence[int]:
        """In order."""
        return self._owners.values

    def totals(self) -> tuple[list[int], list[int], list[int]]:
        """Of each owner: clicks, clicks of bots, the last click's moment."""
        count = len(self.owners)
        clicks = np.bincount(self._owners.places, minlength=count)
        bots = np.bincount(self._owners.places, self._are_bots, count).astype(np.int64)
        last = np.zeros(count, np.int64)
        np.maximum.at(last, self._owners.places, self._columns.moments)
        return clicks.tolist(), bots.tolist(), last.tolist()

    def quarters(self) -> tuple[list[int], list[int], list[int], list[int]]:
        """Owner, quarter, clicks, clicks of bots."""
        moments = self._columns.moments
        quarters = Coded.from_numbers(moments - moments % QUARTER)
        owners, places, clicks, bots = self._count(quarters)
        return self._ids(owners), take(quarters.values, places), clicks.tolist(), bots.tolist()

    def daily(self) -> tuple[list[int], list[str], list[str], list[int], list[int]]:
        """Owner, dimension, value, clicks, clicks of bots; owner by owner, as the rows lie in the table."""
        dimensions = self._columns.dimensions()
        # All values of all dimensions, one after the other.
        names = [name for name, column in dimensions.items() for _ in column.values]
        values = [value for column in dimensions.values() for value in column.values]
        parts, first = [], 0
        for column in dimensions.values():
            owners, places, clicks, bots = self._count(column)
            parts.append((owners, places + first, clicks, bots))
            first += len(column.values)
        owners, places, clicks, bots = (np.concatenate(some) for some in zip(*parts, strict=True))
        order = np.argsort(owners, kind="stable")
        places = places[order]
        return (
            self._ids(owners[order]),
            take(names, places),
            take(values, places),
            clicks[order].tolist(),
            bots[order].tolist(),
        )

    def people(self) -> Mapping[int, Sequence[int]]:
        """Hashes of visitors by owner, bots left out."""
        hashes = self._columns.visitors.view(">i8")
        are_people = ~self._columns.are_bots
        places = self._owners.places[are_people]
        order = np.argsort(places, kind="stable")
        ends = np.cumsum(np.bincount(places, minlength=len(self.owners))).tolist()
        people = hashes[are_people][order].tolist()
        starts = [0, *ends[:-1]]
        return {
            owner: people[start:end]
            for owner, start, end in zip(self.owners, starts, ends, strict=True)
            if start < end
        }

    def _ids(self, places: Numbers) -> list[int]:
        return take(self.owners, places)

    def _count(self, values: Coded) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Which owner has which value, how often, and how often with a bot; in the order of owners and values."""
        # One number for owner, value and bot: sorting numbers is the fastest way to count them.
        pairs = self._owners.places * len(values.values) + values.places
        ordered = np.sort(pairs * 2 + self._are_bots)
        found = ordered >> 1
        starts = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
        clicks = np.diff(starts, append=len(ordered))
        bots = np.add.reduceat(ordered & 1, starts)
        owners, places = np.divmod(found[starts], len(values.values))
        return owners, places, clicks, bots


def clicks_by_link(columns: Columns) -> Mapping[int, Mapping[int, int]]:
    """Of each workspace."""
    found: dict[int, dict[int, int]] = defaultdict(dict)
    counts = np.bincount(columns.links.places, minlength=len(columns.links.values)).tolist()
    for workspace_id, link_id, count in zip(
        columns.workspaces.values, columns.links.values, counts, strict=True
    ):
        found[workspace_id][link_id] = count
    return found
