"""/metrics tells of all processes, whichever worker is asked, and whoever of them has died."""

from collections.abc import Iterator

import httpx
import pytest

from laconic.web.metrics.catalog import CATALOG
from tests.serve.conftest import MakeServer
from tests.serve.numbers import Numbers
from tests.serve.running import RunningServer, wait_until
from tests.servers import RedisServer

# Name to type and labels, as the contract and its alerts have them.
CONTRACT = {
    "kgs_pool_size": ("gauge", {"region"}),
    "kgs_pool_min_size": ("gauge", {"region"}),
    "kgs_pool_exhaustion_risk": ("gauge", {"region"}),
    "kgs_allocation_rate_total": ("counter", {"region", "status"}),
    "kgs_generation_rate_total": ("counter", {"region"}),
    "code_conflicts_total": ("counter", set[str]()),
    "cache_propagation_seconds": ("histogram", set[str]()),
    "laconic_requests_total": ("counter", {"class", "status"}),
    "laconic_request_duration_seconds": ("histogram", {"class"}),
    "laconic_cache_requests_total": ("counter", {"tier", "result"}),
    "laconic_cache_evictions_total": ("counter", {"tier"}),
    "laconic_targets_refused_total": ("counter", {"reason"}),
    "laconic_links": ("gauge", {"state"}),
    "laconic_clicks_total": ("counter", {"kind"}),
    "laconic_links_created_24h": ("gauge", set[str]()),
    "laconic_clicks_unrecorded_total": ("counter", set[str]()),
    "laconic_journal_bytes": ("gauge", set[str]()),
    "laconic_journal_sync_errors_total": ("counter", set[str]()),
    "laconic_ingest_lag_seconds": ("gauge", set[str]()),
    "laconic_cleanup_runs_total": ("counter", {"outcome"}),
    "laconic_cleanup_links_total": ("counter", set[str]()),
    "laconic_cleanup_last_timestamp_seconds": ("gauge", set[str]()),
    "laconic_breaker_state": ("gauge", {"breaker"}),
    "laconic_rate_limited_total": ("counter", {"limit"}),
    "laconic_rate_limit_failing_open": ("gauge", {"limit"}),
    "laconic_database_connections": ("gauge", {"pool", "state"}),
    "laconic_database_bytes": ("gauge", {"part"}),
    "laconic_slow_queries_total": ("counter", set[str]()),
    "laconic_build_info": ("gauge", {"version", "python", "engine"}),
}


@pytest.fixture
def server(make_server: MakeServer, migrated_url: str, redis_server: RedisServer) -> RunningServer:
    """Two workers, on every engine, with Redis."""
    return make_server(
        "--workers",
        "2",
        database_url=migrated_url,
        redis_url=redis_server.url(),
        kgs_pool_min_size="1000",
        rate_create="5/s",
    )


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


def settle(server: RunningServer, name: str, expected: float, **labels: str) -> Numbers:
    """The other worker tells once a second; waits until all has been told."""
    found: list[Numbers] = []

    def is_told() -> bool:
        found[:] = [Numbers(server)]
        return found[0].sum(name, **labels) >= expected

    wait_until(is_told, f"{name}{labels} is {expected}")
    assert found[0].sum(name, **labels) == expected
    return found[0]


def test_all_of_the_contract_is_there(server: RunningServer) -> None:
    """Every metric by its name, its type and its labels, after some traffic."""
    code = server.create()
    server.follow(code, times=3)
    server.wait_for_clicks(code, 3)
    wait_until(lambda: Numbers(server).sum("laconic_cleanup_runs_total") > 0, "the reaper has run")
    numbers = Numbers(server)
    # All that the alert rules and the dashboard may name: tests/deploy compares them with the catalog.
    assert numbers.families.keys() == {metric.name for metric in CATALOG}
    is_network = next(numbers.samples("laconic_build_info")).labels["engine"] == "postgresql"
    for name, (kind, labels) in CONTRACT.items():
        family = numbers.families[name]
        assert family.type == kind, name
        assert family.samples, name
        assert all(set(sample.labels) - {"le"} == labels for sample in family.samples), name
    breakers = {sample.labels["breaker"] for sample in numbers.samples("laconic_breaker_state")}
    assert breakers >= ({"database", "redis"} if is_network else {"redis"})


def test_numbers_of_all_workers_add_up(server: RunningServer) -> None:
    """Whichever worker answered, and whichever is asked: exact, in the lane and in the application."""
    code = server.create()
    for _ in range(30):
        server.follow(code)  # each time over a new connection, so that both workers get some
    for _ in range(5):
        assert httpx.get(server.url("/nosuch1")).status_code == 404
    numbers = settle(server, "laconic_requests_total", 30, **{"class": "redirect", "status": "302"})
    numbers = settle(server, "laconic_requests_total", 5, **{"class": "redirect", "status": "404"})
    assert numbers.sum("laconic_request_duration_seconds_count", **{"class": "redirect"}) == 35
    asked = numbers.sum("laconic_cache_requests_total", tier="memory")
    assert asked == 35
    assert 1 <= numbers.sum("laconic_cache_requests_total", tier="memory", result="miss") <= 10
    settle(server, "laconic_ingest_clicks_total", 30)


def test_a_killed_worker_takes_nothing_back(server: RunningServer) -> None:
    """Its counters stay and go on with its successor; its gauges end with it."""
    code = server.create()
    for _ in range(20):
        server.follow(code)
    redirects = {"class": "redirect", "status": "302"}
    before = settle(server, "laconic_requests_total", 20, **redirects)
    for name in ("web 1", "web 2", "ingest", "upkeep", "imports"):
        server.kill_child(name)
    wait_until(lambda: Numbers(server).sum("laconic_process_up") == 5, "all processes are up")
    for _ in range(10):
        server.follow(code)
    after = settle(server, "laconic_requests_total", 30, **redirects)
    for family in before.families.values():
        for sample in family.samples:
            if family.type in ("counter", "histogram") and sample.value > 0:
                assert after.sum(sample.name, **sample.labels) >= sample.value, sample
    for name in ("web 1", "web 2", "ingest", "upkeep", "imports"):
        assert after.sum("laconic_process_starts_total", process=name) == 2
    # The one that reads the page, and perhaps one that is just ending; none of the dead workers'.
    wait_until(lambda: Numbers(server).sum("laconic_connections") == 1, "connections of the dead are gone")


def test_a_redis_that_is_away_is_seen(server: RunningServer, redis_server: RedisServer) -> None:
    """The breaker opens, and health says that it is degraded."""
    server.create()
    redis_server.stop()

    def is_open() -> bool:
        server.follow(server.create())
        return Numbers(server).sum("laconic_breaker_state", breaker="redis") > 0

    wait_until(is_open, "the breaker is open")
    assert Numbers(server).sum("laconic_healthy") == 0.5
