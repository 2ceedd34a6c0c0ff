"""What a measured server is: a port, processes, and an end."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench import proc, processes


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU-seconds so far: of the processes that answer, and of all that work for them, databases included."""

    answering: float
    all: float

    def since(self, before: "Cpu") -> "Cpu":
        return Cpu(self.answering - before.answering, self.all - before.all)


class Server:
    """Started on making, stopped by `close`."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        port: int,
        log: Path,
        *,
        is_up: Callable[[], bool],
        cores: frozenset[int] = frozenset(),
        environment: Mapping[str, str] | None = None,
        helpers: Sequence[int] = (),
    ) -> None:
        self.name = name
        self.port = port
        self._process: subprocess.Popen[bytes] = processes.start(
            command, log=log, environment=environment, cores=cores
        )
        self.roots = [self._process.pid, *helpers]
        try:
            processes.wait_until(is_up, self._process, log)
        except BaseException:
            self.close()
            raise

    def answering(self) -> list[int]:
        """The processes that answer requests."""
        return proc.tree(self._process.pid)

    def cpu(self) -> Cpu:
        return Cpu(proc.cpu_seconds(self.answering()), proc.tree_cpu_seconds(self.roots))

    def settle(self) -> bool:
        return proc.settle(self.roots)

    def kill(self) -> None:
        """SIGKILL to all its processes at once. The databases beside it go on."""
        processes.kill(self._process)

    def close(self) -> None:
        processes.stop(self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
