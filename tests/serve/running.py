"""A real `laconic serve` for a test: its processes, its log, and ways to ask it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import httpx
import psutil  # type: ignore[import-untyped]

LACONIC = str(Path(sys.executable).parent / "laconic")
# Not what a test measures: only how long it waits before it calls something broken.
PATIENCE_SECONDS = 30.0


def environment(**said: str) -> dict[str, str]:
    """Of a machine where nobody has set anything, with what the test says."""
    # Not the width of the terminal that the tests were started from, either.
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("LACONIC_") and name not in ("COLUMNS", "LINES")
    }
    return {**clean, **{f"LACONIC_{name.upper()}": value for name, value in said.items()}}


def run(folder: Path, *arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """One command to its end."""
    return subprocess.run(
        [LACONIC, *arguments],
        cwd=folder,
        env=environment(**settings),
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_SECONDS,
        check=False,
    )


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """For what another process does and cannot tell us."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"this did not happen: {what}"
        time.sleep(0.02)


class RunningServer:
    """Started in a session of its own, so that a signal can be sent to its whole group and to nobody else."""

    def __init__(self, folder: Path, *options: str, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self._command = [LACONIC, "serve", "--json", "--port", "0", *options]
        self._environment = environment(**settings)
        self._log = folder / "log"
        self.process: subprocess.Popen[str] | None = None
        self.banner: dict[str, Any] = {}

    def start(self) -> Self:
        """Returns once the server has said that it answers. One that has ended is started again."""
        self._forget()
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                self._command,
                cwd=self.folder,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the server did not start:\n{self.log()}"
        self.banner = json.loads(line)
        return self

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill_all()

    def log(self) -> str:
        return self._log.read_text()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.banner['port']}{path}"

    # Its processes.

    def children(self) -> dict[str, int]:
        """Name to process id of those that live."""
        found = {}
        for child in psutil.Process(self.pid).children():
            try:
                if child.status() != psutil.STATUS_ZOMBIE:
                    found[child.name().removeprefix("laconic ")] = child.pid
            except psutil.NoSuchProcess:
                pass
        return found

    def kill_child(self, name: str, number: int = signal.SIGKILL) -> None:
        """And waits until another one has taken its place."""
        before = self.children()
        os.kill(before[name], number)
        wait_until(
            lambda: self.children().get(name, before[name]) != before[name], f"{name} is started again"
        )

    def terminate(self, number: int = signal.SIGTERM) -> int:
        """The exit status of an orderly end."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> int:
        assert self.process is not None
        return self.process.wait(PATIENCE_SECONDS)

    def kill_all(self) -> None:
        """Everything at once, as when the machine dies."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._forget()

    def _forget(self) -> None:
        if self.process is not None and self.process.stdout is not None:
            self.process.wait()
            self.process.stdout.close()
        self.process = None

    # What it is asked.

    def create(self, url: str = "https://example.com/target") -> str:
        """The code of a new link."""
        response = httpx.post(self.url("/shorten"), json={"url": url})
        assert response.status_code == 201, response.text
        return str(response.json()["short_code"])

    def follow(self, code: str, times: int = 1) -> None:
        with httpx.Client() as client:
            for _ in range(times):
                assert client.get(self.url(f"/{code}")).status_code == 302

    def clicks(self, code: str) -> int:
        return int(httpx.get(self.url(f"/stats/{code}")).json()["click_count"])

    def wait_for_clicks(self, code: str, expected: int) -> None:
        wait_until(lambda: self.clicks(code) >= expected, f"{expected} clicks are counted")
        assert self.clicks(code) == expected


def counted(folder: Path, code: str, **settings: str) -> int:
    """Clicks as the command line sees them, without a server."""
    result = run(folder, "expand", code, "--json", **settings)
    assert result.returncode == 0, result.stderr
    return int(json.loads(result.stdout)["click_count"])


class HalfRequest:
    """A create of which only a part has been sent."""

    def __init__(self, server: RunningServer) -> None:
        self._body = b'{"url": "https://example.com/in-flight"}'
        self._socket = socket.create_connection(("127.0.0.1", server.banner["port"]), PATIENCE_SECONDS)
        head = f"POST /shorten HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(self._body)}\r\n"
        self._socket.sendall(head.encode() + b"Content-Type: application/json\r\n\r\n" + self._body[:10])

    def close(self) -> None:
        self._socket.close()

    def finish(self) -> bytes:
        """Sends the rest; the whole answer, up to the end of the connection."""
        self._socket.sendall(self._body[10:])
        answer = b""
        while some := self._socket.recv(65536):
            answer += some
        self._socket.close()
        return answer
