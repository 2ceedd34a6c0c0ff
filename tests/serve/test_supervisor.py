"""Processes that die are replaced, and nothing is left behind or lost when they do."""

import contextlib
import http.client
import json
import os
import re
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from tests.serve.conftest import MakeServer
from tests.serve.running import PATIENCE_SECONDS, HalfRequest, RunningServer, wait_until


def test_a_dead_process_is_started_again(server: RunningServer) -> None:
    """Whichever dies: links are made, followed and counted afterwards as before."""
    for name in ("web 1", "imports", "ingest", "upkeep"):
        server.kill_child(name)
        code = server.create()
        server.follow(code, times=3)
        server.wait_for_clicks(code, 3)
    assert set(server.children()) == {"web 1", "imports", "ingest", "upkeep"}


def test_connections_wait_while_a_worker_is_replaced(make_server: MakeServer) -> None:
    """The supervisor keeps the port open, so nobody is refused meanwhile."""
    server = make_server()
    code = server.create()
    os.kill(server.children()["web 1"], signal.SIGKILL)
    server.follow(code)


def test_a_worker_that_is_told_to_stop_is_replaced(make_server: MakeServer) -> None:
    """An operator may recycle a single worker with a plain `kill`."""
    server = make_server()
    server.kill_child("web 1", signal.SIGTERM)
    server.follow(server.create())


def test_every_worker_answers(make_server: MakeServer) -> None:
    """All workers share the port, and each one can be lost."""
    server = make_server("--workers", "3")
    assert set(server.children()) == {"web 1", "web 2", "web 3", "imports", "ingest", "upkeep"}
    code = server.create()
    for name in ("web 1", "web 2", "web 3"):
        server.kill_child(name)
    for _ in range(12):
        server.follow(code)
    server.wait_for_clicks(code, 12)


@pytest.mark.parametrize(
    ("role", "names"), [("web", {"web 1", "imports", "ingest"}), ("background", {"upkeep"})]
)
def test_a_role_has_its_processes(make_server: MakeServer, role: str, names: set[str]) -> None:
    """A machine that only answers, or only cleans up."""
    server = make_server("--role", role)
    assert server.banner["role"] == role
    assert set(server.children()) == names
    assert server.terminate() == 0


def test_a_web_worker_does_without_the_array_library(make_server: MakeServer) -> None:
    """Thirteen MiB that only who makes sketches, rollups or codes by the thousand has to have."""
    server = make_server(kgs_pool_min_size="0")
    code = server.create()
    server.follow(code)
    server.wait_for_clicks(code, 1)
    maps = {
        name: Path(f"/proc/{pid}/maps").read_text()
        for name, pid in {"supervisor": server.pid, **server.children()}.items()
    }
    assert {name for name, text in maps.items() if "/numpy/" in text or "datasketches" in text} == {"ingest"}


def test_a_killed_supervisor_leaves_no_orphans(server: RunningServer) -> None:
    """The children notice that their pipe has closed, finish and end."""
    children = psutil.Process(server.pid).children()
    assert len(children) == 4
    os.kill(server.pid, signal.SIGKILL)
    _, alive = psutil.wait_procs(children, timeout=PATIENCE_SECONDS)
    assert alive == []


def test_a_server_waits_for_what_a_killed_one_has_left(make_server: MakeServer) -> None:
    """The killed one's worker still answers a request; the next start neither disturbs nor refuses."""
    server = make_server()
    code = server.create()
    request = HalfRequest(server)
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    with ThreadPoolExecutor(1) as pool:
        start = pool.submit(server.start)
        wait_until(lambda: "its processes are ending" in server.log(), "the new server waits")
        assert request.finish().startswith(b"HTTP/1.1 201 ")
        start.result()
    server.follow(code)


def test_an_import_that_meets_only_orphans_is_refused(make_server: MakeServer) -> None:
    """The imports have ended and nobody starts them again: whoever asks hears so, and holds up no new start."""
    server = make_server()
    web, imports = (psutil.Process(server.children()[name]) for name in ("web 1", "imports"))
    connection = http.client.HTTPConnection("127.0.0.1", server.banner["port"], timeout=PATIENCE_SECONDS)
    connection.connect()
    web.suspend()
    os.kill(server.pid, signal.SIGKILL)
    imports.wait(PATIENCE_SECONDS)
    line = json.dumps({"original_url": "https://example.com/"})
    connection.request("POST", "/api/v1/urls/bulk", line, {"content-type": "application/x-ndjson"})
    web.resume()
    refusal = json.loads(connection.getresponse().read())
    assert (refusal["status"], refusal["code"]) == (503, "unavailable")
    assert "Traceback" not in server.log()
    connection.close()


def test_a_killed_workers_journal_is_drained_by_the_next_start(server: RunningServer) -> None:
    """Clicks that were answered are on disk before the answer, so they outlive every process."""
    code = server.create()
    os.kill(server.children()["ingest"], signal.SIGSTOP)
    server.follow(code, times=7)
    assert server.clicks(code) == 0
    server.kill_all()
    server.start()
    server.wait_for_clicks(code, 7)
    wait_until(
        lambda: len(list(server.data.glob("journal/*.lock"))) == 1, "the dead worker's journal is removed"
    )


def test_a_killed_workers_journal_is_drained_beside_its_successors(server: RunningServer) -> None:
    """The same while the server goes on."""
    code = server.create()
    server.follow(code, times=5)
    server.kill_child("web 1")
    server.follow(code, times=4)
    server.wait_for_clicks(code, 9)


def open_files(pid: int) -> Counter[str]:
    """What a process has open, without the numbers that tell two of a kind apart."""
    found: Counter[str] = Counter()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found[re.sub(r"[0-9a-f]{16,}(-\d+)?|:\[\d+\]", "", str(descriptor.readlink()))] += 1
    return found


ROUNDS = 4


def test_twenty_restarts_leak_nothing(make_server: MakeServer) -> None:
    """A server runs for years: what is started again takes the place of what has died, in every table."""
    server = make_server("--workers", "2")
    supervisor = psutil.Process(server.pid)
    of_supervisor = open_files(server.pid)
    # Upkeep opens and closes files while it works.
    workers = {name: open_files(server.children()[name]) for name in ("web 1", "web 2")}
    restarts = 0
    # Round by round, because one that dies at once is started again more and more slowly.
    for _ in range(ROUNDS):
        for name in sorted(server.children()):
            server.kill_child(name)
            restarts += 1
    assert restarts == 20
    server.follow(server.create())
    assert open_files(server.pid) == of_supervisor
    assert len(supervisor.children()) == 5
    assert all(child.status() != psutil.STATUS_ZOMBIE for child in supervisor.children())
    for name, files in workers.items():
        assert grown(files, open_files(server.children()[name])) == {}


def grown(before: Counter[str], now: Counter[str]) -> dict[str, int]:
    """Of which files a worker has more than its first predecessor, by as many as there were restarts of it.

    What the supervisor forgot to close a worker would inherit, one for each restart. A few come and go in a sound
    one: a connection, a ring that the kernel had no room for, a reader's database that nobody has asked yet.
    """
    return {name: more for name, more in (now - before).items() if more >= ROUNDS}
