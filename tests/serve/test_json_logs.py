"""With LACONIC_LOG_FORMAT=json whatever the server writes, on either stream, parses line by line."""

import asyncio
import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from laconic.storage.engines import open_database
from tests.serve.running import LACONIC, PATIENCE_SECONDS, RunningServer, environment, run, wait_until

ID = "a-name-from-the-proxy"


def lines(text: str) -> list[dict[str, Any]]:
    """Each a JSON object."""
    parsed = [json.loads(line) for line in text.splitlines()]
    assert all(isinstance(line, dict) for line in parsed)
    return parsed


@pytest.fixture
def server(tmp_path: Path, migrated_url: str) -> Iterator[RunningServer]:
    with RunningServer(tmp_path, database_url=migrated_url, log_format="json", log_level="debug") as server:
        yield server


def test_a_whole_life(server: RunningServer) -> None:
    """Start, traffic, refusals, a broken client, a request that fails, kill -9 of every process, the end."""
    code = server.create()
    server.follow(code, times=5)
    httpx.get(server.url("/nosuch1"), headers={"x-request-id": ID})
    httpx.post(server.url("/shorten"), json={"url": "http://10.0.0.1/"})
    with socket.create_connection(("127.0.0.1", server.banner["port"]), PATIENCE_SECONDS) as broken:
        broken.sendall(b"\x16\x03\x01 this is no HTTP\r\n\r\n")
        broken.recv(1000)
    for name in ("web 1", "imports", "ingest", "upkeep"):
        server.kill_child(name)
    server.follow(code)
    assert server.terminate() == 0
    told = lines(server.log())
    assert {line.get("process") for line in told if line.get("method")} == {"web 1"}
    assert sum(line["event"] == "a process ended and is started again" for line in told) == 4
    assert {"event", "level", "timestamp"} <= set.intersection(*(set(line) for line in told))
    # Nothing of any redirect, though everything is logged.
    assert not [line for line in told if code in json.dumps(line) or line.get("route") == "redirect"]


def test_request_ids_lead_from_the_answer_to_the_log(server: RunningServer) -> None:
    """One that came is kept, one that is not fit is replaced, and each request has one."""
    named = httpx.get(server.url("/api/v1/urls"), headers={"x-request-id": ID})
    assert named.headers["x-request-id"] == ID
    unfit = httpx.get(server.url("/api/v1/urls"), headers={"x-request-id": 'x" onload="'})
    assert unfit.headers["x-request-id"] != 'x" onload="'
    others = {httpx.get(server.url("/api/v1/urls")).headers["x-request-id"] for _ in range(3)}
    assert len(others) == 3
    wanted = {ID, unfit.headers["x-request-id"], *others}
    wait_until(lambda: wanted <= {line.get("request_id") for line in lines(server.log())}, "all are logged")


def test_a_failing_request_is_found_by_its_id(server: RunningServer, migrated_url: str) -> None:
    """Its trace is in one line; the client gets the id and nothing of the trace."""

    async def break_the_schema() -> None:
        database = await open_database(migrated_url)
        await database.execute("ALTER TABLE audit_event RENAME TO taken_away")
        await database.close()

    asyncio.run(break_the_schema())
    answer = httpx.get(server.url("/api/v1/audit"), headers={"x-request-id": ID})
    assert answer.status_code == 500
    assert answer.json()["request_id"] == answer.headers["x-request-id"] == ID
    assert "audit_event" not in answer.text
    assert server.terminate() == 0
    told = [line for line in lines(server.log()) if "audit_event" in line.get("exception", "")]
    assert told
    assert {line.get("request_id") for line in told} == {ID}


@pytest.mark.parametrize(
    "settings",
    [
        {"port": "not a number"},
        {"database_url": "postgresql://nobody@127.0.0.1:1/nowhere"},
        {"host": "203.0.113.77"},
        {"data": "/proc/no/such/folder"},
    ],
)
def test_a_start_that_fails(tmp_path: Path, settings: dict[str, str]) -> None:
    """Its reason is a line like all others."""
    result = run(tmp_path, "serve", log_format="json", **{"port": "0", **settings})
    assert result.returncode != 0
    assert result.stdout == ""
    assert lines(result.stderr)[-1]["event"] == "cannot start"


def test_the_banner_is_json_too(tmp_path: Path) -> None:
    """Without --json: standard output often goes the same way as the log."""
    process = subprocess.Popen(
        [LACONIC, "serve", "--port", "0"],
        cwd=tmp_path,
        env=environment(log_format="json", kgs_pool_min_size="0"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["port"]
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
        process.wait()
    lines(out)
    assert lines(err)
