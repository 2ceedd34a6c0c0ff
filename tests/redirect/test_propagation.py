"""Two web workers of one `laconic serve`: what is changed on one holds on the other.

On the worker that answers a change it holds at once. How soon it does on the other one is measured by
`make faults`; here it only has to happen, within a bound that no memory of a worker would keep it by itself.
"""

import asyncio
import http.client
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import psutil  # type: ignore[import-untyped]
import pytest

from tests.promises import Recorder
from tests.serve.running import RunningServer
from tests.servers import PostgresServer

# A memory entry is checked again after 60 s, an unknown code after 5 s.
_BEFORE_A_RECHECK_SECONDS = 30.0
_BEFORE_UNKNOWN_IS_FORGOTTEN_SECONDS = 4.5
_MOST_CONNECTIONS = 200
_numbers = itertools.count(10)


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    location: str | None
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class _Worker:
    """One web worker, by a connection that it has accepted and keeps."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)

    def ask(self, path: str, method: str = "GET", document: Any = None, *, host: str = "localhost") -> _Reply:
        body = None if document is None else json.dumps(document)
        headers = {} if body is None else {"content-type": "application/json"}
        self._connection.request(method, path, body, {"host": host, **headers})
        response = self._connection.getresponse()
        return _Reply(response.status, response.headers["location"], response.read())

    def pid(self, server: RunningServer) -> int:
        self.ask("/live")
        port = self._connection.sock.getsockname()[1]
        for pid in server.children().values():
            for connection in psutil.Process(pid).net_connections("tcp"):
                if connection.raddr and connection.raddr.port == port:
                    return pid
        raise AssertionError("no process of the server holds this connection")

    def close(self) -> None:
        self._connection.close()


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningServer]:
    folder: Path = tmp_path_factory.mktemp("two-workers")
    settings: dict[str, str] = {}
    if request.param == "postgres":
        settings["database_url"] = request.getfixturevalue("module_postgres_url")
    with RunningServer(folder, "--workers", "2", **settings) as server:
        yield server


@pytest.fixture(scope="module")
def module_postgres_url(request: pytest.FixtureRequest) -> str:
    """An empty database for the server of this module; it goes with the private server."""
    postgres: PostgresServer = request.getfixturevalue("postgres_server")

    async def make() -> None:
        connection = await asyncpg.connect(postgres.url())
        await connection.execute("CREATE DATABASE two_workers TEMPLATE template0")
        await connection.close()

    asyncio.run(make())
    return postgres.url("two_workers")


@pytest.fixture(scope="module")
def workers(server: RunningServer) -> Iterator[tuple[_Worker, _Worker]]:
    """The kernel spreads connections over the workers: enough of them until there is one to each."""
    found: dict[int, _Worker] = {}
    for _ in range(_MOST_CONNECTIONS):
        worker = _Worker(server.banner["port"])
        if found.setdefault(worker.pid(server), worker) is not worker:
            worker.close()
        if len(found) == 2:
            break
    first, second = found.values()
    yield first, second
    first.close()
    second.close()


@pytest.fixture(params=["one way", "the other way"])
def pair(request: pytest.FixtureRequest, workers: tuple[_Worker, _Worker]) -> tuple[_Worker, _Worker]:
    """Who changes, and who has to hear of it."""
    return workers if request.param == "one way" else (workers[1], workers[0])


def _until(ask: Callable[[], _Reply], is_so: Callable[[_Reply], bool], seconds: float) -> list[_Reply]:
    """Every reply up to the first that is as it should be; the asking is the load."""
    deadline = time.monotonic() + seconds
    replies = [ask()]
    while not is_so(replies[-1]):
        assert time.monotonic() < deadline, f"still {replies[-1]} after {len(replies)} requests"
        replies.append(ask())
    return replies


def _create(worker: _Worker, url: str = "https://example.com/old", **fields: Any) -> str:
    reply = worker.ask("/api/v1/urls", "POST", {"original_url": url, **fields})
    assert reply.status == 201, reply
    return str(reply.json()["short_code"])


def _remember(worker: _Worker, code: str, location: str = "https://example.com/old") -> None:
    for _ in range(3):
        assert (worker.ask(f"/{code}").status, worker.ask(f"/{code}").location) == (302, location)


def test_a_deleted_link_stops_redirecting_on_the_other_worker(pair: tuple[_Worker, _Worker]) -> None:
    """P4: on the worker that deleted it at once, on the other soon, and it does not come back."""
    here, there = pair
    code = _create(here)
    _remember(here, code)
    _remember(there, code)
    assert here.ask(f"/api/v1/urls/{code}", "DELETE").status == 204
    assert here.ask(f"/{code}").status == 410
    replies = _until(
        lambda: there.ask(f"/{code}"), lambda reply: reply.status == 410, _BEFORE_A_RECHECK_SECONDS
    )
    assert {reply.location for reply in replies[:-1]} <= {"https://example.com/old"}
    assert replies[-1].json()["code"] == "link_deleted"
    assert [worker.ask(f"/{code}").status for worker in (here, there) * 20] == [410] * 40


def test_an_edited_link_leads_to_its_new_target_on_the_other_worker(pair: tuple[_Worker, _Worker]) -> None:
    """And never back to the old one."""
    here, there = pair
    code = _create(here)
    _remember(there, code)
    change = {"original_url": "https://example.com/new"}
    assert here.ask(f"/api/v1/urls/{code}", "PATCH", change).status == 200
    assert here.ask(f"/{code}").location == "https://example.com/new"
    replies = _until(
        lambda: there.ask(f"/{code}"),
        lambda reply: reply.location == "https://example.com/new",
        _BEFORE_A_RECHECK_SECONDS,
    )
    assert {reply.status for reply in replies} == {302}
    assert {there.ask(f"/{code}").location for _ in range(20)} == {"https://example.com/new"}


def test_a_link_can_be_switched_off_and_on_again(pair: tuple[_Worker, _Worker]) -> None:
    """The remembered no is dropped like a remembered yes."""
    here, there = pair
    code = _create(here)
    _remember(there, code)
    for is_active, status in ((False, 410), (True, 302), (False, 410)):
        assert here.ask(f"/api/v1/urls/{code}", "PATCH", {"is_active": is_active}).status == 200
        assert here.ask(f"/{code}").status == status
        _until(
            lambda: there.ask(f"/{code}"),
            lambda reply, status=status: reply.status == status,  # type: ignore[misc]
            _BEFORE_A_RECHECK_SECONDS,
        )


def test_a_custom_code_works_on_a_worker_that_has_found_it_unknown(pair: tuple[_Worker, _Worker]) -> None:
    """Somebody tried the code a moment before it was made."""
    here, there = pair
    code = f"late{next(_numbers)}"
    assert [worker.ask(f"/{code}").status for worker in (here, there) * 2] == [404] * 4
    assert _create(here, custom_code=code) == code
    assert here.ask(f"/{code}").status == 302
    replies = _until(
        lambda: there.ask(f"/{code}"),
        lambda reply: reply.status == 302,
        _BEFORE_UNKNOWN_IS_FORGOTTEN_SECONDS,
    )
    assert {reply.status for reply in replies[:-1]} <= {404}


def test_many_changes_in_a_row_end_with_the_last(pair: tuple[_Worker, _Worker]) -> None:
    """Both workers edit in turn while both redirect: what a worker sees only ever gets newer."""
    here, there = pair
    code = _create(here)
    seen: dict[_Worker, list[int]] = {here: [], there: []}
    for number in range(1, 21):
        editor = (here, there)[number % 2]
        change = {"original_url": f"https://example.com/{number}"}
        assert editor.ask(f"/api/v1/urls/{code}", "PATCH", change).status == 200
        assert editor.ask(f"/{code}").location == f"https://example.com/{number}"
        for worker in (here, there):
            location = worker.ask(f"/{code}").location or ""
            seen[worker].append(0 if location.endswith("old") else int(location.rpartition("/")[2]))
    for worker in (here, there):
        assert seen[worker] == sorted(seen[worker])
        _until(
            lambda worker=worker: worker.ask(f"/{code}"),  # type: ignore[misc]
            lambda reply: reply.location == "https://example.com/20",
            _BEFORE_A_RECHECK_SECONDS,
        )


def _at(worker: _Worker, host: str, path: str) -> Callable[[], _Reply]:
    return lambda: worker.ask(path, host=host)


def test_a_new_domain_is_served_by_the_other_worker(pair: tuple[_Worker, _Worker]) -> None:
    """And forgotten again when it is given up; links on it work from the first moment that it is known."""
    here, there = pair
    host = f"pair{next(_numbers)}.example"
    assert there.ask("/", host=host).status == 200  # unknown, so our own page
    assert here.ask("/api/v1/domains", "POST", {"host": host, "trusted": True}).status == 201
    code = _create(here, domain=host)
    assert here.ask(f"/{code}", host=host).status == 302
    _until(_at(there, host, f"/{code}"), lambda reply: reply.status == 302, _BEFORE_A_RECHECK_SECONDS)
    target = {"not_found_target": "https://example.com/404"}
    assert here.ask(f"/api/v1/domains/{host}", "PATCH", target).status == 200
    _until(
        _at(there, host, "/nothing"),
        lambda reply: reply.location == "https://example.com/404",
        _BEFORE_A_RECHECK_SECONDS,
    )
    assert here.ask(f"/api/v1/urls/{code}?domain={host}", "DELETE").status == 204
    assert here.ask(f"/api/v1/domains/{host}", "DELETE").status == 204
    _until(_at(there, host, f"/{code}"), lambda reply: reply.status == 404, _BEFORE_A_RECHECK_SECONDS)


def test_the_other_worker_refuses_links_to_a_new_domain(pair: tuple[_Worker, _Worker]) -> None:
    """They would lead back to us."""
    here, there = pair
    host = f"pair{next(_numbers)}.example"
    assert here.ask("/api/v1/domains", "POST", {"host": host, "trusted": True}).status == 201
    _until(
        lambda: there.ask("/api/v1/urls", "POST", {"original_url": f"https://{host}/"}),
        lambda reply: reply.status == 400,
        _BEFORE_A_RECHECK_SECONDS,
    )


def test_a_takedown_holds_on_the_other_worker(pair: tuple[_Worker, _Worker]) -> None:
    """With its reason; and so does its end."""
    here, there = pair
    code = _create(here)
    _remember(there, code)
    place = f"/api/admin/links/{code}/takedown"
    assert here.ask(place, "POST", {"reason": "Phishing"}).status == 200
    assert here.ask(f"/{code}").status == 410
    replies = _until(
        lambda: there.ask(f"/{code}"), lambda reply: reply.status == 410, _BEFORE_A_RECHECK_SECONDS
    )
    assert replies[-1].json()["reason"] == "Phishing"
    assert here.ask(place, "DELETE").status == 204
    _until(lambda: there.ask(f"/{code}"), lambda reply: reply.status == 302, _BEFORE_A_RECHECK_SECONDS)


def test_a_blocked_host_is_blocked_on_the_other_worker(pair: tuple[_Worker, _Worker]) -> None:
    """For links that it has in memory."""
    here, there = pair
    host = f"evil{next(_numbers)}.example"
    code = _create(here, f"https://{host}/")
    _remember(there, code, f"https://{host}/")
    assert here.ask("/api/admin/blocked-hosts", "POST", {"host": host}).status == 201
    assert here.ask(f"/{code}").status == 410
    _until(lambda: there.ask(f"/{code}"), lambda reply: reply.status == 410, _BEFORE_A_RECHECK_SECONDS)
    assert here.ask(f"/api/admin/blocked-hosts/{host}", "DELETE").status == 204
    _until(lambda: there.ask(f"/{code}"), lambda reply: reply.status == 302, _BEFORE_A_RECHECK_SECONDS)


@pytest.mark.long
@pytest.mark.timed
def test_p4_domains_takedowns_and_blocks_are_known_everywhere_within_a_second(
    pair: tuple[_Worker, _Worker], record_property: Recorder
) -> None:
    """Fifty of each, with the other worker asked all the time."""
    here, there = pair
    slowest = {"domain": 0.0, "takedown": 0.0, "block": 0.0}
    for number in range(50):
        host = f"fast{next(_numbers)}.example"
        code = _create(here, f"https://to-{host}/")
        _remember(there, code, f"https://to-{host}/")
        steps: tuple[tuple[str, str, Any, Callable[[], _Reply], int], ...] = (
            ("domain", "/api/v1/domains", {"host": host, "trusted": True}, _at(there, host, "/"), 404),
            (
                "block",
                "/api/admin/blocked-hosts",
                {"host": f"to-{host}"},
                _at(there, "localhost", f"/{code}"),
                410,
            ),
        )
        if number % 2:
            takedown = f"/api/admin/links/{code}/takedown"
            steps = (
                ("takedown", takedown, {"reason": "x"}, _at(there, "localhost", f"/{code}"), 410),
                steps[0],
            )
        for name, path, document, look, status in steps:
            assert here.ask(path, "POST", document).status in (200, 201)
            answered = time.monotonic()
            while look().status != status:
                assert time.monotonic() < answered + 10
            slowest[name] = max(slowest[name], time.monotonic() - answered)
    figure = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in slowest.items())
    record_property("figure", f"slowest of 50: {figure}")
    assert max(slowest.values()) < 1.0
