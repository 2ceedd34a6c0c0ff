"""kill -9 of every process, again and again, while links are followed: no click lost, none counted twice.

The short run is part of `make test`; the long one (`make faults`) has 100 kills on each engine.
"""

import asyncio
import contextlib
import random
import signal
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pytest

from laconic.storage.database import Database
from laconic.storage.engines import open_database
from laconic.storage.months import begin_of
from tests.faults.followers import Followers
from tests.faults.test_kill import database_url_for, free_port, kill
from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import make_code
from tests.promises import Recorder

LINKS = 20
WORKERS = 2
VICTIMS = ["web 1", "ingest", "supervisor", "web 2", "ingest", "everything"]
DIMENSIONS = ("browser", "country", "device_type", "language", "os", "referer")


@dataclass(frozen=True)
class Outcome:
    answered: Counter[str]
    cut_off: Counter[str]
    refused: Counter[str]
    url: str


def run_rounds(folder: Path, database_url: str, victims: Iterable[str], seed: int) -> Outcome:
    """Kills one victim after another at random moments under load, and lets ingest finish at the end."""
    moments = random.Random(seed)
    server = LaconicServer(folder, database_url, workers=WORKERS, port=str(free_port()))
    with server:
        with server.client() as client:
            codes = [make_code(client) for _ in range(LINKS)]
        with Followers(server.base_url, codes) as followers:
            for victim in victims:
                followers.wait_for(moments.randint(50, 1_000))
                kill_any(server, victim)
            followers.wait_for(500)
    finish(server)
    url = database_url or f"sqlite:///{folder / 'data' / 'laconic.db'}"
    return Outcome(followers.answered, followers.cut_off, followers.refused, url)


def finish(server: LaconicServer) -> None:
    """A stop waits for ingest for some seconds only. What is left lies in the journals of dead workers, which go with
    their last click: the next start applies it."""
    journals = server.folder / "data" / "journal"
    while any(journals.glob("*.lock")):
        with server:
            eventually(lambda: len(list(journals.glob("*.lock"))) <= WORKERS, "the journals are not applied")


def kill_any(server: LaconicServer, victim: str) -> None:
    if victim != "everything":
        kill(server, victim)
        return
    server.signal_supervisor(signal.SIGSTOP)
    for child in server.children():
        # One that has just ended is still a child of the supervisor, which is stopped.
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    server.stop(signal.SIGKILL)
    server.start()


async def views(database: Database) -> dict[str, Counter[str]]:
    """Clicks by code as every view has them; the workspace's views under a name of their own."""
    found: dict[str, Counter[str]] = {}
    codes = {row[0]: row[1] for row in await database.fetch_all("SELECT id, short_code FROM short_link")}

    async def add(name: str, sql: str, *args: object) -> None:
        rows = await database.fetch_all(sql, *args)
        found[name] = Counter({codes[row[0]]: int(row[1]) for row in rows})

    await add("total", "SELECT link_id, clicks FROM link_total")
    await add("quarters", "SELECT link_id, sum(clicks) FROM click_quarter GROUP BY link_id")
    for dimension in DIMENSIONS:
        by_day = "SELECT link_id, sum(clicks) FROM click_daily WHERE dimension = $1 GROUP BY link_id"
        await add(dimension, by_day, dimension)
    found["raw"] = Counter()
    for month in await database.event_months():
        bounds = "WHERE clicked_at >= $1 AND clicked_at < $2"
        rows = await database.fetch_events(
            month,
            f"SELECT short_link_id, count(*) FROM click_event {bounds} GROUP BY short_link_id",
            begin_of(month),
            begin_of(month + 1),
        )
        found["raw"].update({codes[row[0]]: row[1] for row in rows})
    return found


async def workspace_views(database: Database) -> dict[str, int]:
    by_day = "SELECT dimension, sum(clicks) FROM workspace_daily GROUP BY dimension"
    found = {row[0]: int(row[1]) for row in await database.fetch_all(by_day)}
    assert found.keys() == set(DIMENSIONS)
    for name, sql in (
        ("total", "SELECT clicks FROM workspace_total"),
        ("quarters", "SELECT sum(clicks) FROM workspace_quarter"),
    ):
        row = await database.fetch_one(sql)
        assert row is not None
        found[name] = int(row[0])
    return found


async def check(outcome: Outcome) -> None:
    assert outcome.cut_off.total() > 0, "no kill has met a request: the run proves nothing"
    assert not outcome.refused
    database = await open_database(outcome.url)
    try:
        by_link = await views(database)
        counted = by_link["total"]
        for code, answered in outcome.answered.items():
            assert answered <= counted[code] <= answered + outcome.cut_off[code], code
        for name, view in by_link.items():
            assert view == counted, name
        assert set((await workspace_views(database)).values()) == {counted.total()}
    finally:
        await database.close()


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_p3_clicks_survive_kills(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Answered <= counted <= answered + cut off, for each link, in every view: totals, rollups and raw clicks."""
    asyncio.run(check(run_rounds(tmp_path, database_url_for(engine, request), VICTIMS, seed=3)))


@pytest.mark.long
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_p3_clicks_survive_a_hundred_kills(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, seed: int, record_property: Recorder
) -> None:
    """The same over 100 rounds."""
    record_property("seed", seed)
    outcome = run_rounds(tmp_path, database_url_for(engine, request), islice(cycle(VICTIMS), 100), seed)
    asyncio.run(check(outcome))
    answered, cut_off = outcome.answered.total(), outcome.cut_off.total()
    record_property("figure", f"0 lost of {answered:,} over 100 kills, {cut_off:,} cut off unanswered")
