"""What ties a child process to its supervisor: how it tells that it is ready, and how it learns that it shall end."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import sys
from dataclasses import asdict, dataclass

from laconic.errors import CannotStart, LaconicError, Unavailable

# Up to this many bytes a write to a pipe is never mixed with another's (PIPE_BUF on Linux).
_ATOMIC_BYTES = 4096
_LONGEST_TEXT = 1000


# How long a thread may keep the interpreter's lock while another wants it. With Python's default of 5 ms a loop and
# its writer thread would wait for each other most of the time.
_SWITCH_SECONDS = 0.0001
# The default collects after 700 new objects, and so again and again while many requests are under way, though
# nothing here makes cycles in numbers: 7 % of an import's time, and pauses that redirects would feel (measured).
_COLLECT_AFTER = (50_000, 20, 50)


def tune_interpreter() -> None:
    """For a process that answers."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(*_COLLECT_AFTER)


@dataclass(frozen=True, slots=True)
class Report:
    """What a child tells its supervisor, once: that it is ready, or why it cannot be."""

    pid: int
    problem: str = ""
    is_unavailable: bool = False

    @classmethod
    def from_error(cls, error: LaconicError) -> "Report":
        return cls(os.getpid(), str(error)[:_LONGEST_TEXT], isinstance(error, Unavailable))

    def send(self, pipe: int) -> None:
        line = json.dumps(asdict(self)).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):
            os.write(pipe, line)

    def error(self) -> LaconicError:
        return Unavailable(self.problem) if self.is_unavailable else CannotStart(self.problem)


def read_reports(pipe: int) -> list[Report]:
    """Those that have come since the last time. The pipe does not block."""
    data = b""
    with contextlib.suppress(BlockingIOError):
        while some := os.read(pipe, _ATOMIC_BYTES):
            data += some
    return [Report(**json.loads(line)) for line in data.splitlines()]


class Lifeline:
    """A child's end of the two pipes. `stopping` is set when the process shall finish its work and end."""

    def __init__(self, parent_pipe: int, report_pipe: int) -> None:
        self._parent_pipe = parent_pipe
        self._report_pipe = report_pipe
        self._start: asyncio.Task[None] | None = None
        self.stopping = asyncio.Event()

    def watch(self, *, ends_last: bool = False) -> None:
        """From now on SIGTERM, or the end of the supervisor (its end of the pipe closes), means to stop.

        Until `ready` there is nothing to finish: the start is given up. Not so for the one that `ends_last`: it is
        told by the pipe alone, for whoever stops the service may send SIGTERM to all of its processes at once.
        """
        loop = asyncio.get_running_loop()
        if ends_last:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        else:
            self._start = asyncio.current_task()
            loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.add_reader(self._parent_pipe, self._orphaned)
        # Blocked since before the fork, so that none is lost.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def ready(self) -> None:
        """Tells the supervisor that this process does its work from now on."""
        self._start = None
        Report(os.getpid()).send(self._report_pipe)

    def _orphaned(self) -> None:
        asyncio.get_running_loop().remove_reader(self._parent_pipe)
        self._stop()

    def _stop(self) -> None:
        self.stopping.set()
        if self._start is not None:
            self._start.cancel()
