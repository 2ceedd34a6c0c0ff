"""Columns of values and places: whatever is done to the values, the rows are those of a plain column."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.coded import Coded, take

_columns = st.lists(st.sampled_from(["", "a", "B", "b", "ab", "é"]), max_size=40)


@given(_columns)
def test_a_column_comes_back_as_it_was(column: list[str]) -> None:
    """With each value once in the list, in the order of their first appearance."""
    coded = Coded.from_column(column)
    assert coded.rows() == column
    assert coded.values == list(dict.fromkeys(column))
    assert len(coded) == len(column)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=40))
def test_numbers_come_back_and_stand_in_order(column: list[int]) -> None:
    """Plain ones: an engine would not know numpy's."""
    coded = Coded.from_numbers(np.array(column, np.int64))
    assert coded.rows() == column
    assert coded.values == sorted(set(column))
    assert {type(number) for number in coded.rows()} <= {int}


@given(_columns)
def test_what_is_made_of_values_is_made_of_rows(column: list[str]) -> None:
    """Also when it makes the same of several; in order, each of them stands once."""
    made = Coded.from_column(column).apply(str.lower)
    assert made.rows() == [value.lower() for value in column]
    assert made.ordered().rows() == made.rows()
    assert made.ordered().values == sorted(set(made.rows()))


def test_values_may_be_sequences() -> None:
    """They are taken as they are, not looked into."""
    assert take([(1, 2), (3, 4)], np.array([1, 0, 1])) == [(3, 4), (1, 2), (3, 4)]
