"""Sketches: how many different visitors, and which links most, without keeping who or all.

They are mergeable, so every batch adds to what is there, and they say nothing about a single visitor.
"""

from collections.abc import Iterable, Mapping

from datasketches import (
    frequent_items_error_type,
    frequent_strings_sketch,
    hll_sketch,
    tgt_hll_type,
)

# 2^12 registers of four bits: 2 KB at most, and 1.6 % off in two cases of three. Few visitors are counted exactly.
_REGISTERS_LOG2 = 12
# Up to 768 links a day by weight; whoever has more than a 768th of a workspace's clicks is surely among them.
_COUNTERS_LOG2 = 10


def add_visitors(sketch: bytes | None, visitors: Iterable[int]) -> tuple[bytes, int]:
    """The sketch with these visitors in it, and how many different ones it has seen."""
    hll = hll_sketch.deserialize(sketch) if sketch else hll_sketch(_REGISTERS_LOG2, tgt_hll_type.HLL_4)
    for visitor in visitors:
        hll.update(visitor)
    return hll.serialize_compact(), round(hll.get_estimate())


def add_links(sketch: bytes | None, clicks: Mapping[int, int]) -> bytes:
    """The sketch of frequent links with these clicks by link in it."""
    links = frequent_strings_sketch.deserialize(sketch) if sketch else frequent_strings_sketch(_COUNTERS_LOG2)
    for link_id, count in clicks.items():
        links.update(str(link_id), count)
    serialized: bytes = links.serialize()
    return serialized


def frequent_links(sketches: Iterable[bytes], most: int) -> list[int]:
    """The links that lead over all these sketches, most followed first."""
    together = frequent_strings_sketch(_COUNTERS_LOG2)
    for sketch in sketches:
        together.merge(frequent_strings_sketch.deserialize(sketch))
    found = together.get_frequent_items(frequent_items_error_type.NO_FALSE_NEGATIVES)
    return [int(item[0]) for item in sorted(found, key=lambda item: item[1], reverse=True)[:most]]
