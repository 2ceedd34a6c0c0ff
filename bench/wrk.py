"""Runs wrk, for a bounded time, against loopback."""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

from bench.processes import Client

CONNECTIONS = 64
_LUA = Path(__file__).parent / "lua"
_MARK = "RESULT "


@dataclass(frozen=True, slots=True)
class Load:
    """What one run of wrk saw. Latencies in milliseconds."""

    requests: int
    seconds: float
    bytes: int
    errors: int
    created: int
    p50: float
    p95: float
    p99: float
    client_share: float
    """How busy wrk was, of one core: near 1 it may be what held the server back."""

    @classmethod
    def from_output(cls, output: str, client_share: float) -> "Load":
        line = next(line for line in output.splitlines() if line.startswith(_MARK))
        said = json.loads(line.removeprefix(_MARK))
        return cls(
            requests=said["requests"],
            seconds=said["microseconds"] / 1e6,
            bytes=said["bytes"],
            errors=said["bad_status"] + said["broken"] + said["refused"],
            created=said["created"],
            p50=said["p50"] / 1000,
            p95=said["p95"] / 1000,
            p99=said["p99"] / 1000,
            client_share=client_share,
        )


class Wrk:
    """wrk with one thread: the other core is the server's."""

    def __init__(self, binary: str, folder: Path, cores: frozenset[int]) -> None:
        self._binary = binary
        self._folder = folder
        self._cores = cores

    def run(self, script: str, port: int, seconds: float, *arguments: str) -> Load:
        return self.start(script, port, seconds, *arguments).result()

    def start(self, script: str, port: int, seconds: float, *arguments: str) -> "Running":
        """For what is done to the server meanwhile."""
        whole = max(1, round(seconds))
        command = [
            *(self._binary, "--threads", "1", "--connections", str(CONNECTIONS), "--duration", f"{whole}s"),
            *("--timeout", "10s", "--script", str(self._script(script)), f"http://127.0.0.1:{port}/", "--"),
            *arguments,
        ]
        return Running(command, whole, self._cores)

    def _script(self, name: str) -> Path:
        """One file, for wrk takes one: what the load does, and how its result is told."""
        script = self._folder / f"{name}.lua"
        script.write_text((_LUA / f"{name}.lua").read_text() + (_LUA / "summary.lua").read_text())
        return script


class Running:
    """wrk at work."""

    def __init__(self, command: list[str], seconds: int, cores: frozenset[int]) -> None:
        self._seconds = seconds
        self._before, self._began = os.times(), time.monotonic()
        self._client = Client(command, cores=cores)

    def result(self) -> Load:
        output = self._client.result(seconds=self._seconds + 60)
        after, took = os.times(), time.monotonic() - self._began
        before = self._before
        busy = after.children_user + after.children_system - before.children_user - before.children_system
        return Load.from_output(output, busy / took)
