"""Ids: ordered by time, never twice in a process, and silent about how many there are."""

from hypothesis import given
from hypothesis import strategies as st

from laconic.clock import HOUR, SECOND
from laconic.ids import IdSource

NOW = 1_800_000_000 * SECOND


@given(st.lists(st.integers(-5_000, 5_000), max_size=50))
def test_ids_grow_whatever_the_clock_does(steps: list[int]) -> None:
    """Also when it is set back, and many times in the same microsecond."""
    source, moment, last = IdSource(), NOW, 0
    for step in steps:
        moment += step
        taken = source.take(moment)
        assert taken > last
        last = taken


def test_ids_fit_into_63_bits_until_2089() -> None:
    """Both engines keep them as signed numbers of 64 bits."""
    end = NOW + (2089 - 2027) * 365 * 24 * HOUR
    assert 0 < IdSource().take(NOW) < IdSource().take(end) < 1 << 63


def test_id_tells_the_millisecond_and_nothing_else() -> None:
    """The rest is random, so that nobody can count the records of others."""
    tails = {IdSource().take(NOW) % (1 << 22) for _ in range(50)}
    assert len(tails) > 40
    assert len({IdSource().take(NOW) >> 22 for _ in range(50)}) == 1
    later = IdSource().take(NOW + SECOND)
    assert (later >> 22) - (IdSource().take(NOW) >> 22) == 1_000


def test_two_million_in_a_millisecond_stay_inside_it() -> None:
    """The random start leaves room for more than any process can make."""
    source = IdSource()
    first = source.take(NOW)
    assert ((first + 2_000_000) >> 22) == first >> 22
