"""Reading a sketch of frequent links without the library that makes it.

Ingest writes `workspace_top` with Apache DataSketches (frequent items, strings). A report only wants the names in
it, and the library would bring numpy into every web worker: some 25 MiB for these few lines. The layout is the
project's own, kept the same across its languages (FrequentItemsSketch, serial version 1): a head of 32 bytes with
the number of items at 8 and the offset, by which a weight may be too low, at 24; then all weights, then all items,
each with its length.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from heapq import nlargest
from operator import itemgetter
from struct import Struct, error, unpack_from

_HEAD = Struct("<BBBBBBHIIQQ")
_SERIAL_VERSION = 1
_FREQUENT_ITEMS = 10
_IS_EMPTY = 0b100
# Items are link ids. Of the four bytes of their length none is a digit: an id has at most nineteen.
_ITEM = re.compile(rb"[0-9]+")
_LENGTH_SIZE = 4
_LONGEST_NAME = 19
# A link with less than this part of what each of those asked for would have, if all had the same, is no leader of a day.
_PART = 20


class _Day:
    """A sketch whose names have not been read yet."""

    __slots__ = ("_names_at", "_sketch", "offset", "weights")

    def __init__(self, sketch: bytes, weights: tuple[int, ...], offset: int) -> None:
        self._sketch = sketch
        self._names_at = _HEAD.size + 8 * len(weights)
        self.weights = weights
        self.offset = offset

    @classmethod
    def from_sketch(cls, sketch: bytes) -> "_Day | None":
        """None of a sketch that is empty or cannot be read."""
        if len(sketch) < _HEAD.size:
            return None
        _, version, family, _, _, flags, _, count, _, _, offset = _HEAD.unpack_from(sketch)
        if (version, family) != (_SERIAL_VERSION, _FREQUENT_ITEMS) or flags & _IS_EMPTY:
            return None
        try:
            return cls(sketch, unpack_from(f"<{count}Q", sketch, _HEAD.size), offset)
        except error:
            return None

    def items(self, least: int) -> list[tuple[bytes, int]]:
        """Those of at least this weight, each with the most that it can be; none where the names cannot be read."""
        size = self._size_of_each()
        if size:
            first = self._names_at + _LENGTH_SIZE
            starts = [
                (first + place * size, weight) for place, weight in enumerate(self.weights) if weight >= least
            ]
            return [
                (self._sketch[start : start + size - _LENGTH_SIZE], weight + self.offset)
                for start, weight in starts
            ]
        # One pass in C: walking from length to length took four times as long.
        names = _ITEM.findall(self._sketch, self._names_at)
        if len(names) != len(self.weights):
            return []
        pairs = zip(names, self.weights, strict=True)
        return [(name, weight + self.offset) for name, weight in pairs if weight >= least]

    def _size_of_each(self) -> int:
        """Of a name with its length, when all are of one: then few are found without reading the others. 0 otherwise.

        Where each name would begin stands the first byte of its length, which is no digit, so it begins there.
        """
        size, rest = divmod(len(self._sketch) - self._names_at, max(len(self.weights), 1))
        if rest or not _LENGTH_SIZE < size <= _LONGEST_NAME + _LENGTH_SIZE:
            return 0
        first_bytes = bytes([size - _LENGTH_SIZE]) * len(self.weights)
        return size if self._sketch[self._names_at :: size] == first_bytes else 0


def frequent_items(sketch: bytes) -> list[tuple[bytes, int]]:
    """Items with their weights, at the most; none of a sketch that cannot be read."""
    day = _Day.from_sketch(sketch)
    return day.items(0) if day else []


def heaviest_links(sketches: Iterable[bytes], count: int, sure: int | None = None) -> list[int]:
    """`count` links that may have most clicks over all these days, the likeliest first.

    Of each day only its leaders are read, and all the same the first `sure` (all, if not said) are among those given:
    when others may have more than these by days when they were no leaders, everything is read.
    """
    days = [day for day in map(_Day.from_sketch, sketches) if day]
    leasts = [max(sum(day.weights) // (_PART * count), 1) for day in days]
    found = _heaviest(days, leasts, count)
    if any(least > 1 for least in leasts):
        unread = sum(least - 1 + day.offset for least, day in zip(leasts, days, strict=True))
        if not _are_sure(found, count if sure is None else sure, count, unread):
            found = _heaviest(days, [0] * len(days), count)
    return [int(name) for name, _ in found]


def _heaviest(days: Iterable[_Day], leasts: Iterable[int], count: int) -> list[tuple[bytes, int]]:
    """By what they have on days with at least that day's `least`."""
    weights: defaultdict[bytes, int] = defaultdict(int)
    for day, least in zip(days, leasts, strict=True):
        for name, weight in day.items(least):
            weights[name] += weight
    return nlargest(count, weights.items(), key=itemgetter(1))


def _are_sure(found: list[tuple[bytes, int]], sure: int, count: int, unread: int) -> bool:
    """Whoever is not given has no more than the last one who is, and what was not read of him."""
    last = found[count - 1][1] if len(found) == count else 0
    return len(found) >= sure and found[sure - 1][1] >= last + unread
