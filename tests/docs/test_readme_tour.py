"""The tour in README.md works, command by command, with the answers it names."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]
STEP = re.compile(r"^# (.+) → (\d{3})\n((?:.+\\\n)*.+)$", re.MULTILINE)


def steps() -> list[tuple[str, int, str]]:
    """What, the status that is promised, and the command."""
    text = (ROOT / "README.md").read_text()
    tour = text.partition("## A tour of sixty seconds")[2].partition("\n## ")[0]
    block = tour.partition("```sh\n")[2].partition("```")[0]
    return [(what, int(status), command) for what, status, command in STEP.findall(block)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server as `make run` starts it, with data of its own."""
    port = free_port()
    folder = tmp_path_factory.mktemp("tour")
    command = [str(Path(sys.executable).parent / "laconic"), "serve", "--port", str(port), "--data", "data"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LACONIC_")}
    with subprocess.Popen(command, cwd=folder, env=environment) as process:
        try:
            wait_for(f"http://localhost:{port}/ready", process)
            yield f"localhost:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0


def wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 30
    while True:
        assert process.poll() is None, "the server has ended"
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        assert time.monotonic() < deadline, "the server does not answer"
        time.sleep(0.05)


def run(command: str, server: str) -> httpx.Response:
    """Does what curl would do. Only the options that the tour uses are known."""
    words = iter(shlex.split(command.replace("\\\n", " "))[1:])
    method, url, headers, body = "", "", {}, None
    for word in words:
        match word:
            case "-s" | "-si":
                pass
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(": ")
                headers[name] = value
            case "-d":
                body = next(words)
            case _:
                assert not word.startswith("-"), f"unknown option {word}"
                url = word
    method = method or ("GET" if body is None else "POST")
    return httpx.request(
        method, "http://" + url.replace("localhost:8000", server), headers=headers, content=body
    )


def test_every_command_is_a_step() -> None:
    """A command without a promised answer would not be tested."""
    text = (ROOT / "README.md").read_text()
    assert len(steps()) == len(re.findall(r"^curl ", text, re.MULTILINE)) >= 10


def test_the_tour_answers_what_it_says(server: str) -> None:
    """A new user types these lines in this order."""
    for what, status, command in steps():
        response = run(command, server)
        assert response.status_code == status, f"{what}: {response.text}"
        if status == 302:
            assert response.headers["location"] == "https://en.wikipedia.org/wiki/Laconic_phrase"
        if "short_url" in response.text and status == 201:
            assert response.json()["short_url"] == f"http://{server}/{response.json()['short_code']}"


def test_a_followed_link_is_counted(server: str) -> None:
    """The tour asks how often a link was followed: soon after, the answer is right."""
    created = httpx.post(f"http://{server}/shorten", json={"url": "https://example.com/counted"}).json()
    assert httpx.get(created["short_url"]).status_code == 302
    deadline = time.monotonic() + 10
    while httpx.get(f"http://{server}/stats/{created['short_code']}").json()["click_count"] != 1:
        assert time.monotonic() < deadline, "the click was not counted"
        time.sleep(0.05)
