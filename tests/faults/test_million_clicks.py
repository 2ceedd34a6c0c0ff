"""Redirects at full speed are counted exactly, in every view.

The short run is part of `make test`; the long one (`make faults`) has a million redirects on each engine.
"""

import asyncio
from collections import Counter
from functools import partial
from pathlib import Path

import httpx
import pytest

from laconic.storage.engines import open_database
from tests.faults.full_speed import follow
from tests.faults.test_kill import database_url_for
from tests.faults.test_kill_clicks import views, workspace_views
from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import URLS, make_code
from tests.promises import Recorder

LINKS = 20


def run(folder: Path, database_url: str, redirects: int) -> None:
    server = LaconicServer(folder, database_url, workers=2)
    with server, server.client() as client:
        codes = [make_code(client) for _ in range(LINKS)]
        answered = follow(server.base_url, codes, redirects)
        # A server that is told to stop has some seconds for its backlog, and goes on with it after the next start.
        wait_until_counted(client, redirects)
    assert answered.total() == redirects
    asyncio.run(check_tables(server.database_url, answered))
    with server, server.client() as client:
        check_answers(client, answered)


def wait_until_counted(client: httpx.Client, redirects: int) -> None:
    """As long as it takes, while the count grows."""

    def more_than(before: int) -> int | None:
        clicks = int(client.get("/api/v1/analytics").json()["totals"]["clicks"])
        return clicks if clicks > before else None

    counted = 0
    while counted < redirects:
        counted = eventually(partial(more_than, counted), f"only {counted} clicks are counted")


async def check_tables(url: str, answered: Counter[str]) -> None:
    database = await open_database(url)
    try:
        for name, counted in (await views(database)).items():
            assert counted == answered, name
        for name, clicks in (await workspace_views(database)).items():
            assert clicks == answered.total(), name
    finally:
        await database.close()


def check_answers(client: httpx.Client, answered: Counter[str]) -> None:
    """What an owner is shown of each link, and of all of them."""
    for code, clicks in answered.items():
        assert client.get(f"{URLS}/{code}/stats").json()["clicks"] == clicks
        assert client.get(f"/stats/{code}").json()["click_count"] == clicks
        assert client.get(f"{URLS}/{code}/analytics").json()["totals"]["clicks"] == clicks
        assert exported_lines(client, code) == clicks
    assert client.get("/api/v1/analytics").json()["totals"]["clicks"] == answered.total()


def exported_lines(client: httpx.Client, code: str) -> int:
    with client.stream("GET", f"{URLS}/{code}/clicks/export", params={"format": "ndjson"}) as answer:
        assert answer.status_code == 200
        return sum(part.count(b"\n") for part in answer.iter_bytes())


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_p3_every_redirect_is_counted_in_every_view(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Totals, quarters, days by each dimension, the workspace's, raw clicks, statistics, reports and exports."""
    run(tmp_path, database_url_for(engine, request), 20_000)


@pytest.mark.long
@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_p3_a_million_redirects_are_counted_in_every_view(
    engine: str, request: pytest.FixtureRequest, tmp_path: Path, record_property: Recorder
) -> None:
    """The same with a million."""
    run(tmp_path, database_url_for(engine, request), 1_000_000)
    record_property("figure", "0 of 1,000,000 missing or too many")
