"""Sketches of frequent links, as the library writes them."""

from datasketches import frequent_strings_sketch

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
