"""SIGTERM and Ctrl-C: what was begun is finished, what was answered is counted, and the exit status says so."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator

import httpx
import psutil  # type: ignore[import-untyped]
import pytest

from tests.serve.conftest import MakeServer
from tests.serve.running import PATIENCE_SECONDS, HalfRequest, RunningServer, counted, wait_until
from tests.servers import PostgresServer

Stop = Callable[[RunningServer], None]


def stop_supervisor(server: RunningServer) -> None:
    os.kill(server.pid, signal.SIGTERM)


def press_ctrl_c(server: RunningServer) -> None:
    """A terminal sends it to the whole process group."""
    os.killpg(server.pid, signal.SIGINT)


def stop_everything(server: RunningServer) -> None:
    """As a service manager does that knows all processes of a service."""
    os.killpg(server.pid, signal.SIGTERM)


def close_terminal(server: RunningServer) -> None:
    os.killpg(server.pid, signal.SIGHUP)


WAYS = [stop_supervisor, press_ctrl_c, stop_everything, close_terminal]


@pytest.mark.parametrize("stop", WAYS, ids=lambda way: way.__name__)
def test_clicks_answered_before_the_end_are_counted_after_it(
    server: RunningServer, migrated_url: str, stop: Stop
) -> None:
    """However it is told to stop, the last clicks are applied before the last process ends."""
    code = server.create()
    server.follow(code, times=25)
    children = psutil.Process(server.pid).children()
    stop(server)
    assert server.wait() == 0, server.log()
    assert not any(child.is_running() for child in children)
    assert counted(server.folder, code, database_url=migrated_url) == 25
    assert list(server.data.glob("journal/*.segment")) == []
    assert "Traceback" not in server.log()


def test_ingest_ends_last_even_if_it_is_told_first(server: RunningServer, migrated_url: str) -> None:
    """Only the supervisor knows when the last click is in the journal: SIGTERM from others is not heeded."""
    ingest = server.children()["ingest"]
    os.kill(ingest, signal.SIGTERM)
    code = server.create()
    server.follow(code, times=5)
    server.wait_for_clicks(code, 5)
    assert server.children()["ingest"] == ingest
    assert server.terminate() == 0
    assert counted(server.folder, code, database_url=migrated_url) == 5
    assert list(server.data.glob("journal/*")) == []


def is_draining(server: RunningServer) -> bool:
    """Whoever asks is told so, or is not let in any more."""
    try:
        return httpx.get(server.url("/ready")).status_code == 503
    except httpx.TransportError:
        return True


@pytest.mark.parametrize("stop", [stop_supervisor, press_ctrl_c], ids=lambda way: way.__name__)
def test_a_request_in_flight_gets_its_answer(make_server: MakeServer, stop: Stop) -> None:
    """It has been accepted, so it is carried out, and the link is there after the next start."""
    server = make_server()
    request = HalfRequest(server)
    wait_until(lambda: httpx.get(server.url("/ready")).status_code == 200, "the request before has been read")
    stop(server)
    wait_until(lambda: is_draining(server), "the server stops accepting")
    answer = request.finish()
    assert answer.startswith(b"HTTP/1.1 201 "), answer
    assert server.wait() == 0
    code = answer.partition(b'"short_code":"')[2].partition(b'"')[0].decode()
    server.start()
    server.follow(code)


def test_new_connections_are_refused_while_an_old_one_drains(make_server: MakeServer) -> None:
    """A balancer sees a closed port and goes elsewhere; nobody waits in a queue that no one empties."""
    server = make_server("--workers", "2")
    request = HalfRequest(server)
    stop_supervisor(server)

    def is_refused() -> bool:
        try:
            socket.create_connection(("127.0.0.1", server.banner["port"])).close()
        except ConnectionRefusedError:
            return True
        return False

    wait_until(is_refused, "the port is closed")
    assert request.finish().startswith(b"HTTP/1.1 201 ")
    assert server.wait() == 0


def refuses(server: RunningServer) -> bool:
    try:
        socket.create_connection(("127.0.0.1", server.banner["port"]), timeout=0.1).close()
    except OSError:
        return True
    return False


def test_a_proxy_may_use_an_idle_connection_once_more(make_server: MakeServer) -> None:
    """It cannot know of the end when it sends, and must not repeat a write: the answer tells it."""
    server = make_server(trusted_proxies="127.0.0.1")
    body = b'{"url": "https://example.com/last"}'
    head = b"POST /shorten HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with socket.create_connection(("127.0.0.1", server.banner["port"]), PATIENCE_SECONDS) as proxy:
        proxy.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first = b""
        while not first.endswith(b"}"):
            first += proxy.recv(65536)
        stop_supervisor(server)
        wait_until(lambda: refuses(server), "the port is closed")
        proxy.sendall(head + b"X-Forwarded-For: 192.0.2.1\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        answer = b""
        while some := proxy.recv(65536):
            answer += some
    # Behind a proxy there is no open mode: that it is answered is what counts.
    assert answer.startswith(b"HTTP/1.1 401 "), answer
    assert b"connection: close" in answer.lower()
    assert server.wait() == 0


def test_a_client_that_never_finishes_does_not_hold_up_the_end(make_server: MakeServer) -> None:
    """It is given a few seconds, then its connection is closed."""
    server = make_server()
    with contextlib.closing(HalfRequest(server)):
        assert server.terminate() == 0, server.log()
    assert "Traceback" not in server.log()


def test_ctrl_c_again_ends_at_once(make_server: MakeServer) -> None:
    """A person who insists is obeyed; the journal keeps what was not counted yet."""
    server = make_server()
    children = psutil.Process(server.pid).children()
    with contextlib.closing(HalfRequest(server)):
        press_ctrl_c(server)
        while not has_ended(server, seconds=0.2):
            press_ctrl_c(server)
    assert server.wait() == 1
    assert "is killed" in server.log()
    assert not any(child.is_running() for child in children)


def has_ended(server: RunningServer, seconds: float) -> bool:
    assert server.process is not None
    try:
        server.process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that the test may kill."""
    with PostgresServer() as server:
        yield server


def test_a_stop_without_the_database_keeps_the_clicks(
    make_server: MakeServer, own_postgres: PostgresServer
) -> None:
    """What cannot be counted now stays in the journal for the next start, and no stack trace is shown."""
    url = own_postgres.url()
    server = make_server(database_url=url)
    code = server.create()
    server.follow(code)
    server.wait_for_clicks(code, 1)
    own_postgres.kill()
    server.follow(code, times=4)
    assert server.terminate() == 0, server.log()
    assert "Traceback" not in server.log()
    own_postgres.start()
    server.start()
    server.wait_for_clicks(code, 5)
