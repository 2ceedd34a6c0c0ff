"""What does not answer is left alone."""

import asyncio

from structlog.testing import capture_logs

from laconic.storage.breaker import Breaker

_ERROR = OSError("no answer")


class _Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def _fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.failed(_ERROR)


def test_it_opens_after_failures_in_a_row_and_refuses_at_once() -> None:
    """Two may be an accident."""
    breaker = Breaker("it", failures=3, monotonic=_Clock())
    _fail(breaker, 2)
    assert breaker.allows()
    _fail(breaker, 1)
    assert breaker.state == "open"
    assert not breaker.allows()
    assert (breaker.opened, breaker.refused) == (1, 1)


def test_failures_among_successes_do_not_open_it() -> None:
    """Overload makes some calls fail; an outage makes all of them fail."""
    clock = _Clock()
    breaker = Breaker("it", failures=3, quiet_seconds=1.0, monotonic=clock)
    for _ in range(100):
        breaker.succeeded()
        _fail(breaker, 50)
        clock.seconds += 0.9
    assert breaker.is_closed
    clock.seconds += 0.2
    _fail(breaker, 1)
    assert not breaker.is_closed


def test_half_open_lets_one_call_through() -> None:
    """It finds out for all: when it fails, the pause begins anew."""
    clock = _Clock()
    breaker = Breaker("it", failures=1, quiet_seconds=0, pause_seconds=1.0, monotonic=clock)
    _fail(breaker, 1)
    clock.seconds += 1.1
    assert [breaker.allows() for _ in range(5)] == [True, False, False, False, False]
    _fail(breaker, 1)
    assert not breaker.allows()
    clock.seconds += 1.1
    assert breaker.allows()
    breaker.succeeded()
    assert [breaker.allows() for _ in range(5)] == [True] * 5


def test_one_line_when_it_opens_and_one_when_it_closes() -> None:
    """However many calls fail, and however often it is probed in vain."""
    clock = _Clock()
    breaker = Breaker("Redis", failures=2, pause_seconds=1.0, monotonic=clock)
    with capture_logs() as lines:
        _fail(breaker, 20)
        for _ in range(10):
            clock.seconds += 2
            assert breaker.allows()
            _fail(breaker, 1)
        clock.seconds += 2
        assert breaker.allows()
        breaker.succeeded()
        breaker.succeeded()
    assert [(line["what"], line["event"]) for line in lines] == [("Redis", "is away"), ("Redis", "is back")]
    assert lines[1]["seconds_away"] == 22.0


async def test_with_a_probe_no_caller_has_to_ask() -> None:
    """The probe goes on until it has gone well."""
    asked = 0
    back = asyncio.Event()

    async def probe() -> None:
        nonlocal asked
        asked += 1
        if asked < 3:
            raise _ERROR
        back.set()

    breaker = Breaker("it", probe, failures=1, quiet_seconds=0, pause_seconds=0.001)
    _fail(breaker, 1)
    assert not breaker.allows()
    await asyncio.wait_for(back.wait(), 30)
    await asyncio.sleep(0)
    assert breaker.is_closed
    assert asked == 3
    await breaker.close()
