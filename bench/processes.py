"""Child processes that end with us, however we end."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

_PR_SET_PDEATHSIG = 1
_STOP_SECONDS = 20.0
ROOT = Path(__file__).parents[1]


class DidNotStart(Exception):
    """A server that was to be measured does not answer; the text holds the end of what it printed."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def python(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", module, *arguments]


def start(
    command: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
    cores: frozenset[int] = frozenset(),
) -> subprocess.Popen[bytes]:
    """In a session of its own, so that `stop` reaches all it starts; in the log's folder, where no settings lie.

    Belongs in the main thread: see `_in_child`.
    """
    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=log.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=_in_child(cores),  # noqa: PLW1509  two system calls, no lock
        )


class Client:
    """A process that makes load and prints its result at its end."""

    def __init__(self, command: Sequence[str], *, cores: frozenset[int] = frozenset()) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_in_child(cores),  # noqa: PLW1509  two system calls, no lock
        )
        self._command = command

    def result(self, *, seconds: float) -> str:
        """What it printed. `seconds` is a bound far above what it should take, against waiting for ever."""
        try:
            output, _ = self._process.communicate(timeout=seconds)
        finally:
            stop(self._process)
        text = output.decode("utf-8", "replace")
        if self._process.returncode != 0:
            raise RuntimeError(f"{' '.join(self._command)[:200]} failed:\n{text[-2000:]}")
        return text

    def is_running(self) -> bool:
        return self._process.poll() is None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        stop(self._process)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Asks first. Whatever is left of its group after that is killed."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends the process and the rest of its group as a crash would."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def wait_until(
    answers: Callable[[], bool], process: subprocess.Popen[bytes], log: Path, seconds: float = 60.0
) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if answers():
                return
        except OSError:
            pass
        time.sleep(0.005)
    raise DidNotStart(f"{' '.join(map(str, process.args))}\n{log.read_text()[-2000:]}")  # type: ignore[arg-type]


def _in_child(cores: frozenset[int]) -> Callable[[], None]:
    """The kernel ends the child when the thread that started it dies, even by SIGKILL."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if cores:
            os.sched_setaffinity(0, cores)

    return prepare
