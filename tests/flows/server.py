"""A whole Laconic as its operator starts it: `laconic serve` in processes of its own."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import asyncpg
import httpx
import psutil  # type: ignore[import-untyped]

from tests.servers import PostgresServer

COMMAND = Path(sys.executable).with_name("laconic")
# How long anything may take on a machine that has other work; reached only by what never comes.
PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.01
_numbers = itertools.count(1)

T = TypeVar("T")


class LaconicServer:
    """`options` are settings by their field names: `open="true"` is LACONIC_OPEN=true."""

    def __init__(self, folder: Path, database_url: str = "", *, workers: int = 1, **options: str) -> None:
        self.folder = folder
        # The default pool takes two seconds of a processor to fill, which few tests are about.
        self.options = {"kgs_pool_min_size": "2000", **options}
        self.options |= {"database_url": database_url} if database_url else {}
        self._workers = workers
        self._process: subprocess.Popen[str] | None = None
        self._log = folder / "server.log"
        self.base_url = ""
        self.mode = ""

    def start(self) -> Self:
        """Returns once every process does its work."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [str(COMMAND), "serve", "--json", "--data", str(self.folder / "data")]
        command += ["--workers", str(self._workers)]
        if "port" not in self.options:
            command += ["--port", "0"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=self.folder,
                env=self.environment(),
            )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, f"the server did not start:\n{self.log()}"
        banner = json.loads(line)
        self.base_url = f"http://localhost:{banner['port']}"
        self.mode = banner["mode"]
        return self

    @property
    def database_url(self) -> str:
        return self.options.get("database_url", f"sqlite:///{self.folder}/data/laconic.db")

    def environment(self) -> dict[str, str]:
        """For this server and for commands beside it: none of the settings of whoever runs the tests."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("LACONIC_")}
        return own | {f"LACONIC_{name.upper()}": value for name, value in self.options.items()}

    def run(self, *arguments: str, typed: str | None = None) -> str:
        """What a command of `laconic` prints, run beside the server; `typed` is its standard input."""
        command = [str(COMMAND), *arguments, "--data", str(self.folder / "data")]
        done = subprocess.run(
            command,
            capture_output=True,
            input=typed,
            text=True,
            cwd=self.folder,
            env=self.environment(),
            check=True,
        )
        return done.stdout.strip()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def child(self, name: str) -> psutil.Process:
        """The child process of this name, such as `web 1` or `ingest`; waits until there is one."""
        return eventually(lambda: self._find_child(name), f"no process {name!r}")

    def _find_child(self, name: str) -> psutil.Process | None:
        for child in psutil.Process(self.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess, OSError):
                if Path(f"/proc/{child.pid}/comm").read_text().strip() == f"laconic {name}"[:15]:
                    return child
        return None

    def children(self) -> list[psutil.Process]:
        return list(psutil.Process(self.pid).children())

    def signal_supervisor(self, number: int) -> None:
        os.kill(self.pid, number)

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.base_url, timeout=PATIENCE_SECONDS, **options)

    def log(self) -> str:
        return self._log.read_text(errors="replace")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """The exit status."""
        if self._process is None:
            return 0
        self._process.send_signal(number)
        status = self._process.wait(PATIENCE_SECONDS)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process = None
        return status

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop(signal.SIGKILL)
            raise

    def __exit__(self, *_: object) -> None:
        self.stop()


def eventually(look: Callable[[], T | None], otherwise: str) -> T:
    """What `look` gives as soon as it gives something that is not empty."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < deadline, otherwise
        time.sleep(_POLL_SECONDS)
    return found


def new_postgres_database(server: PostgresServer) -> str:
    """The URL of an empty database, which goes with its server."""
    name = f"served_{next(_numbers)}"

    async def create() -> None:
        connection = await asyncpg.connect(server.url())
        try:
            await connection.execute(f"CREATE DATABASE {name}")
        finally:
            await connection.close()

    asyncio.run(create())
    return server.url(name)
