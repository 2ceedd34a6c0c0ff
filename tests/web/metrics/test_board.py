"""Pages of numbers: what is counted stays, whoever dies."""

import math

from laconic.web.metrics import catalog
from laconic.web.metrics.board import MetricBoard
from laconic.web.metrics.exposition import Exposition


def text(board: MetricBoard) -> str:
    return Exposition(board, "eu", "sqlite").render("")[0].decode()


def test_a_successor_goes_on_where_the_page_stands() -> None:
    """Counters and histograms of a process that starts again at nothing only grow."""
    page = MetricBoard(["web 1"]).page("web 1")
    page.go_on()
    page.count(catalog.STALE, 5)
    page.spread(catalog.PROPAGATION, [1] * (len(catalog.PROPAGATION.bounds) + 1), 2.5)
    page.go_on()
    page.count(catalog.STALE, 0)
    assert page.read(catalog.STALE) == [5.0]
    page.count(catalog.STALE, 2)
    page.spread(catalog.PROPAGATION, [1] * (len(catalog.PROPAGATION.bounds) + 1), 0.5)
    assert page.read(catalog.STALE) == [7.0]
    assert page.read(catalog.PROPAGATION) == [2.0] * (len(catalog.PROPAGATION.bounds) + 1) + [3.0]


def test_gauges_end_with_their_process() -> None:
    """A sum over processes does not hold on to one that has gone; what nobody knows is not shown."""
    board = MetricBoard(["web 1", "web 2"])
    board.page("web 1").gauge(catalog.CONNECTIONS, 3)
    board.page("web 2").gauge(catalog.CONNECTIONS, 4)
    assert "\nlaconic_connections 7.0\n" in text(board)
    board.page("web 1").wipe_gauges()
    assert "\nlaconic_connections 4.0\n" in text(board)
    board.page("web 2").wipe_gauges()
    assert "\nlaconic_connections " not in text(board)


def test_pages_are_added_or_the_worst_is_shown() -> None:
    """As the metric says."""
    board = MetricBoard(["web 1", "web 2"])
    for name, state, opened in (("web 1", 0, 2), ("web 2", 2, 3)):
        board.page(name).gauge(catalog.BREAKER_STATE, state, "redis")
        board.page(name).count(catalog.BREAKER_OPENED, opened, "redis")
    assert 'laconic_breaker_state{breaker="redis"} 2.0\n' in text(board)
    assert 'laconic_breaker_opened_total{breaker="redis"} 5.0\n' in text(board)


def test_an_older_reading_does_not_count() -> None:
    """Two workers read the same counter of the database, the later one first."""
    page = MetricBoard([]).page("installation")
    page.raise_to(catalog.GENERATED, 20)
    page.raise_to(catalog.GENERATED, 10)
    assert page.read(catalog.GENERATED) == [20.0]


def test_a_histogram_adds_up() -> None:
    """Each bound counts all below it, the last one everything."""
    board = MetricBoard(["web 1"])
    counts = list(range(1, len(catalog.PROPAGATION.bounds) + 2))
    board.page("web 1").spread(catalog.PROPAGATION, counts, 1.5)
    page = text(board)
    assert 'cache_propagation_seconds_bucket{le="0.005"} 1.0\n' in page
    assert 'cache_propagation_seconds_bucket{le="0.01"} 3.0\n' in page
    assert f'cache_propagation_seconds_bucket{{le="+Inf"}} {float(sum(counts))}\n' in page
    assert f"cache_propagation_seconds_count {float(sum(counts))}\n" in page
    assert "cache_propagation_seconds_sum 1.5\n" in page


def test_an_unused_pool_is_never_exhausted() -> None:
    """Prometheus reads +Inf, and no alert compares less than it."""
    board = MetricBoard([])
    board.page("installation").gauge(catalog.EXHAUSTION, math.inf)
    assert 'kgs_pool_exhaustion_risk{region="eu"} +Inf\n' in text(board)
