"""The memory in which the workers of one machine count their callers together."""

import os
import signal
import time
from collections.abc import Callable

import pytest

from laconic.web.api import limit_table
from laconic.web.api.limit_table import LimitTable

# So slow that nothing comes back while a test runs.
_INTERVAL = 1_000.0


def _take(table: LimitTable, caller: int, burst: int, moment: float = 1.0) -> float:
    return table.take(caller, moment, _INTERVAL, _INTERVAL * (burst - 1))


def _in_child(work: Callable[[], int]) -> int:
    """A forked process; its exit status is what `work` gives."""
    pid = os.fork()
    if pid == 0:
        status = 255
        try:
            status = work()
        finally:
            os._exit(status)
    return pid


def _status_of(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class _Slow(LimitTable):
    """Between reading a number and writing it there is time for another process."""

    def _find(self, caller: int, moment: float) -> tuple[int, float]:
        found = super()._find(caller, moment)
        time.sleep(0.0005)
        return found


def test_processes_that_were_forked_count_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at the same time, each asking again and again: together they get as many as one would."""
    monkeypatch.setattr(limit_table, "_ATTEMPTS", 10_000_000)
    table = _Slow()
    caller = hash("somebody")
    begun, go = os.pipe()

    def ask() -> int:
        os.read(begun, 1)
        return sum(_take(table, caller, burst=200) >= 0 for _ in range(150))

    children = [_in_child(ask) for _ in range(2)]
    os.write(go, b"gg")
    passed = [_status_of(pid) for pid in children]
    os.close(begun)
    os.close(go)
    assert sum(passed) == 200, passed
    assert _take(table, caller, burst=200) < 0


def test_a_process_that_dies_with_the_lock_holds_up_nobody() -> None:
    """The kernel gives it back, and the count goes on."""
    table = LimitTable()

    def die() -> int:
        assert table._lock()
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    assert _status_of(_in_child(die)) == -signal.SIGKILL
    assert [_take(table, 7, burst=2) >= 0 for _ in range(3)] == [True, True, False]
    assert table._lock()


def test_a_process_that_is_stopped_with_the_lock_holds_up_nobody() -> None:
    """The others go on without the lock."""
    table = LimitTable()

    def stop() -> int:
        assert table._lock()
        os.kill(os.getpid(), signal.SIGSTOP)
        return 0

    pid = _in_child(stop)
    assert os.WIFSTOPPED(os.waitpid(pid, os.WUNTRACED)[1])
    assert not table._lock()
    assert [_take(table, 7, burst=2) >= 0 for _ in range(3)] == [True, True, False]
    os.kill(pid, signal.SIGCONT)
    assert _status_of(pid) == 0


def test_more_callers_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has used least is forgotten first; who has used all of a rate stays refused."""
    monkeypatch.setattr(limit_table, "_PLACES", 1)
    table = LimitTable()
    spent = 1
    while _take(table, spent, burst=3) >= 0:
        pass
    for caller in range(2, 1_000):
        assert _take(table, caller, burst=3) >= 0
    assert _take(table, spent, burst=3) < 0


def test_what_was_used_comes_back_with_time() -> None:
    """At the rate, and not beyond the burst."""
    table = LimitTable()
    moment = time.monotonic()
    assert [table.take(5, moment, 1.0, 2.0) for _ in range(4)] == pytest.approx([1.0, 2.0, 3.0, -1.0])
    assert table.take(5, moment + 1.0, 1.0, 2.0) == pytest.approx(3.0)
    assert [table.take(5, moment + 99.0, 1.0, 2.0) >= 0 for _ in range(4)] == [True, True, True, False]
