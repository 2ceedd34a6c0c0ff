"""kill -9 of every process, again and again, while links are made: nothing answered is lost, no code given twice.

The short run is part of `make test`; the long one (`make faults`) has the figures of the promises: 200 kills and
100,000 creates.
"""

import os
import signal
import socket
from collections import Counter
from itertools import cycle, islice
from pathlib import Path

import httpx
import pytest

from tests.faults.creators import Creators, Evidence
from tests.flows.server import LaconicServer, new_postgres_database
from tests.flows.talk import URLS
from tests.promises import Recorder

WORKERS = 2
RATE = "100000/s burst 100000"
VICTIMS = ["web 1", "imports", "web 2", "ingest", "web 1", "supervisor", "imports", "web 2", "upkeep"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run_rounds(folder: Path, database_url: str, victims: list[str], creates_between: int) -> Evidence:
    """Kills one victim after another, each when enough creates were answered since the last; then reads all links."""
    # As fast as it goes: what is refused as too much is no evidence.
    rates = {"rate_create": RATE, "rate_api": RATE}
    server = LaconicServer(folder, database_url, workers=WORKERS, port=str(free_port()), **rates)
    with server, Creators(server.base_url) as creators:
        for victim in victims:
            creators.wait_for(creates_between)
            kill(server, victim)
            creators.evidence.kills.append(victim)
        creators.wait_for(creates_between)
        evidence = creators.evidence
    with server, server.client() as client:
        evidence.stored = stored_links(client)
        sample = evidence.answers[:: max(1, len(evidence.answers) // 100)]
        evidence.followed = [
            (url, client.get(f"/{code}").headers.get("location", "")) for code, url in sample
        ]
    return evidence


def kill(server: LaconicServer, victim: str) -> None:
    if victim == "supervisor":
        server.stop(signal.SIGKILL)
        server.start()
        return
    os.kill(server.child(victim).pid, signal.SIGKILL)


def stored_links(client: httpx.Client) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    query: dict[str, str | int] = {"limit": 1000, "sort": "created_at"}
    while True:
        page = client.get(URLS, params=query).json()
        found += [(item["short_code"], item["original_url"]) for item in page["items"]]
        if page["next_cursor"] is None:
            return found
        query["cursor"] = page["next_cursor"]


def database_url_for(engine: str, request: pytest.FixtureRequest) -> str:
    return new_postgres_database(request.getfixturevalue("postgres_server")) if engine == "postgres" else ""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def short_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Each process killed at least once."""
    url = database_url_for(request.param, request)
    return run_rounds(tmp_path_factory.mktemp("kills"), url, VICTIMS, creates_between=100)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def long_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """200 kills over 100,000 creates."""
    url = database_url_for(request.param, request)
    victims = list(islice(cycle(VICTIMS), 200))
    return run_rounds(tmp_path_factory.mktemp("kills"), url, victims, creates_between=500)


def check_nothing_lost(evidence: Evidence) -> None:
    stored = dict(evidence.stored)
    lost = [answer for answer in evidence.answers if stored.get(answer[0]) != answer[1]]
    assert lost == []
    assert [pair for pair in evidence.followed if pair[0] != pair[1]] == []
    assert evidence.cut_off > 0, "no kill has met a request: the run proves nothing"
    wrong = [refusal for refusal in evidence.refusals if not refusal.startswith("503")]
    assert wrong == []


def check_no_code_twice(evidence: Evidence) -> None:
    for pairs in (evidence.stored, evidence.answers):
        assert max(Counter(code for code, _ in pairs).values()) == 1
    # Every attempt had a URL of its own: a retry with an Idempotency-Key has made its link once.
    assert max(Counter(url for _, url in evidence.stored).values()) == 1


def test_p1_answered_creates_survive_kills(short_run: Evidence) -> None:
    """Each is there afterwards, with its target."""
    assert len(short_run.kills) == len(VICTIMS)
    check_nothing_lost(short_run)


def test_p2_no_code_is_given_twice_across_kills(short_run: Evidence) -> None:
    """Not to two answers and not to two rows, though blocks of codes died with their workers."""
    check_no_code_twice(short_run)


@pytest.mark.long
def test_p1_hundred_thousand_creates_survive_two_hundred_kills(
    long_run: Evidence, record_property: Recorder
) -> None:
    """0 lost of 100,000 over 200 kills."""
    assert len(long_run.kills) == 200
    assert len(long_run.answers) >= 100_000
    check_nothing_lost(long_run)
    record_property("figure", f"0 lost of {len(long_run.answers):,} over {len(long_run.kills)} kills")


@pytest.mark.long
def test_p2_no_code_is_given_twice_across_two_hundred_kills(
    long_run: Evidence, record_property: Recorder
) -> None:
    """0 in 100,000 with 200 crashes."""
    check_no_code_twice(long_run)
    record_property("figure", f"0 twice of {len(long_run.stored):,} over {len(long_run.kills)} kills")
