"""Sketches: near enough, and mergeable."""

import random

from laconic.clicks.sketches import add_links, add_visitors, frequent_links


def _hashes(count: int, seed: int) -> list[int]:
    numbers = random.Random(seed)
    return [numbers.getrandbits(63) for _ in range(count)]


def test_few_visitors_are_counted_exactly() -> None:
    """Most links have few visitors a day: their number is no estimate. The same one again adds nothing."""
    sketch, visitors = add_visitors(None, _hashes(5, seed=1))
    assert visitors == 5
    sketch, visitors = add_visitors(sketch, _hashes(5, seed=1))
    assert visitors == 5
    _, visitors = add_visitors(sketch, _hashes(3, seed=2))
    assert visitors == 8


def test_many_visitors_are_estimated() -> None:
    """Within three times the stated error, batch after batch, in two kilobytes."""
    sketch: bytes | None = None
    visitors = 0
    for batch in range(20):
        sketch, visitors = add_visitors(sketch, _hashes(5_000, seed=batch))
    assert abs(visitors - 100_000) < 3 * 0.0162 * 100_000
    assert sketch is not None
    assert len(sketch) < 2_500


def test_the_most_followed_links_are_found() -> None:
    """Over several days, among very many that were followed once."""
    days = []
    for day in range(3):
        sketch = add_links(None, {7: 500, 8: 400})
        days.append(add_links(sketch, dict.fromkeys(range(1_000 + day * 5_000, 6_000 + day * 5_000), 1)))
    assert frequent_links(days, most=2) == [7, 8]
