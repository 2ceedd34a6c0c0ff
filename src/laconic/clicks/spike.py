"""While a spike lasts redirects have the processors, and their clicks wait in the journal, where nothing is lost.

Measured on two cores at the limit: 103,000 redirects a second where ingest waits, 52,000 where it works beside them. What
lasts longer than a spike is applied beside the redirects, or it never would be.
"""

import asyncio
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

from laconic import clock

# Fewer in a batch are applied in less time than it takes to look.
_MANY_CLICKS = 5_000
_LONGEST_SECONDS = 10.0
_LOOK_SECONDS = 0.1
# Ingest takes one processor; where half of one is free, it is in nobody's way.
_FREE_PROCESSORS = 0.5
# Of a line of /proc/stat: idle, and idle until the disk answers.
_IDLE_FIELDS = slice(4, 6)
_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def idle_seconds() -> float:
    """How long the processors that this process may use have been idle, added up. Always more where that is not told."""
    own = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    try:
        lines = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    except OSError:
        return clock.monotonic()
    return sum(sum(map(int, line[_IDLE_FIELDS])) for line in lines if line[0] in own) / _TICKS_A_SECOND


class Spike:
    def __init__(
        self,
        *,
        idle_seconds: Callable[[], float] = idle_seconds,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self._idle_seconds = idle_seconds
        self._monotonic = monotonic

    async def let_pass(self, applied: int, stopping: asyncio.Event) -> None:
        """Waits while the processors are busy, after a batch of so many clicks; not for ever, and not when told to stop."""
        if applied < _MANY_CLICKS:
            return
        until = self._monotonic() + _LONGEST_SECONDS
        while self._monotonic() < until and not stopping.is_set():
            began, idle = self._monotonic(), self._idle_seconds()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopping.wait(), _LOOK_SECONDS)
            if self._idle_seconds() - idle >= _FREE_PROCESSORS * (self._monotonic() - began):
                return
