"""Machines that run Laconic: each a `laconic serve` with a data folder of its own."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bench import requests
from bench.processes import free_port, python, start, stop, wait_until

_READY_SECONDS = 2.0
_END_SECONDS = 30.0


class Node:
    def __init__(self, name: str, role: str, folder: Path, settings: Mapping[str, str]) -> None:
        self.name = name
        self.port = free_port()
        self.log = folder / f"{name}.log"
        self._role = role
        self._data = folder / name
        plain = {key: value for key, value in os.environ.items() if not key.startswith("LACONIC_")}
        self.environment = {**plain, **settings}
        self._log_length = 0
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it is ready, as a balancer sees it."""
        command = python("laconic", "serve", "--role", self._role, "--data", str(self._data))
        if self._role == "web":
            command += ["--port", str(self.port)]
        self._log_length = len(self.log.read_text()) if self.log.exists() else 0
        self._process = start(command, log=self.log, environment=self.environment)
        wait_until(self._is_ready, self._process, self.log)

    def _is_ready(self) -> bool:
        if self._role != "web":
            # It listens to nobody; it says on its output that it runs.
            return len(self.log.read_text()) > self._log_length
        return requests.get_status(self.port, "/ready", _READY_SECONDS) == 200

    def run(self, *arguments: str) -> str:
        """What a command of `laconic` prints, run beside this node."""
        command = python("laconic", *arguments, "--data", str(self._data))
        done = subprocess.run(
            command, env=self.environment, cwd=self.log.parent, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def begin_end(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def wait_for_end(self) -> int:
        assert self._process is not None
        status = self._process.wait(_END_SECONDS)
        self._process = None
        return status

    def restart(self) -> int:
        """In its orderly way. The exit status of what ran before."""
        self.begin_end()
        status = self.wait_for_end()
        self.start()
        return status

    def kill(self) -> None:
        """All of its processes at once, as when a machine dies."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def close(self) -> None:
        if self._process is not None:
            stop(self._process)
            self._process = None
