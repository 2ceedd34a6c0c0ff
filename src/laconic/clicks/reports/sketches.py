"""Reading a sketch of frequent links without the library that makes it.

Ingest writes `workspace_top` with Apache DataSketches (frequent items, strings). A report only wants the names in
it, and the library would bring numpy into every web worker: some 25 MiB for these few lines. The layout is the
project's own, kept the same across its languages (FrequentItemsSketch, serial version 1): a head of 32 bytes with
the number of items at 8 and the offset, by which a weight may be too low, at 24; then all weights, then all items,
each with its length.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from struct import Struct, error, unpack_from

_HEAD = Struct("<BBBBBBHIIQQ")
_LENGTH = Struct("<I")
_SERIAL_VERSION = 1
_FREQUENT_ITEMS = 10
_IS_EMPTY = 0b100


def frequent_items(sketch: bytes) -> Iterator[tuple[str, int]]:
    """Items with their weights, at the most; none of a sketch that cannot be read."""
    if len(sketch) < _HEAD.size:
        return
    _, version, family, _, _, flags, _, count, _, _, offset = _HEAD.unpack_from(sketch)
    if (version, family) != (_SERIAL_VERSION, _FREQUENT_ITEMS) or flags & _IS_EMPTY:
        return
    try:
        weights = unpack_from(f"<{count}Q", sketch, _HEAD.size)
        place = _HEAD.size + 8 * count
        for weight in weights:
            (length,) = _LENGTH.unpack_from(sketch, place)
            place += _LENGTH.size + length
            yield sketch[place - length : place].decode("ascii"), weight + offset
    except (error, UnicodeDecodeError):
        return


def heaviest_links(sketches: Iterable[bytes], count: int) -> list[int]:
    """The links that may have most clicks over all these days, the likeliest first."""
    weights: Counter[str] = Counter()
    for sketch in sketches:
        for item, weight in frequent_items(sketch):
            weights[item] += weight
    return [int(item) for item, _ in weights.most_common(count) if item.isdecimal()]
