"""P7: whatever befalls Redis, no redirect fails by it; and how soon redirects are as fast as before.

Visitors ask for many links, of which the worker remembers few, so that most redirects ask Redis. The short run is part
of `make test` and asserts that none fails; the long one also measures.
"""

import contextlib
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.faults.visitors import Visitors, p99
from tests.flows.server import LaconicServer, eventually, new_postgres_database
from tests.flows.talk import URLS
from tests.promises import Recorder
from tests.redis_servers import ClusterSetup, SentinelSetup, client_of
from tests.servers import PostgresServer, RedisServer

SETTLE_SECONDS = 1.0


@dataclass
class Fault:
    """What is done to the servers, how it is undone, and what has to have come of it in the end."""

    begin: Callable[[], None]
    end: Callable[[], None]
    has_worked: Callable[[], bool] = lambda: True


@contextlib.contextmanager
def one_server(name: str) -> Iterator[tuple[str, Fault]]:
    with RedisServer() as server:
        faults = {
            "stopped": Fault(server.pause, server.resume),
            "killed": Fault(server.kill, lambda: None),
            "killed and back": Fault(server.kill, lambda: _start(server)),
            "full": Fault(lambda: _limit(server, 1), lambda: _limit(server, 0)),
            "flushed": Fault(lambda: client_of(server).flushall(), lambda: None),
        }
        yield server.url(), faults[name]


def _start(server: RedisServer) -> None:
    server.start()


def _limit(server: RedisServer, maxmemory: int) -> None:
    client_of(server).config_set("maxmemory", maxmemory)


@contextlib.contextmanager
def absent(_: str) -> Iterator[tuple[str, Fault]]:
    """At the start, and for a while."""
    with RedisServer() as server:
        server.kill()
        yield server.url(), Fault(lambda: None, lambda: _start(server))


@contextlib.contextmanager
def sentinel(_: str) -> Iterator[tuple[str, Fault]]:
    with SentinelSetup().running() as setup:
        yield setup.url, Fault(setup.primary.kill, lambda: None, lambda: _is_asked(setup.replica))


@contextlib.contextmanager
def cluster(name: str) -> Iterator[tuple[str, Fault]]:
    with ClusterSetup(replicas=name == "replaced").running() as setup:
        lost = setup.primaries[1]
        begin = lost.pause if name == "node stopped" else lost.kill
        if name == "replaced":
            yield setup.url, Fault(begin, lambda: None, lambda: _is_asked(setup.replicas[1]))
        else:
            yield setup.url, Fault(begin, lambda: None)


def _is_asked(replica: RedisServer) -> bool:
    """Has it taken over, and are entries read from it, by MGET or in a Cluster by GET? Nobody reads from a replica."""
    client = client_of(replica)
    asked = {"cmdstat_mget", "cmdstat_get"} & client.info("commandstats").keys()
    return client.info("replication")["role"] == "master" and bool(asked)


FAULTS = [
    (one_server, "stopped"),
    (one_server, "killed"),
    (one_server, "killed and back"),
    (one_server, "full"),
    (one_server, "flushed"),
    (absent, "at the start"),
    (sentinel, "failover"),
    (cluster, "node stopped"),
    (cluster, "node lost"),
    (cluster, "replaced"),
]
# The others take servers that need seconds to agree: they belong to the long run.
SHORT = [FAULTS[index] for index in (0, 2, 3, 5)]
Setup = Callable[[str], contextlib.AbstractContextManager[tuple[str, Fault]]]


@dataclass(frozen=True)
class Figures:
    """p99 in seconds: before the fault, in its first second, after that, and from a second after its end on."""

    before: float
    first_second: float
    meanwhile: float
    after: float
    answers: int
    bad: int


def ask_through(server: LaconicServer, fault: Fault, seconds: float, links: int) -> Figures:
    """`seconds` is how long the fault lasts; before and after it are a few."""
    around = min(seconds, 5.0)
    with server.client() as client:
        paths = [f"/{code}" for code in _make_links(client, links)]
        for path in paths:
            assert client.get(path).status_code == 302
    turns = itertools.cycle(paths)
    with Visitors(server.base_url, lambda: next(turns), count=4, rate=75.0) as visitors:
        time.sleep(around)
        began = time.monotonic()
        fault.begin()
        time.sleep(max(seconds, SETTLE_SECONDS))
        eventually(fault.has_worked, "the fault has not worked")
        ended = time.monotonic()
        fault.end()
        time.sleep(around + SETTLE_SECONDS)
    told = visitors.told

    def between(start: float, end: float) -> float:
        return p99([one.seconds for one in told if start <= one.sent_at < end])

    return Figures(
        before=between(0, began),
        first_second=between(began, began + SETTLE_SECONDS),
        meanwhile=between(began + SETTLE_SECONDS, ended),
        after=between(ended + SETTLE_SECONDS, float("inf")),
        answers=len(told),
        bad=sum(one.status != 302 for one in told),
    )


def _make_links(client: httpx.Client, count: int) -> list[str]:
    lines = [{"original_url": f"https://example.com/{number}"} for number in range(count)]
    answer = client.post(f"{URLS}/bulk", json=lines)
    assert answer.status_code == 200
    return [line["short_code"] for line in map(json.loads, answer.text.splitlines())]


def _ask(
    setup: Setup, name: str, folder: Path, postgres_server: PostgresServer, seconds: float, links: int
) -> Figures:
    url = new_postgres_database(postgres_server)
    with setup(name) as (redis_url, fault):
        # A small pool of codes is full at once: filling a large one would be most of what is measured.
        server = LaconicServer(
            folder, url, redis_url=redis_url, cache_entries="50", log_level="info", kgs_pool_min_size="1000"
        )
        with server:
            figures = ask_through(server, fault, seconds, links)
        print(f"\n{setup.__name__}, {name}: {figures}\n{server.log()[-600:]}")
        return figures


@pytest.mark.parametrize(("setup", "name"), SHORT)
def test_p7_no_redirect_fails_by_redis(
    setup: Setup, name: str, tmp_path: Path, postgres_server: PostgresServer
) -> None:
    figures = _ask(setup, name, tmp_path, postgres_server, seconds=1.0, links=200)
    assert figures.answers > 100
    assert figures.bad == 0


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize(("setup", "name"), FAULTS)
def test_p7_redirects_are_as_fast_as_before_within_a_second(
    setup: Setup, name: str, tmp_path: Path, postgres_server: PostgresServer, record_property: Recorder
) -> None:
    """Twice the p99 from before, or 5 ms where that is less than what a busy machine does by itself."""
    seconds = 30.0 if name == "stopped" else 5.0
    figures = _ask(setup, name, tmp_path, postgres_server, seconds, links=2_000)
    bound = max(2 * figures.before, 0.005)
    record_property(
        "figure",
        f"{figures.bad} of {figures.answers:,} failed; p99 before, meanwhile, after:"
        f" {figures.before * 1000:.1f}, {figures.meanwhile * 1000:.1f}, {figures.after * 1000:.1f} ms",
    )
    assert figures.bad == 0
    assert figures.meanwhile <= bound
    assert figures.after <= bound
