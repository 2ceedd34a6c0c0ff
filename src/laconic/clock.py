"""The only place that reads the time.

A moment is an `int`: microseconds since 1970-01-01 UTC. Both engines store it exactly, comparing two
costs nothing, and there is no time zone to get wrong.
"""

import time
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from functools import lru_cache

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

# The last moment that RFC 3339 and both engines can write: the end of the year 9999.
LAST_MOMENT = 253_402_300_799_999_999

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def now() -> int:
    """The wall clock, as a moment."""
    return time.time_ns() // 1000


# For the hot path, which cannot afford a call around a call.
nanoseconds = time.time_ns


def monotonic() -> float:
    """Seconds on a clock that never steps: for time-outs and ages, never for dates."""
    return time.monotonic()


def to_rfc3339(moment: int) -> str:
    """2026-11-15T19:54:00.123456Z; the fraction is left out when it is zero."""
    second, fraction = divmod(moment, SECOND)
    return f"{_second_text(second)}.{fraction:06d}Z" if fraction else f"{_second_text(second)}Z"


@lru_cache(maxsize=4096)
def _second_text(second: int) -> str:
    """Many moments that are shown together lie in few seconds."""
    return (_EPOCH + timedelta(seconds=second)).isoformat().removesuffix("+00:00")


def to_http_date(moment: int) -> str:
    """Sun, 15 Nov 2026 19:54:00 GMT (RFC 9110, section 5.6.7)."""
    return formatdate(moment / SECOND, usegmt=True)


def from_datetime(value: datetime) -> int:
    """A moment from an aware datetime."""
    return (value - _EPOCH) // timedelta(microseconds=1)
