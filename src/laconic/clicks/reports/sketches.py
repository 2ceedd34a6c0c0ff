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
from struct import Struct, error, unpack_from

_HEAD = Struct("<BBBBBBHIIQQ")
_SERIAL_VERSION = 1
_FREQUENT_ITEMS = 10
_IS_EMPTY = 0b100
# Items are link ids. Of the four bytes of their length none is a digit: an id has at most nineteen.
_ITEM = re.compile(rb"[0-9]+")


def frequent_items(sketch: bytes) -> list[tuple[bytes, int]]:
    """Items with their weights, at the most; none of a sketch that cannot be read."""
    if len(sketch) < _HEAD.size:
        return []
    _, version, family, _, _, flags, _, count, _, _, offset = _HEAD.unpack_from(sketch)
    if (version, family) != (_SERIAL_VERSION, _FREQUENT_ITEMS) or flags & _IS_EMPTY:
        return []
    try:
        weights = unpack_from(f"<{count}Q", sketch, _HEAD.size)
    except error:
        return []
    # One pass in C: walking from length to length took four times as long.
    items = _ITEM.findall(sketch, _HEAD.size + 8 * count)
    if len(items) != count:
        return []
    return [(item, weight + offset) for item, weight in zip(items, weights, strict=True)]


def heaviest_links(sketches: Iterable[bytes], count: int) -> list[int]:
    """The links that may have most clicks over all these days, the likeliest first."""
    weights: defaultdict[bytes, int] = defaultdict(int)
    for sketch in sketches:
        for item, weight in frequent_items(sketch):
            weights[item] += weight
    return [int(item) for item in nlargest(count, weights, key=weights.__getitem__)]
