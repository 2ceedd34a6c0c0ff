"""PostgreSQL away: what was known goes on, nothing is answered 404 for it, and it comes back without a restart."""

import contextlib
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from laconic.redirect.lookup import _LOOKUP
from tests.faults.visitors import Visitors
from tests.flows.server import LaconicServer, eventually, new_postgres_database
from tests.flows.talk import URLS
from tests.redis_servers import client_of
from tests.servers import PostgresServer, RedisServer

_CLIENTS = 256
# Those who ask the database several times a second, whatever else they do. Upkeep may not need it for a minute.
_ASK_ALWAYS = {"web 1", "imports", "ingest"}


@pytest.fixture
def postgres() -> Iterator[PostgresServer]:
    """One that may be killed, and writes down what it is asked."""
    with PostgresServer(settings={"log_statement": "all"}) as server:
        yield server


def _make(client: httpx.Client, **fields: str) -> str:
    answer = client.post(URLS, json={"original_url": "https://example.com/", **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["short_code"])


def _remembers(redis: RedisServer, code: str) -> bool:
    with client_of(redis) as client:
        return any(code.encode() in key for key in client.scan_iter())


@pytest.mark.parametrize(
    ("how", "with_redis"),
    [
        ("killed", False),
        ("killed", True),
        # Writes that are under way wait ten seconds for a server that is frozen.
        pytest.param("stopped", False, marks=pytest.mark.long),
        pytest.param("stopped", True, marks=pytest.mark.long),
    ],
)
def test_p7_known_links_go_on_and_the_rest_is_503(
    tmp_path: Path, postgres: PostgresServer, how: str, with_redis: bool
) -> None:
    """P6 and P7. A second node has never been asked for the link: it knows it only by Redis."""
    url = new_postgres_database(postgres)
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(RedisServer()) if with_redis else None
        redis_url = redis.url() if redis else ""
        node = stack.enter_context(
            LaconicServer(tmp_path / "one", url, redis_url=redis_url, log_format="json")
        )
        other = stack.enter_context(LaconicServer(tmp_path / "two", url, redis_url=redis_url))
        client = stack.enter_context(node.client())
        far = stack.enter_context(other.client())
        known, unknown = _make(client), _make(client)
        assert client.get(f"/{known}").status_code == 302
        if redis:
            eventually(lambda: _remembers(redis, known), "Redis was not told")
        postgres.pause() if how == "stopped" else postgres.kill()

        seen = Counter(client.get(f"/{known}").status_code for _ in range(50))
        assert seen == {302: 50}
        lost = client.get(f"/{unknown}")
        assert (lost.status_code, lost.headers["retry-after"]) == (503, "1")
        assert client.get("/never1").status_code == 503
        write = client.post(URLS, json={"original_url": "https://example.com/new"})
        assert (write.status_code, write.headers["retry-after"]) == (503, "1")
        if with_redis:
            # On a busy machine Redis may take longer than it is waited for; then it is asked again.
            eventually(lambda: far.get(f"/{known}").status_code == 302, "Redis does not help the other node")
        else:
            assert far.get(f"/{known}").status_code == 503
        assert client.get("/health").json()["database"] == "error"
        eventually(lambda: _who_said(node, "is away") >= _ASK_ALWAYS, "not every process has seen it")

        postgres.resume() if how == "stopped" else postgres.start()
        eventually(lambda: client.get(f"/{unknown}").status_code == 302, "the database was not found again")
        eventually(lambda: far.get(f"/{known}").status_code == 302, "the other node did not find it again")
        eventually(lambda: client.get("/never1").status_code == 404, "a code that never was is not unknown")
        eventually(
            lambda: client.post(URLS, json={"original_url": "https://example.com/"}).status_code == 201,
            "no link could be made",
        )
        eventually(
            lambda: _who_said(node, "is back") == _who_said(node, "is away"),
            "some process has not found it",
        )
        changes = _changes_told(node)
        assert set(changes.values()) == {1}, changes


def _changes_told(node: LaconicServer) -> Counter[tuple[str, str]]:
    """How often each process of the node said that the database was away, and that it was back."""
    lines = [json.loads(line) for line in node.log().rpartition("\n")[0].splitlines()]
    return Counter((line["process"], line["event"]) for line in lines if line.get("what") == "the database")


def _who_said(node: LaconicServer, event: str) -> set[str]:
    return {process for process, told in _changes_told(node) if told == event}


def test_links_are_stale_for_max_stale_only(tmp_path: Path, postgres: PostgresServer) -> None:
    """Then a 503: it may have been deleted long ago."""
    url = new_postgres_database(postgres)
    with LaconicServer(tmp_path, url, max_stale="1s") as node, node.client() as client:
        code = _make(client)
        assert client.get(f"/{code}").status_code == 302
        postgres.kill()
        eventually(lambda: client.get(f"/{code}").status_code == 503, "it went on for ever")
        postgres.start()
        eventually(lambda: client.get(f"/{code}").status_code == 302, "it did not come back")


def _look_ups(postgres: PostgresServer) -> int:
    """How often the redirect's one SELECT was run, by the server's own log."""
    return sum(_LOOKUP in line and "execute" in line for line in postgres.log.read_text().splitlines())


def test_many_clients_on_one_cold_code_cost_one_look_up(tmp_path: Path, postgres: PostgresServer) -> None:
    """256 at once, on one worker."""
    url = new_postgres_database(postgres)
    with LaconicServer(tmp_path, url) as node:
        with node.client() as client:
            code = _make(client)
        before = _look_ups(postgres)
        port = urlsplit(node.base_url).port
        with contextlib.ExitStack() as stack:
            sockets = [
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
                for _ in range(_CLIENTS)
            ]
            for one in sockets:
                one.sendall(f"GET /{code} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            statuses = [int(one.recv(65536).split()[1]) for one in sockets]
        assert Counter(statuses) == {302: _CLIENTS}
        assert _look_ups(postgres) - before == 1


@pytest.mark.parametrize("end", ["expires", "is deleted"])
def test_a_viral_link_that_ends_costs_at_most_a_look_up_a_second(
    tmp_path: Path, postgres: PostgresServer, end: str
) -> None:
    """However many ask for it before and after."""
    url = new_postgres_database(postgres)
    with LaconicServer(tmp_path, url) as node, node.client() as client:
        body = {"original_url": "https://example.com/"}
        code = client.post(URLS, json=body | ({"expires_in_seconds": 4} if end == "expires" else {})).json()[
            "short_code"
        ]
        assert client.get(f"/{code}").status_code == 302
        before = _look_ups(postgres)
        begun = time.monotonic()
        with Visitors(node.base_url, lambda: f"/{code}", count=4) as visitors:
            visitors.wait_for(lambda told: told.status == 302, 0)
            if end == "is deleted":
                assert client.delete(f"{URLS}/{code}").status_code == 204
            visitors.wait_for(lambda told: told.status == 410, 0, count=2_000)
        seconds = time.monotonic() - begun
        assert {told.status for told in visitors.told} == {302, 410}
        # One for the link as it was, before it ended.
        assert 0 < _look_ups(postgres) - before <= seconds + 1
