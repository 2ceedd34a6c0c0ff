"""Rate limits by the generic cell rate algorithm: one number for each caller.

On one machine the numbers lie in memory that its workers share. Where there is a shared store (Redis), all machines
count together; when it does not answer, each machine goes on counting for itself. That lets more through, and is seen:
one log line when it begins and one when it ends, and a counter.
"""

import hashlib
import math
from collections.abc import Callable
from typing import NamedTuple

import structlog

from laconic import clock
from laconic.errors import SharedAway, TooManyRequests
from laconic.storage.shared import Script, SharedStore
from laconic.web.api.limit_table import LimitTable

log = structlog.get_logger(__name__)


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
    """So many a second, and so many at once, for each caller of this machine. `name` keeps apart those of one table."""

    def __init__(
        self,
        per_second: float,
        burst: int,
        table: LimitTable | None = None,
        name: str = "",
        *,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self.burst = burst
        self._interval = 1.0 / per_second
        self._tolerance = self._interval * (burst - 1)
        self._table = table or LimitTable()
        self._name = name
        self._monotonic = monotonic

    def check(self, caller: str) -> Allowance:
        """Counts one request, or raises TooManyRequests."""
        known_as = hash((self._name, caller))
        return self.judge(self._table.take(known_as, self._monotonic(), self._interval, self._tolerance))

    def numbers(self) -> tuple[int, int]:
        """Interval and tolerance in microseconds, for a store that counts for many."""
        return round(self._interval * _MICROSECONDS), round(self._tolerance * _MICROSECONDS)

    def judge(self, ahead: float) -> Allowance:
        """By the number that was counted: how far ahead the caller is, or minus the wait."""
        if ahead < 0:
            raise TooManyRequests(-ahead)
        return self._allowance(ahead)

    def spent(self, retry_after: float) -> Allowance:
        """Of a caller who was just refused."""
        return Allowance(self.burst, 0, retry_after + self._tolerance)

    def _allowance(self, ahead: float) -> Allowance:
        remaining = int((self._tolerance - ahead) / self._interval + 1.000001)
        return Allowance(self.burst, max(remaining, 0), ahead)


# The store's own clock, so that machines whose clocks differ count alike. Gives how far ahead of its rate the caller
# is now, in microseconds, or minus the wait when it must wait.
_TAKE = Script("""
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
if due - now > tolerance then
    return -(due - now - tolerance)
end
due = due + interval
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000) + 1)
return due - now
""")
_MICROSECONDS = 1_000_000


class Limits:
    """One rate for all callers of a kind: shared where there is a store for it, otherwise this machine's own."""

    def __init__(
        self, name: str, limiter: Limiter, store: SharedStore | None = None, installation: str = ""
    ) -> None:
        """`installation` keeps apart those that share a store."""
        self.name = name
        self._installation = installation
        self._limiter = limiter
        self._store = store
        self.is_away = False
        self.refused = 0
        self.counted_alone = 0
        """Requests that were counted on this machine alone, because the shared store did not answer."""

    async def check(self, caller: str) -> Allowance:
        """Counts one request, or raises TooManyRequests."""
        try:
            return await self._check(caller)
        except TooManyRequests:
            self.refused += 1
            raise

    async def _check(self, caller: str) -> Allowance:
        if self._store is None:
            return self._limiter.check(caller)
        try:
            ahead = await self._store.run(_TAKE, self._key(caller), *self._limiter.numbers())
        except SharedAway as error:
            self._tell_of_outage(error)
            return self._limiter.check(caller)
        self._tell_of_return()
        return self._limiter.judge(int(ahead) / _MICROSECONDS)

    def spent(self, retry_after: float) -> Allowance:
        return self._limiter.spent(retry_after)

    def _key(self, caller: str) -> str:
        """No address and no id in clear."""
        digest = hashlib.blake2b(
            f"{self.name} {self._installation} {caller}".encode("utf-8", "replace"), digest_size=12
        )
        return f"laconic:limit:{digest.hexdigest()}"

    def _tell_of_outage(self, error: SharedAway) -> None:
        self.counted_alone += 1
        if not self.is_away:
            self.is_away = True
            log.warning("rate limits are counted by each machine alone", limit=self.name, error=str(error))

    def _tell_of_return(self) -> None:
        if self.is_away:
            self.is_away = False
            log.warning("rate limits are shared again", limit=self.name, counted_alone=self.counted_alone)
