"""A circuit breaker: what does not answer is left alone, and asked now and then whether it is back.

Closed, everything passes. It opens when several calls in a row have failed and none has gone well for a moment:
one that fails among many that do not is no outage. Open, calls are refused at once, so that nobody waits for a time-out
that somebody else has waited for. Half-open, one call, the probe, finds out for all.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Literal

import structlog

from laconic import clock

log = structlog.get_logger(__name__)

State = Literal["closed", "open", "half-open"]
Probe = Callable[[], Awaitable[object]]

_PROBE_EVERY_SECONDS = 0.5
_PROBE_LIMIT_SECONDS = 2.0


class Breaker:
    """`name` is what a log line calls it: one line when it opens, one when it closes.

    With a `probe` a task of the breaker asks, and no caller ever has to; it ends when the probe has gone well, or by
    `close`. Without one the next caller after a pause is the probe.
    """

    def __init__(
        self,
        name: str,
        probe: Probe | None = None,
        *,
        failures: int = 3,
        quiet_seconds: float = 0.2,
        pause_seconds: float = _PROBE_EVERY_SECONDS,
        monotonic: Callable[[], float] = clock.monotonic,
    ) -> None:
        self.name = name
        self.state: State = "closed"
        self.opened = 0
        self.refused = 0
        self._probe = probe
        self._most_failures = failures
        self._quiet_seconds = quiet_seconds
        self._pause_seconds = pause_seconds
        self._monotonic = monotonic
        self._failures = 0
        self._last_success = -quiet_seconds
        self._since = 0.0
        self._ask_at = 0.0
        self._probing: asyncio.Task[None] | None = None

    @property
    def is_closed(self) -> bool:
        return self.state == "closed"

    def allows(self) -> bool:
        """May a call be made? Whoever is told yes says afterwards how it went."""
        if self.state == "closed":
            return True
        if self._probe is None and self._monotonic() >= self._ask_at:
            # Should the one who asks never come back, another may ask after the next pause.
            self._ask_at = self._monotonic() + self._pause_seconds
            self.state = "half-open"
            return True
        self.refused += 1
        return False

    def succeeded(self) -> None:
        self._failures = 0
        self._last_success = self._monotonic()
        if self.state == "closed":
            return
        self.state = "closed"
        log.info("is back", what=self.name, seconds_away=round(self._last_success - self._since, 1))

    def failed(self, error: Exception) -> None:
        moment = self._monotonic()
        self._failures += 1
        if self.state == "half-open":
            self.state = "open"
        if self.state == "open" or self._failures < self._most_failures:
            return
        if moment - self._last_success < self._quiet_seconds:
            return
        self.state = "open"
        self.opened += 1
        self._since = moment
        self._ask_at = moment + self._pause_seconds
        log.warning("is away", what=self.name, error=f"{type(error).__name__}: {error}"[:200])
        if self._probe is not None and (self._probing is None or self._probing.done()):
            self._probing = asyncio.create_task(self._probe_until_back(self._probe))

    async def _probe_until_back(self, probe: Probe) -> None:
        while self.state != "closed":
            await asyncio.sleep(self._pause_seconds)
            self.state = "half-open"
            try:
                async with asyncio.timeout(_PROBE_LIMIT_SECONDS):
                    await probe()
            except Exception as error:
                self.failed(error)
            else:
                self.succeeded()

    async def close(self) -> None:
        """No more probes."""
        if self._probing is not None:
            self._probing.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._probing
