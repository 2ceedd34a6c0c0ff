"""How long things took, as counts by size."""

from laconic.redirect.spread import BOUNDS, Spread


def test_each_observation_is_counted_once() -> None:
    """In the first class that it does not exceed; the last is of what took longer than all of them."""
    spread = Spread()
    assert (spread.count, spread.total, spread.most) == (0, 0.0, 0.0)
    for seconds in (0.0, 0.005, 0.006, 10.0, 11.0):
        spread.observe(seconds)
    assert spread.counts == [2, 1, *[0] * (len(BOUNDS) - 3), 1, 1]
    assert spread.count == 5
    assert spread.total == 0.005 + 0.006 + 10.0 + 11.0
    assert spread.most == 11.0


def test_the_classes_do_not_change() -> None:
    """Whoever keeps the metrics compares them over the years."""
    assert BOUNDS == (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
