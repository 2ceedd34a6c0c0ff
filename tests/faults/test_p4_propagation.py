"""P4 across machines: after the answer to an edit or delete nobody is sent to the old target for longer than a second.

Two nodes with memories of their own, on one PostgreSQL and one Redis, while visitors ask both for the link all the
time. The short run is part of `make test` and asserts the order of answers; the long one has the figures: 1,000
changes, with Redis, with Redis stopped, and with the listening connections cut again and again.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg
import httpx
import pytest

from tests.faults.visitors import Told, Visitors, p99
from tests.flows.server import LaconicServer, new_postgres_database
from tests.flows.talk import URLS
from tests.promises import Recorder
from tests.servers import PostgresServer, RedisServer

BOUND_SECONDS = 1.0
FAULTS = ["none", "redis stopped", "notify cut"]


@dataclass
class Run:
    """For each change: how long after its answer the last visitor of each node was sent to the old target."""

    here: list[float] = field(default_factory=list)
    there: list[float] = field(default_factory=list)
    wrong: list[Told] = field(default_factory=list)
    answers: int = 0


@contextlib.contextmanager
def cut_listeners(url: str, is_wanted: bool) -> Iterator[None]:
    """Ends every connection that listens, as often as one comes."""
    ending = threading.Event()

    async def cut() -> None:
        connection = await asyncpg.connect(url)
        try:
            while not ending.is_set():
                await connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                    " AND (query ILIKE 'LISTEN%' OR query LIKE '%FROM link_change%')"
                )
                await asyncio.sleep(0.02)
        finally:
            await connection.close()

    thread = threading.Thread(target=lambda: asyncio.run(cut()), daemon=True)
    if is_wanted:
        thread.start()
    try:
        yield
    finally:
        ending.set()
        if is_wanted:
            thread.join()


def change_again_and_again(nodes: list[LaconicServer], changes: int) -> Run:
    """Edits, and every tenth time a delete and a new link."""
    run = Run()
    here, there = nodes
    with here.client() as client:
        code, target = _make(client), "https://example.com/0"
        paths = [f"/{code}"]
        with (
            Visitors(here.base_url, lambda: paths[0]) as nearby,
            Visitors(there.base_url, lambda: paths[0]) as far,
        ):
            for number in range(1, changes + 1):
                old, since = target, (len(nearby.told), len(far.told))
                begun_at = time.monotonic()
                is_delete = number % 10 == 0
                path = paths[0]
                if is_delete:
                    assert client.delete(f"{URLS}/{code}").status_code == 204
                    wanted = ""
                else:
                    target = wanted = f"https://example.com/{number}"
                    answer = client.patch(f"{URLS}/{code}", json={"original_url": target})
                    assert answer.status_code == 200
                answered_at = time.monotonic()

                def is_new(
                    told: Told, path: str = path, wanted: str = wanted, after: float = answered_at
                ) -> bool:
                    return told.path == path and told.location == wanted and told.sent_at > after

                nearby.wait_for(is_new, since[0], count=3)
                far.wait_for(is_new, since[1], count=3)
                for visitors, start, late in ((nearby, since[0], run.here), (far, since[1], run.there)):
                    seen = [told for told in visitors.told[start:] if told.path == path]
                    late.append(_last_old(seen, old, answered_at))
                    # What was asked for before this change belongs to the one before it.
                    run.wrong += [
                        told
                        for told in seen
                        if told.sent_at > begun_at and told.location not in (old, wanted)
                    ]
                if is_delete:
                    code, target = _make(client), "https://example.com/0"
                    paths[0] = f"/{code}"
                    far.wait_for(lambda told: told.path == paths[0] and told.status == 302, len(far.told))
        run.answers = len(nearby.told) + len(far.told)
        run.wrong += [told for told in (*nearby.told, *far.told) if told.status not in (302, 410)]
    return run


def _make(client: httpx.Client) -> str:
    answer = client.post(URLS, json={"original_url": "https://example.com/0"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["short_code"])


def _last_old(seen: list[Told], old: str, answered_at: float) -> float:
    return max([0.0, *(told.sent_at - answered_at for told in seen if told.location == old)])


@pytest.fixture
def nodes(
    tmp_path: Path, postgres_server: PostgresServer
) -> Iterator[tuple[list[LaconicServer], RedisServer]]:
    url = new_postgres_database(postgres_server)
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(RedisServer())
        yield (
            [
                stack.enter_context(LaconicServer(tmp_path / name, url, redis_url=redis.url()))
                for name in ("one", "two")
            ],
            redis,
        )


def _run(nodes: tuple[list[LaconicServer], RedisServer], fault: str, changes: int) -> Run:
    servers, redis = nodes
    with cut_listeners(servers[0].options["database_url"], fault == "notify cut"):
        if fault == "redis stopped":
            redis.pause()
        return change_again_and_again(servers, changes)


@pytest.mark.parametrize("fault", FAULTS)
def test_p4_old_answers_end_on_both_nodes(nodes: tuple[list[LaconicServer], RedisServer], fault: str) -> None:
    """On the node that answered at once, on the other soon; nobody ever sees a third thing."""
    run = _run(nodes, fault, changes=11)
    assert run.wrong == []
    assert max(run.here) <= 0.0


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.parametrize("fault", FAULTS)
def test_p4_within_a_second_a_thousand_times(
    nodes: tuple[list[LaconicServer], RedisServer], fault: str, record_property: Recorder
) -> None:
    changes = 300 if fault == "notify cut" else 1_000
    run = _run(nodes, fault, changes)
    figure = (
        f"{changes:,} changes, {run.answers:,} answers; last old answer on the other node:"
        f" p99 {p99(run.there) * 1000:.0f} ms, max {max(run.there) * 1000:.0f} ms; here: max {max(run.here) * 1000:.0f} ms"
    )
    print(f"\nP4, {fault}: {figure}")
    record_property("figure", figure)
    assert run.wrong == []
    assert max(run.here) <= 0.0
    assert max(run.there) <= BOUND_SECONDS
