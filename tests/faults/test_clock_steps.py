"""The clock of one machine is set an hour back, and a day ahead: no 5xx, and nothing is lost."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.flows import server as served
from tests.flows.server import LaconicServer, eventually, new_postgres_database
from tests.flows.talk import URLS
from tests.servers import PostgresServer, RedisServer

_PROGRAM = Path(__file__).with_name("stepped.py")
_PROCESSES = ("web 1", "upkeep", "ingest")


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`laconic` with a clock that can be set."""
    script = tmp_path / "laconic"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -P {_PROGRAM} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setattr(served, "COMMAND", script)


@pytest.fixture(params=["sqlite", "postgres"])
def nodes(
    request: pytest.FixtureRequest, program: None, tmp_path: Path, postgres_server: PostgresServer
) -> Iterator[list[LaconicServer]]:
    """The first one's clock will be set. SQLite has one node only."""
    options = {"cleanup_interval": "1s", "cleanup_buffer_time": "1s"}
    with ExitStack() as stack:
        if request.param == "sqlite":
            yield [stack.enter_context(LaconicServer(tmp_path / "one", **options))]  # type: ignore[arg-type]
            return
        url = new_postgres_database(postgres_server)
        options["redis_url"] = stack.enter_context(RedisServer()).url()
        yield [
            stack.enter_context(LaconicServer(tmp_path / name, url, **options))  # type: ignore[arg-type]
            for name in ("one", "two")
        ]


def _set_clock(node: LaconicServer, number: signal.Signals) -> None:
    for name in _PROCESSES:
        os.kill(node.child(name).pid, number)


def _runs(client: httpx.Client) -> int:
    return int(client.get("/api/admin/cleanup/stats").json()["successful_runs"])


def test_a_clock_that_is_set_loses_nothing(nodes: list[LaconicServer]) -> None:
    """While it is wrong, expiry is judged wrongly on that machine alone; right again, so is every answer."""
    with ExitStack() as stack:
        clients = [stack.enter_context(node.client()) for node in nodes]
        body = {"original_url": "https://example.com/"}
        lasting = clients[0].post(URLS, json=body).json()["short_code"]
        half_a_day = clients[0].post(URLS, json={**body, "expires_in_hours": 12}).json()["short_code"]
        over = clients[0].post(URLS, json={**body, "expires_in_seconds": 1}).json()["short_code"]
        eventually(lambda: clients[0].get(f"/{over}").status_code == 410, "it did not expire")

        def answers(client: httpx.Client) -> list[int]:
            return [client.get(f"/{code}").status_code for code in (lasting, half_a_day, over, "never12")]

        right = [302, 302, 410, 404]
        for client in clients:
            assert answers(client) == right
        for step in (signal.SIGUSR1, signal.SIGUSR2):
            _set_clock(nodes[0], step)
            runs = _runs(clients[0])
            for _ in range(20):
                seen = answers(clients[0])
                assert not [status for status in seen if status >= 500]
                assert seen[0] == 302
                assert clients[0].post(URLS, json=body).status_code == 201
                for client in clients[1:]:
                    assert answers(client) == right
            if step == signal.SIGUSR1:
                # Where the machine's clock is the database's, the reaper's lease is from the future: it rests.
                continue
            # The reaper goes on, by whichever machine, before the clock is right again.
            eventually(lambda runs=runs: _runs(clients[0]) > runs + 1, "the reaper did not run")  # type: ignore[misc]
        _set_clock(nodes[0], signal.SIGURG)
        for client in clients:
            eventually(lambda client=client: answers(client) == right, "a link was lost")  # type: ignore[misc]
