"""What the clicks of one UTC day add to totals, rollups and sketches, by link or by workspace.

Everything is a column, for two reasons: counting pairs of numbers with numpy costs a third of counting tuples, and
the engines take columns as they are.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress
from operator import not_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from laconic.clicks.columns import Column, Columns
from laconic.clock import MINUTE

QUARTER = 15 * MINUTE

Numbers = NDArray[np.int64]


class Index:
    """A column by the place of each value among the different ones, which stand in order."""

    def __init__(self, column: Column) -> None:
        self.values = sorted(set(column))
        places = {value: place for place, value in enumerate(self.values)}
        self.places: Numbers = np.fromiter(map(places.__getitem__, column), np.int64, len(column))

    def pick(self, places: Numbers) -> NDArray[Any]:
        return np.array(self.values, dtype=object)[places]


class Sums:
    """What is counted for each owner: a link, or a workspace."""

    def __init__(self, columns: Columns, owner_ids: Sequence[int]) -> None:
        self._columns = columns
        self._owners = Index(owner_ids)
        self._owner_ids = owner_ids
        self._are_bots: Numbers = np.array(columns.are_bots, np.int64)

    @property
    def owners(self) -> list[int]:
        """In order."""
        return self._owners.values

    def totals(self) -> tuple[Column, Column, Column]:
        """Of each owner: clicks, clicks of bots, the last click's moment."""
        count = len(self.owners)
        clicks = np.bincount(self._owners.places, minlength=count)
        bots = np.bincount(self._owners.places, self._are_bots, count).astype(np.int64)
        last = np.zeros(count, np.int64)
        np.maximum.at(last, self._owners.places, np.array(self._columns.moments, np.int64))
        return clicks.tolist(), bots.tolist(), last.tolist()

    def quarters(self) -> tuple[Column, Column, Column, Column]:
        """Owner, quarter, clicks, clicks of bots."""
        quarters = Index([moment - moment % QUARTER for moment in self._columns.moments])
        owners, places, clicks, bots = self._count(quarters)
        return self._ids(owners), quarters.pick(places).tolist(), clicks.tolist(), bots.tolist()

    def daily(self) -> tuple[Column, Column, Column, Column, Column]:
        """Owner, dimension, value, clicks, clicks of bots; owner by owner, as the rows lie in the table."""
        parts = []
        for dimension, column in self._columns.dimensions().items():
            values = Index(column)
            owners, places, clicks, bots = self._count(values)
            parts.append((owners, np.full(len(owners), dimension, object), values.pick(places), clicks, bots))
        owners, *others = (np.concatenate(some) for some in zip(*parts, strict=True))
        order = np.argsort(owners, kind="stable")
        dimensions, values_, clicks, bots = (column[order].tolist() for column in others)
        return self._ids(owners[order]), dimensions, values_, clicks, bots

    def people(self) -> Mapping[int, Sequence[int]]:
        """Hashes of visitors by owner, bots left out."""
        people: dict[int, list[int]] = defaultdict(list)
        pairs = zip(self._owner_ids, self._columns.visitors, strict=True)
        for owner, visitor in compress(pairs, map(not_, self._columns.are_bots)):
            people[owner].append(int.from_bytes(visitor, signed=True))
        return people

    def _ids(self, places: Numbers) -> list[int]:
        ids: list[int] = np.array(self.owners, np.int64)[places].tolist()
        return ids

    def _count(self, values: Index) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        """Which owner has which value, how often, and how often with a bot; in the order of owners and values."""
        pairs = self._owners.places * len(values.values) + values.places
        found, places, clicks = np.unique(pairs, return_inverse=True, return_counts=True)
        bots = np.bincount(places, self._are_bots, len(found)).astype(np.int64)
        owners, values_ = np.divmod(found, len(values.values))
        return owners, values_, clicks, bots


def clicks_by_link(columns: Columns) -> Mapping[int, Mapping[int, int]]:
    """Of each workspace."""
    found: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for workspace_id, link_id in zip(columns.workspace_ids, columns.link_ids, strict=True):
        found[workspace_id][link_id] += 1
    return found
