"""Rate limits by the generic cell rate algorithm: one number for each caller."""

import math
from collections.abc import Callable
from typing import NamedTuple

from laconic import clock
from laconic.errors import TooManyRequests

_MOST_CALLERS = 100_000


class Allowance(NamedTuple):
    """What a caller has left: `limit` at once, `remaining` of them now, all of them again in `reset` seconds."""

    limit: int
    remaining: int
    reset: float

    def headers(self) -> list[tuple[bytes, bytes]]:
        """RateLimit-Limit, -Remaining and -Reset, as the IETF's draft had them when programs learnt to read them."""
        return [
            (b"ratelimit-limit", b"%d" % self.limit),
            (b"ratelimit-remaining", b"%d" % self.remaining),
            (b"ratelimit-reset", b"%d" % math.ceil(self.reset)),
        ]


class Limiter:
    """So many a second, and so many at once, for each caller; in this process's memory."""

    def __init__(
        self, per_second: float, burst: int, *, monotonic: Callable[[], float] = clock.monotonic
    ) -> None:
        self.burst = burst
        self._interval = 1.0 / per_second
        self._tolerance = self._interval * (burst - 1)
        self._monotonic = monotonic
        # The moment from which on a caller's next request is within the rate.
        self._due: dict[str, float] = {}

    def check(self, caller: str) -> Allowance:
        """Counts one request, or raises TooManyRequests."""
        moment = self._monotonic()
        due = max(self._due.get(caller, moment), moment)
        if due - moment > self._tolerance:
            raise TooManyRequests(due - moment - self._tolerance)
        if len(self._due) >= _MOST_CALLERS:
            self._due = {name: at for name, at in self._due.items() if at > moment}
        self._due[caller] = due = due + self._interval
        return self._allowance(due - moment)

    def spent(self, retry_after: float) -> Allowance:
        """Of a caller who was just refused."""
        return Allowance(self.burst, 0, retry_after + self._tolerance)

    def _allowance(self, ahead: float) -> Allowance:
        remaining = int((self._tolerance - ahead) / self._interval + 1.000001)
        return Allowance(self.burst, max(remaining, 0), ahead)
