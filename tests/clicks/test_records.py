"""Many records at once: the same clicks, and the same end, as one after the other."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.click import Click, Visitor, read_record, records_of
from laconic.clicks.records import Clicks, read_clicks

_HEADERS = st.binary(max_size=60)
_CLICKS = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1),
        st.integers(-(2**63), 2**63 - 1),
        st.builds(Visitor, _HEADERS, _HEADERS, _HEADERS, _HEADERS),
    ),
    max_size=12,
)


def one_by_one(data: bytes, most: int) -> tuple[list[Click], int]:
    found: list[Click] = []
    offset = 0
    while len(found) < most and (record := read_record(data, offset)):
        found.append(record[0])
        offset = record[1]
    return found, offset


def rows(clicks: Clicks) -> list[Click]:
    columns = (
        clicks.sequences.tolist(),
        clicks.moments.tolist(),
        clicks.link_ids.tolist(),
        clicks.addresses,
        clicks.user_agents,
        clicks.referrers,
        clicks.languages,
    )
    return [Click(*row) for row in zip(*columns, strict=True)]


@given(_CLICKS, st.integers(0, 15), st.integers(0, 4_000), st.integers(0, 255))
def test_the_sound_records_are_read(
    clicks: list[tuple[int, int, Visitor]], most: int, place: int, change: int
) -> None:
    """Up to the first that is damaged or cut off, and no more than asked for."""
    data = bytearray(records_of(2**64 - 20, clicks))
    if data:
        data[place % len(data)] ^= change
    for end in (len(data), place % (len(data) + 1)):
        found, offset = read_clicks(bytes(data[:end]), most)
        assert (rows(found), offset) == one_by_one(bytes(data[:end]), most)


@given(_CLICKS.filter(bool), st.data())
def test_clicks_are_joined_and_chosen(clicks: list[tuple[int, int, Visitor]], drawn: st.DataObject) -> None:
    """All columns together: no click gets another one's visitor."""
    found, _ = read_clicks(records_of(1, clicks), len(clicks))
    listed = rows(found)
    assert rows(Clicks.from_clicks(listed)) == listed
    assert rows(found + found) == listed + listed
    chosen = drawn.draw(st.lists(st.booleans(), min_size=len(listed), max_size=len(listed)))
    kept = [click for click, is_chosen in zip(listed, chosen, strict=True) if is_chosen]
    assert rows(found.where(np.array(chosen))) == kept
