"""One command, several processes: starts the children, waits until they are ready, starts dead ones again.

It runs no loop and no thread, so that forking is safe and the children share its memory. Each child holds the
read end of a pipe whose other end is held here alone: a supervisor that is killed leaves no orphans.
"""

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import structlog

from laconic.clicks.board import Board, WorkerBoard
from laconic.clock import SECOND, monotonic
from laconic.errors import CannotStart, LaconicError
from laconic.logs import set_up_logs
from laconic.serve.background import run_ingest, run_upkeep
from laconic.serve.children import Lifeline, Report, read_reports
from laconic.serve.claims import let_in
from laconic.serve.import_worker import make_desk, run_import_worker
from laconic.serve.web_worker import run_web_worker
from laconic.settings import Settings
from laconic.web.api.limit_table import LimitTable
from laconic.web.metrics import catalog
from laconic.web.metrics.board import MetricBoard, Page

log = structlog.get_logger(__name__)

Role = Literal["all", "web", "background"]
Run = Callable[[Lifeline], Coroutine[Any, Any, None]]

# From SIGTERM to the end, beside the notice that the settings ask for; the web workers may take the first part.
_STOP_SECONDS = 9.7
_WEB_STOP_SECONDS = 8.0
# A child that dies at once is started again more and more slowly.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
_LIVED_WELL_SECONDS = 10.0
# Ctrl-C again after this long means "now". Sooner it is the same one: `make` passes on what it gets.
_PATIENCE_SECONDS = 0.5
# A report wakes the supervisor by SIGIO. Should a kernel not send it, the pipe is looked at this often.
_REPORT_SECONDS = 0.25
_IDLE_SECONDS = 60.0

_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
_WAKE_SIGNALS = {signal.SIGCHLD, signal.SIGIO}


@dataclass(slots=True)
class _Child:
    name: str
    run: Run
    page: Page
    listener: socket.socket | None = None
    # Where the imports are handed over.
    desk: socket.socket | None = None
    pid: int = 0
    is_ready: bool = False
    started: float = 0.0
    pause: float = _FIRST_PAUSE
    start_at: float = 0.0
    # Applies what the others have left behind, so it ends last.
    is_ingest: bool = False

    def tell_start(self) -> None:
        self.page.add(catalog.STARTS)

    def tell_end(self) -> None:
        """What it was like is over; what it has counted stays."""
        self.page.wipe_gauges()
        self.page.gauge(catalog.UP, 0)


class Supervisor:
    def __init__(self, settings: Settings, role: Role, listeners: Sequence[socket.socket]) -> None:
        self._settings = settings
        self._listeners = listeners
        self._children = _children(settings, role, listeners)
        self._child_pipe, self._own_pipe = os.pipe()
        self._reports, self._report_pipe = os.pipe()
        self._problems: dict[int, LaconicError] = {}
        self._has_started = False
        # Whoever starts a program with nohup wants it to outlive the terminal.
        ignored = {number for number in _STOP_SIGNALS if signal.getsignal(number) == signal.SIG_IGN}
        self._stop_signals = _STOP_SIGNALS - ignored

    def run(self, on_ready: Callable[[], None] = lambda: None) -> int:
        """Until SIGTERM or Ctrl-C. The exit status: 0 when everything ended by itself.

        `on_ready` is called when every child does its work. When one cannot, the others are stopped and its
        reason is raised: a first start that fails is for a person to look at.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, self._stop_signals | _WAKE_SIGNALS)
        _wake_by_signal(self._reports)
        # What exists now is shared with the children and never collected: no page of it is written to.
        gc.freeze()
        for child in self._children:
            self._start(child)
        while not all(child.is_ready for child in self._children):
            if self._wait(_REPORT_SECONDS):
                return self._stop()
            self._fail_if_one_did()
        self._has_started = True
        on_ready()
        while not self._wait(self._seconds_to_next_start()):
            self._collect()
            self._start_due()
        return self._stop()

    def _wait(self, seconds: float) -> bool:
        """For a signal, at most so long. True when it is time to stop."""
        arrived = signal.sigtimedwait(self._stop_signals | _WAKE_SIGNALS, seconds)
        return arrived is not None and arrived.si_signo in self._stop_signals

    # Starting.

    def _start(self, child: _Child) -> None:
        child.started = monotonic()
        child.is_ready = False
        child.tell_start()
        if child.listener is not None:
            let_in(child.listener)
        _flush_streams()
        child.pid = os.fork()
        if child.pid == 0:
            self._become(child)

    def _become(self, child: _Child) -> None:
        """The life of a child process. Never returns."""
        status = 1
        try:
            self._leave_behind(child)
            set_up_logs(self._settings.log_level, self._settings.log_format, child.name)
            with asyncio.Runner(loop_factory=_loop_factory()) as runner:
                runner.run(child.run(Lifeline(self._child_pipe, self._report_pipe)))
            status = 0
        except asyncio.CancelledError:
            # Told to stop before it was ready.
            status = 0
        except LaconicError as error:
            Report.from_error(error).send(self._report_pipe)
        except BaseException as error:
            log.critical("unexpected error", exc_info=error)
        finally:
            _flush_streams()
            os._exit(status)

    def _leave_behind(self, child: _Child) -> None:
        """What the child has inherited and is not its own."""
        os.close(self._own_pipe)
        os.close(self._reports)
        for other in self._children:
            # Once the imports have ended, orders must be refused: a desk that somebody else holds takes them for ever.
            for theirs in (other.listener, other.desk):
                if theirs is not None and other is not child:
                    theirs.close()
        # A terminal sends these to the whole group; the supervisor decides the order of stopping.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        # SIGTERM stays blocked until somebody listens to it, see `Lifeline.watch`.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (_STOP_SIGNALS | _WAKE_SIGNALS) - {signal.SIGTERM})
        _name_process(f"laconic {child.name}")

    def _fail_if_one_did(self) -> None:
        """During the first start."""
        dead = self._dead()
        if dead:
            self._stop()
            child, status, problem = next((one for one in dead if one[2]), dead[0])
            raise problem or CannotStart(
                f"The process {child.name!r} ended before it was ready (status {status})."
            )

    def _seconds_to_next_start(self) -> float:
        due = [child.start_at for child in self._children if child.pid == 0]
        return max(0.0, min(due) - monotonic()) if due else _IDLE_SECONDS

    def _start_due(self) -> None:
        for child in self._children:
            if child.pid == 0 and child.start_at <= monotonic():
                self._start(child)

    # What becomes of them.

    def _collect(self) -> None:
        for child, status, problem in self._dead():
            if monotonic() - child.started > _LIVED_WELL_SECONDS:
                child.pause = _FIRST_PAUSE
            child.start_at = monotonic() + child.pause
            child.pause = min(child.pause * 2, _LONGEST_PAUSE)
            reason = {"reason": str(problem)} if problem else {}
            log.error("a process ended and is started again", process=child.name, status=status, **reason)

    def _dead(self) -> list[tuple[_Child, int, LaconicError | None]]:
        """Who has ended since the last time, with which status, and why if it said so."""
        ended = dict(_ended_processes())
        # Only now: whoever has ended has reported before.
        self._read_reports()
        dead = []
        for child in self._children:
            if child.pid in ended:
                dead.append((child, ended[child.pid], self._problems.pop(child.pid, None)))
                child.pid = 0
                child.tell_end()
        return dead

    def _read_reports(self) -> None:
        for report in read_reports(self._reports):
            if report.problem:
                self._problems[report.pid] = report.error()
                continue
            for child in self._children:
                if child.pid == report.pid:
                    child.is_ready = True
                    child.page.gauge(catalog.UP, 1)

    # Stopping.

    def _stop(self) -> int:
        """Web workers first, so that the last clicks are in the journal when ingest drains it."""
        if self._has_started:
            log.info("stopping")
        notice = self._settings.stop_notice / SECOND
        deadline = monotonic() + notice + _STOP_SECONDS
        for listener in self._listeners:
            listener.close()
        web = [child for child in self._children if child.listener is not None]
        clean = self._end(web, monotonic() + notice + _WEB_STOP_SECONDS)
        background = [child for child in self._children if child.listener is None]
        for child in background:
            # It may have died just now.
            if self._has_started and child.is_ingest and not child.pid:
                self._start(child)
        os.close(self._own_pipe)
        clean = self._end(background, deadline) and clean
        if self._has_started:
            log.info("stopped")
        return 0 if clean else 1

    def _end(self, children: list[_Child], deadline: float) -> bool:
        impatient_from = monotonic() + _PATIENCE_SECONDS
        for child in children:
            if child.pid:
                os.kill(child.pid, signal.SIGTERM)
        while any(child.pid for child in children) and monotonic() < deadline:
            arrived = signal.sigtimedwait(
                self._stop_signals | _WAKE_SIGNALS, max(0.0, deadline - monotonic())
            )
            if arrived is not None and arrived.si_signo == signal.SIGINT and monotonic() > impatient_from:
                break
            for child, status, _ in self._dead():
                if status and self._has_started:
                    log.warning("a process ended badly", process=child.name, status=status)
        left = [child for child in children if child.pid]
        for child in left:
            log.warning("a process did not end in time and is killed", process=child.name)
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
            child.pid = 0
        return not left


def _children(settings: Settings, role: Role, listeners: Sequence[socket.socket]) -> list[_Child]:
    children = []
    board = Board(len(listeners))
    web = [f"web {number}" for number, _ in enumerate(listeners, start=1)]
    answers, cleans = role in ("all", "web"), role in ("all", "background")
    metrics = MetricBoard([*web, *["imports", "ingest"] * answers, *["upkeep"] * cleans])
    if answers:
        orders, desk = make_desk()
        limits = LimitTable()
        for number, (name, listener) in enumerate(zip(web, listeners, strict=True)):
            told = WorkerBoard(board, number)
            run = partial(run_web_worker, settings, listener, orders, told, metrics, name, limits)
            children.append(_Child(name, run, metrics.page(name), listener))
        page = metrics.page("imports")
        run = partial(run_import_worker, settings, desk, page)
        children.append(_Child("imports", run, page, desk=desk))
        page = metrics.page("ingest")
        children.append(_Child("ingest", partial(run_ingest, settings, board, page), page, is_ingest=True))
    if cleans:
        page = metrics.page("upkeep")
        children.append(_Child("upkeep", partial(run_upkeep, settings, page), page))
    return children


def _ended_processes() -> Iterator[tuple[int, int]]:
    """Process id and exit status of every child that has ended."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)


def _wake_by_signal(pipe: int) -> None:
    """Makes the kernel send SIGIO when something can be read, so that waiting for signals is enough."""
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)


def _flush_streams() -> None:
    """So that a fork does not print twice. A reader that has gone away is no reason to stop serving."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()


def _name_process(name: str) -> None:
    """As `ps` and `top` show it; Linux keeps 15 characters."""
    with contextlib.suppress(OSError):
        Path("/proc/self/comm").write_text(name[:15])


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    import uvloop

    return uvloop.new_event_loop
