"""Disk full, syncs that fail, no file descriptor, no memory: visitors are sent on, writes are refused in clear words, and
all is well again when the cause is gone, without a restart."""

import contextlib
import json
import resource
import socket
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil  # type: ignore[import-untyped]

from tests.faults.exhaustion import failing, fill, limited, small_disk
from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import URLS, make_code

LINKS = 10
# A segment of the journal takes 16 MiB.
DISK_MEGABYTES = 64


def _create(client: httpx.Client, **fields: object) -> httpx.Response:
    return client.post(URLS, json={"original_url": "https://example.com/new", **fields})


def _assert_refused(answer: httpx.Response) -> None:
    """A problem document that a program can act on."""
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] in ("unavailable", "outcome_unknown")
    assert int(answer.headers["retry-after"]) >= 1


def _assert_followed(client: httpx.Client, codes: list[str], times: int = 3) -> None:
    for _ in range(times):
        for code in codes:
            answer = client.get(f"/{code}")
            assert answer.status_code == 302, answer.text


def _heals(client: httpx.Client) -> str:
    """The code of a link that is made as soon as links can be made again."""

    def look() -> str | None:
        answer = _create(client)
        return str(answer.json()["short_code"]) if answer.status_code == 201 else None

    return eventually(look, "links cannot be made again")


@contextlib.contextmanager
def _serving(folder: Path) -> Iterator[tuple[LaconicServer, httpx.Client, list[str]]]:
    with LaconicServer(folder) as server, server.client() as client:
        yield server, client, [make_code(client) for _ in range(LINKS)]


def test_full_disk(tmp_path: Path) -> None:
    """What was refused is not there; what was answered is; and no link was ever answered 404 meanwhile."""
    with small_disk(tmp_path / "disk", DISK_MEGABYTES) as disk, _serving(disk) as (server, client, codes):
        _assert_followed(client, codes)
        ballast = fill(disk)
        refused = Counter[str]()
        for number in range(50):
            # Small changes still fit into the log's last page or its preallocated room.
            answer = _create(client, custom_code=f"full{number}", title="x" * 400)
            if answer.status_code != 201:
                _assert_refused(answer)
                refused[f"full{number}"] += 1
            else:
                codes.append(f"full{number}")
            _assert_followed(client, codes[-3:], times=1)
        assert refused, "the disk was not full"
        _assert_followed(client, codes)
        assert client.get("/live").status_code == 200
        assert client.get("/nowhere").status_code == 404
        ballast.unlink()
        codes.append(_heals(client))
        _assert_followed(client, codes, times=1)
        for code in refused:
            assert client.get(f"/{code}").status_code in (302, 404)
        assert "Traceback" not in server.log()


def test_full_disk_costs_clicks_that_are_counted(tmp_path: Path) -> None:
    """P3's only exception: a click that cannot be written is counted as missed, and /health says so."""
    with small_disk(tmp_path / "disk", 40) as disk, _serving(disk) as (_, client, codes):
        fill(disk)
        journal = disk / "data" / "journal"
        # As after a quarter of an hour: the segment is full, and there is no room for the next.
        before = sum(1 for _ in journal.glob("*.segment"))
        with socket.create_connection(("127.0.0.1", int(client.base_url.port or 0))) as visitor:
            request = (
                f"GET /{codes[0]} HTTP/1.1\r\nHost: localhost\r\nReferer: {'r' * 1_000}\r\n\r\n".encode()
            )
            answered = 0
            for _ in range(1_000):
                visitor.sendall(request * 20)
                while answered % 20 or not answered:
                    answered += visitor.recv(65_536).count(b"HTTP/1.1 302")
                answered = 0
                if client.get("/health").json()["clicks_missed"]:
                    break
        assert sum(1 for _ in journal.glob("*.segment")) == before
        document = client.get("/health").json()
        assert (document["status"], document["clicks_missed"] > 0) == ("degraded", True)
        _assert_followed(client, codes)


def test_sync_that_fails(tmp_path: Path) -> None:
    """EIO from the disk at every sync of the worker: a create that is not on the disk is not answered 201."""
    with _serving(tmp_path) as (server, client, codes):
        with failing(server.child("web 1"), "fsync,fdatasync", "EIO"):
            for number in range(5):
                _assert_refused(_create(client, custom_code=f"eio{number}9"))
                _assert_followed(client, codes, times=1)
        codes.append(_heals(client))
        _assert_followed(client, codes)
        for number in range(5):
            assert client.get(f"/eio{number}9").status_code in (302, 404)
    with server, server.client() as client:
        _assert_followed(client, codes, times=1)


def test_no_file_descriptors(tmp_path: Path) -> None:
    """Whoever is connected is served; when others have left, newcomers are, too."""
    with _serving(tmp_path) as (server, client, codes):
        worker: psutil.Process = server.child("web 1")
        # All that was opened lazily is open.
        _assert_followed(client, codes)
        client.get(URLS)
        with contextlib.ExitStack() as crowd:
            with limited(worker, resource.RLIMIT_NOFILE, worker.num_fds() + 4):
                for _ in range(30):
                    crowd.enter_context(socket.create_connection(("127.0.0.1", _port(client)), 5))
                _assert_followed(client, codes)
                for _ in range(20):
                    answer = _create(client)
                    if answer.status_code != 201:
                        _assert_refused(answer)
                    else:
                        codes.append(answer.json()["short_code"])
                answer = client.get(URLS)
                assert answer.status_code in (200, 503), answer.text
                assert client.get("/live").status_code == 200
            crowd.close()
        codes.append(_heals(client))
        with server.client() as newcomer:
            _assert_followed(newcomer, codes, times=1)
        assert server.child("web 1").pid == worker.pid


def _port(client: httpx.Client) -> int:
    return int(client.base_url.port or 0)


def test_hardly_any_memory(tmp_path: Path) -> None:
    """Near its limit a worker refuses every write in clear words, small or large, and goes on to answer what is asked."""
    with _serving(tmp_path) as (server, client, codes):
        worker = server.child("web 1")
        _assert_followed(client, codes)
        with limited(worker, resource.RLIMIT_AS, worker.memory_info().vms + 12 * 1024 * 1024):
            eventually(lambda: _create(client).status_code == 503, "the limit is not noticed")
            for size in (1, 1_000, 100_000, 500_000):
                _assert_refused(_create(client, metadata={"text": "m" * size}))
                _assert_followed(client, codes, times=1)
            assert client.delete(f"{URLS}/{codes[0]}").status_code == 503
            assert client.get(URLS).status_code == 200
            assert client.get("/nowhere").status_code == 404
        codes.append(_heals(client))
        _assert_followed(client, codes, times=1)
        assert server.child("web 1").pid == worker.pid
        assert "hardly any memory left" in server.log()
        assert "Traceback" not in server.log()


def test_no_memory(tmp_path: Path) -> None:
    """Should it come to the very end, without warning: no wrong answer, visitors are sent on, and it heals."""
    with _serving(tmp_path) as (server, client, codes):
        worker = server.child("web 1")
        _assert_followed(client, codes)
        with limited(worker, resource.RLIMIT_AS, worker.memory_info().vms + 1024 * 1024):
            statuses = Counter[int]()
            for size in (1, 100_000, 3_000_000):
                body = {"original_url": "https://example.com/m", "metadata": {"text": "m" * size}}
                try:
                    answer = client.post(
                        URLS, content=json.dumps(body), headers={"content-type": "application/json"}
                    )
                    statuses[answer.status_code] += 1
                except httpx.TransportError:
                    statuses[0] += 1
                _assert_followed(client, codes, times=1)
            assert not statuses[500], statuses
        codes.append(_heals(client))
        _assert_followed(client, codes, times=1)
