"""Sketches: how many different visitors, and which links most, without keeping who or all.

They are mergeable, so every batch adds to what is there, and they say nothing about a single visitor. The library
is loaded by whoever makes one: it brings numpy, and web workers only read.
"""

from collections.abc import Iterable, Mapping

# 2^12 registers of four bits: 2 KB at most, and 1.6 % off in two cases of three. Few visitors are counted exactly.
_REGISTERS_LOG2 = 12
# Up to 768 links a day by weight; whoever has more than a 768th of a workspace's clicks is surely among them.
_COUNTERS_LOG2 = 10


def add_visitors(sketch: bytes | None, visitors: Iterable[int]) -> tuple[bytes, int]:
    """The sketch with these visitors in it, and how many different ones it has seen."""
    from datasketches import hll_sketch, tgt_hll_type

    hll = hll_sketch.deserialize(sketch) if sketch else hll_sketch(_REGISTERS_LOG2, tgt_hll_type.HLL_4)
    for visitor in visitors:
        hll.update(visitor)
    return hll.serialize_compact(), round(hll.get_estimate())


def join_visitors(sketch: bytes | None, other: bytes) -> tuple[bytes, int]:
    """Both sketches in one, and how many different visitors they have seen. ValueError: the other is no sketch."""
    from datasketches import hll_sketch, hll_union, tgt_hll_type

    try:
        added = hll_sketch.deserialize(other)
    except Exception as error:
        # Whatever the library makes of bytes that it cannot read.
        raise ValueError("no sketch of visitors") from error
    if sketch is None:
        return other, round(added.get_estimate())
    union = hll_union(_REGISTERS_LOG2)
    union.update(hll_sketch.deserialize(sketch))
    union.update(added)
    joined = union.get_result(tgt_hll_type.HLL_4)
    return joined.serialize_compact(), round(joined.get_estimate())


def add_links(sketch: bytes | None, clicks: Mapping[int, int]) -> bytes:
    """The sketch of frequent links with these clicks by link in it."""
    from datasketches import frequent_strings_sketch

    links = frequent_strings_sketch.deserialize(sketch) if sketch else frequent_strings_sketch(_COUNTERS_LOG2)
    for link_id, count in clicks.items():
        links.update(str(link_id), count)
    serialized: bytes = links.serialize()
    return serialized
