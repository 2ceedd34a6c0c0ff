"""Laconic itself: one web worker, ingest and upkeep, as `laconic serve` starts them."""

import os
import re
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench import proc, requests
from bench.processes import free_port, python
from bench.servers.server import Server
from bench.stores import Store

_READY_SECONDS = 1.0
_LACONIC = python("laconic")
# -P: this file must not be found as the package that the program imports.
_HASHING = [sys.executable, "-P", str(Path(__file__).parent / "hashing.py")]
_FORGETTING = [sys.executable, "-P", str(Path(__file__).parent / "forgetting.py")]


def serve_command(port: int, store: Store, program: Sequence[str] = _LACONIC) -> list[str]:
    return [*program, "serve", "--port", str(port), "--data", str(store.folder), "--workers", "1"]


def serve_environment(store: Store, settings: Mapping[str, str]) -> dict[str, str]:
    """Ours without the settings of whoever runs the benchmark."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("LACONIC_")}
    return {**plain, "LACONIC_LOG_LEVEL": "warning", **store.environment, **settings}


class Laconic(Server):
    program = _LACONIC

    def __init__(
        self, store: Store, log: Path, *, cores: frozenset[int], settings: Mapping[str, str] | None = None
    ) -> None:
        port = free_port()
        super().__init__(
            "laconic",
            serve_command(port, store, self.program),
            port,
            log,
            is_up=lambda: requests.get_status(port, "/ready", _READY_SECONDS) == 200,
            cores=cores,
            environment=serve_environment(store, settings or {}),
            helpers=store.roots,
        )
        self.log = log
        self._worker = self._find_worker()

    def answering(self) -> list[int]:
        """The web worker. Ingest and upkeep answer nobody; `Cpu.all` has them."""
        return [self._worker]

    def _find_worker(self) -> int:
        with socket.create_connection(("127.0.0.1", self.port), timeout=_READY_SECONDS) as connection:
            # An answer says that the connection was accepted by then.
            connection.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            connection.recv(1)
            client_port = connection.getsockname()[1]
            worker = proc.holder_of_connection(proc.tree(self.roots[0]), self.port, client_port)
        if worker is None:
            raise RuntimeError("No process of the server holds a connection to it.")
        return worker


class HashingLaconic(Laconic):
    """The same program, whose worker can be told to hash passwords: see `hashing.py`."""

    program = _HASHING

    @contextmanager
    def hashing(self) -> Iterator[None]:
        os.kill(self._worker, signal.SIGUSR1)
        try:
            yield
        finally:
            os.kill(self._worker, signal.SIGUSR2)

    def hashes(self) -> int:
        """How many were made the last time. The worker says so once its loop gets to it."""
        time.sleep(_READY_SECONDS)
        return int(re.findall(r"^HASHED (\d+)$", self.log.read_text(), re.MULTILINE)[-1])


class ForgettingLaconic(Laconic):
    """The same program, whose worker keeps no journal: see `forgetting.py`."""

    program = _FORGETTING
