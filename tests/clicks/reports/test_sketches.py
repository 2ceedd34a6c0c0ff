"""Sketches of frequent links, as the library writes them."""

from collections import Counter

from datasketches import frequent_strings_sketch
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.reports.sketches import frequent_items, heaviest_links


def sketch_of(weights: dict[str, int], size: int = 10) -> bytes:
    sketch = frequent_strings_sketch(size)
    for item, weight in weights.items():
        sketch.update(item, weight)
    return bytes(sketch.serialize())


def test_a_small_sketch_is_read_exactly() -> None:
    weights = {str(10**18 + number): number for number in range(1, 500)}
    assert {item.decode(): weight for item, weight in frequent_items(sketch_of(weights))} == weights


def test_a_full_sketch_keeps_the_frequent_ones() -> None:
    """Weights are bounds from above, as the library gives them itself."""
    weights = {str(number): 1 + (number < 20) * 10_000 for number in range(50_000)}
    sketch = sketch_of(weights)
    read = {item.decode(): weight for item, weight in frequent_items(sketch)}
    whole = frequent_strings_sketch.deserialize(sketch)
    assert all(bound == whole.get_upper_bound(item) for item, bound in read.items())
    assert set(heaviest_links([sketch], 20)) == set(range(20))


def test_days_add_up() -> None:
    days = [sketch_of({"1": 5, "2": 4}), sketch_of({"2": 4, "3": 7}), sketch_of({})]
    assert heaviest_links(days, 2) == [2, 3]


def test_what_is_no_sketch_tells_nothing() -> None:
    """A damaged row spoils no report."""
    good = sketch_of({"1": 5, "22": 4})
    for bad in (b"", b"\0" * 40, good[:-3], good[:33], b"\xff" * 100, good[:8] + b"\xff" * 4 + good[12:]):
        heaviest_links([bad], 5)
    assert heaviest_links([good[:-3], good], 1) == [1]


_WEIGHTS = st.one_of(st.integers(1, 5), st.integers(1, 100_000))
_NAMES = st.one_of(st.integers(1, 9), st.integers(10**17, 10**17 + 50), st.integers(0, 10**6))


@given(
    st.lists(st.dictionaries(_NAMES, _WEIGHTS, max_size=60), max_size=5), st.integers(1, 6), st.integers(0, 8)
)
def test_those_who_are_sure_are_never_missed(days: list[dict[int, int]], sure: int, spare: int) -> None:
    """Whatever was not read: those given hold the heaviest, whether names are of one length or not."""
    totals: Counter[int] = Counter()
    for day in days:
        totals.update(day)
    sketches = [sketch_of({str(name): weight for name, weight in day.items()}) for day in days]
    found = heaviest_links(sketches, sure + spare, sure)
    assert len(set(found)) == len(found) <= sure + spare
    best = sorted((totals[name] for name in found), reverse=True)[:sure]
    assert best == sorted(totals.values(), reverse=True)[:sure]


def test_leaders_alone_are_enough_where_they_are_far_ahead() -> None:
    """A day's many small links are not read: whoever is given beside the sure ones is one of its leaders."""
    few = {str(10**17 + number): 1_000_000 >> number for number in range(9)}
    many = {str(10**17 + 100 + number): 10 for number in range(700)}
    found = heaviest_links([sketch_of(few | many)] * 30, 30, 5)
    assert found == [10**17 + number for number in range(9)]
