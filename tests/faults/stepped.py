"""`laconic` on a machine whose clock can be set: SIGUSR1 an hour back, SIGUSR2 a day ahead, SIGURG right again.

Each process has a clock of its own, which it reads as it would the machine's.
"""

import signal
import time
from types import FrameType

_HOUR = 3_600 * 10**9
_real = time.time_ns
_offset = 0
_STEPS = {signal.SIGUSR1: -_HOUR, signal.SIGUSR2: 24 * _HOUR, signal.SIGURG: 0}


def _time_ns() -> int:
    return _real() + _offset


def _step(number: int, _: FrameType | None) -> None:
    global _offset  # noqa: PLW0603
    _offset = _STEPS[signal.Signals(number)]


if __name__ == "__main__":
    time.time_ns = _time_ns
    for number in _STEPS:
        signal.signal(number, _step)

    # Imported behind the change: the hot path keeps the function itself.
    from laconic.cli.main import main

    main()
