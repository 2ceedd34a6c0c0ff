"""Cutting a stream into JSON documents, wherever its pieces begin and end."""

import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.web.api.problems import Problem
from laconic.web.api.streams import LARGEST_ITEM, ArraySplitter, LineSplitter, Splitter

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def cut(body: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(edges)]


def split(splitter: Splitter, pieces: list[bytes]) -> list[bytes | Problem]:
    found: list[bytes | Problem] = []
    for piece in pieces:
        found += splitter.feed(piece, is_end=False)
    return [*found, *splitter.feed(b"", is_end=True)]


def documents(found: list[bytes | Problem]) -> list[Any]:
    assert not [one for one in found if isinstance(one, Problem)]
    return [json.loads(one) for one in found if isinstance(one, bytes)]


@given(
    items=st.lists(values, max_size=8),
    places=st.lists(st.integers(0, 10_000), max_size=12),
    gap=st.booleans(),
)
def test_lines_come_out_as_they_went_in(items: list[Any], places: list[int], gap: bool) -> None:
    """Empty lines are passed over, and the last one needs no end."""
    lines = [json.dumps(item, ensure_ascii=False).encode() for item in items]
    body = (b"\n\r\n" if gap else b"\n").join(lines)
    assert documents(split(LineSplitter(), cut(body, places))) == items


@given(
    items=st.lists(values, max_size=8),
    places=st.lists(st.integers(0, 10_000), max_size=12),
    indent=st.sampled_from([None, 2]),
)
def test_elements_come_out_as_they_went_in(items: list[Any], places: list[int], indent: int | None) -> None:
    """Numbers that go on in the next piece, and characters cut in the middle of their bytes, included."""
    body = json.dumps(items, ensure_ascii=False, indent=indent).encode()
    assert documents(split(ArraySplitter(), cut(body, places))) == items


@pytest.mark.parametrize("size", [997, LARGEST_ITEM, 3 * LARGEST_ITEM])
def test_line_that_is_too_long_is_told_once(size: int) -> None:
    """However it is cut, and the lines around it are unharmed."""
    long = b'"' + b"x" * (2 * LARGEST_ITEM) + b'"'
    body = b"1\n" + long + b"\n2\n" + long
    found = split(LineSplitter(), [body[start : start + size] for start in range(0, len(body), size)])
    assert [one if isinstance(one, bytes) else one.kind.status for one in found] == [b"1", 413, b"2", 413]


def test_element_that_is_too_large_is_told() -> None:
    """In one piece the array goes on behind it."""
    body = b'[1,"' + b"x" * (2 * LARGEST_ITEM) + b'",2]'
    found = split(ArraySplitter(), [body])
    assert [one if isinstance(one, bytes) else one.kind.status for one in found] == [b"1", 413, b"2"]
