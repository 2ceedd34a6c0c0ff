"""A rate limit by the generic cell rate algorithm: one number for each caller."""

from collections.abc import Callable

from laconic import clock
from laconic.errors import TooManyRequests

_MOST_CALLERS = 100_000


class Limiter:
    """So many a second, and so many at once, for each caller; in this process's memory."""

    def __init__(
        self, per_second: float, burst: int, *, monotonic: Callable[[], float] = clock.monotonic
    ) -> None:
        self._interval = 1.0 / per_second
        self._tolerance = self._interval * (burst - 1)
        self._monotonic = monotonic
        # The moment from which on a caller's next request is within the rate.
        self._due: dict[str, float] = {}

    def check(self, caller: str) -> None:
        """Counts one request, or raises TooManyRequests."""
        moment = self._monotonic()
        due = max(self._due.get(caller, moment), moment)
        if due - moment > self._tolerance:
            raise TooManyRequests(due - moment - self._tolerance)
        if len(self._due) >= _MOST_CALLERS:
            self._due = {name: at for name, at in self._due.items() if at > moment}
        self._due[caller] = due + self._interval
