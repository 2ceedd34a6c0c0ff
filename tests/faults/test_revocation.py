"""What must stop on every worker within a second: a revoked key, and open mode once there is a user."""

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.serve.running import RunningServer, run

pytestmark = [pytest.mark.long, pytest.mark.timed]

_WORKERS = 4
_CONNECTIONS = 40
# All connections ask again and again: an answer of 429 would say nothing.
_RATE = "100000/s burst 100000"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@contextmanager
def clients(server: RunningServer, **headers: str) -> Iterator[list[httpx.Client]]:
    """Many connections: the kernel spreads them over all workers."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(httpx.Client(base_url=server.url(""), headers=headers))
            for _ in range(_CONNECTIONS)
        ]


def seconds_until_all(opened: list[httpx.Client], begun: float, path: str, status: int) -> float:
    """How long after `begun` the last connection got another answer than `status`."""
    last = begun
    deadline = begun + 10
    while time.monotonic() < deadline:
        asked = time.monotonic()
        if not [one for one in opened if one.get(path).status_code != status]:
            return last - begun
        last = asked
    raise AssertionError(f"still not {status} after 10 s")


def test_a_revoked_key_stops_on_every_worker_within_a_second(folder: Path) -> None:
    """Every worker has just used it. The second begins before the revocation is even sent."""
    with RunningServer(folder, "--workers", str(_WORKERS), host="0.0.0.0", rate_api=_RATE) as server:
        key = json.loads(run(folder, "key", "create", "website", "--json").stdout)
        admin = json.loads(run(folder, "key", "create", "admin", "--scope", "admin", "--json").stdout)
        with clients(server, **{"x-api-key": key["secret"]}) as opened:
            assert {one.get("/api/v1/urls").status_code for one in opened} == {200}
            begun = time.monotonic()
            revoked = httpx.delete(
                server.url(f"/api/v1/api-keys/{key['id']}"), headers={"x-api-key": admin["secret"]}
            )
            assert revoked.status_code == 204
            took = seconds_until_all(opened, begun, "/api/v1/urls", 401)
        print(f"\nthe last worker let the revoked key in {took:.2f} s after its revocation was sent")
        assert took < 1


def test_the_first_user_ends_open_mode_on_every_worker_within_a_second(folder: Path) -> None:
    """The second begins before the user is even asked for."""
    with (
        RunningServer(folder, "--workers", str(_WORKERS), rate_api=_RATE) as server,
        clients(server) as opened,
    ):
        assert {one.get("/api/v1/urls").status_code for one in opened} == {200}
        assert server.banner["set_up_url"].startswith("http://")
        begun = time.monotonic()
        made = httpx.post(server.url("/api/v1/users"), json={"email": "ann@example.com", "role": "admin"})
        assert made.status_code == 201, made.text
        took = seconds_until_all(opened, begun, "/api/v1/urls", 401)
        print(f"\nthe last worker was open {took:.2f} s after the user was asked for")
        assert took < 1
