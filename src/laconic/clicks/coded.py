"""Columns that repeat themselves, with numpy: what is done once for each different value costs a click next to nothing.

For the process that ingests: numpy takes 13 MiB.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]


class Coded:
    """A column as a list of values and, row by row, the place of each in that list."""

    __slots__ = ("places", "values")

    def __init__(self, values: Sequence[Any], places: Numbers) -> None:
        self.values = values
        self.places = places

    @classmethod
    def from_column(cls, column: Sequence[Any]) -> "Coded":
        """Each value stands once in the list."""
        numbers: defaultdict[Any, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        places = np.fromiter(map(numbers.__getitem__, column), np.int64, len(column))
        return cls(list(numbers), places)

    @classmethod
    def from_numbers(cls, column: Numbers) -> "Coded":
        """Each number once, in order."""
        values, places = np.unique(column, return_inverse=True)
        return cls(values.tolist(), places)

    def __len__(self) -> int:
        return len(self.places)

    def apply(self, change: Callable[[Any], Any]) -> "Coded":
        """The column of what `change` makes of each value, which may make the same of several."""
        return Coded([change(value) for value in self.values], self.places)

    def at(self, rows: Numbers) -> "Coded":
        """The column of these rows, in this order."""
        return Coded(self.values, self.places[rows])

    def ordered(self) -> "Coded":
        """The same column; each value stands once in the list, and in order."""
        values = sorted(set(self.values))
        numbers = {value: number for number, value in enumerate(values)}
        places = np.fromiter(map(numbers.__getitem__, self.values), np.int64, len(self.values))
        return Coded(values, places[self.places])

    def rows(self) -> list[Any]:
        """The column itself."""
        return take(self.values, self.places)


def take(values: Sequence[Any], places: Numbers) -> list[Any]:
    """The values at these places."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    rows: list[Any] = objects[places].tolist()
    return rows
