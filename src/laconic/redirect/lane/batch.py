"""What the connections of one worker share: the cache, the journal, and the answers of one loop tick."""

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from laconic.clicks.click import Followed
from laconic.clicks.journal import Journal
from laconic.clock import SECOND, monotonic, nanoseconds, now, to_http_date
from laconic.redirect.cache import RedirectCache
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Hosts
from laconic.redirect.model import REDIRECT_STATUSES, Entry, Redirect, status_line

if TYPE_CHECKING:
    from laconic.redirect.lane.connection import Connection

_CLOSE = b"connection: close\r\n"
_USUAL_STATUS = 302
# Longer than any number of microseconds has bits.
_MOST_BITS = 64


class Lane:
    def __init__(
        self,
        cache: RedirectCache,
        hosts: Hosts,
        journal: Journal,
        proxies: TrustedProxies | None = None,
        *,
        looks_up: bool = False,
    ) -> None:
        """`looks_up` says that the database answers at once, so that no miss has to wait."""
        self.entries: dict[bytes, Entry] = cache.entries
        self.hosts = hosts
        self.prefix_of = hosts.prefix_of
        self.find_now = cache.find_now if looks_up else None
        self.find_soon = None if looks_up else cache.find_soon
        self.look_ups: set[asyncio.Task[None]] = set()
        self.proxies = proxies or TrustedProxies([])
        self.clicks: list[Followed] = []
        self.answers: list[tuple[Connection, Redirect, bool]] = []
        # What is told to whoever watches. Counted by the tick, not by the answer; only unusual statuses cost anything.
        self.answered = 0
        self.unusual: Counter[int] = Counter()
        self.refused: Counter[int] = Counter()
        # By the number of bits of their microseconds; `begun` is when the first of this tick's requests was read.
        self.durations = [0] * _MOST_BITS
        self.microseconds = 0
        self.begun = 0
        # Answers of this tick that were looked up first: each has its own time.
        self._late = 0
        self.is_stopping = False
        self.second = 0.0
        self.date = b""
        self.heads: dict[int, bytes] = {}
        self._write_clicks = journal.write
        self.turn_second()

    def turn_second(self) -> None:
        """Called about once a second: the Date header, and the clock that time-outs are measured by."""
        self.second = monotonic()
        self.date = f"date: {to_http_date(now())}\r\n".encode()
        self.heads = {status: status_line(status) + self.date for status in REDIRECT_STATUSES}

    def flush(self) -> None:
        """Journal first, answers second. Whatever the journal does, the answers go out."""
        answers, self.answers = self.answers, []
        clicks, self.clicks = self.clicks, []
        if clicks:
            self._write_clicks(clicks)
        heads = self.heads
        usual_head = heads[_USUAL_STATUS]
        for connection, entry, is_last in answers:
            send = connection.send
            if send is None:
                continue  # the connection is lost
            head = usual_head
            if entry.status != _USUAL_STATUS:
                self.unusual[entry.status] += 1
                head = heads[entry.status]
            if is_last:
                send(head + _CLOSE + entry.tail)
                connection.transport.close()
            else:
                send(head + entry.tail)
        # Each answer of a tick is said to have taken as long as its first one: never less than it did.
        took = nanoseconds() // 1000 - self.begun
        if took < 0:  # noqa: PLR1730  # the clock was set back; a call would cost more than all else here
            took = 0
        self.answered += len(answers)
        count = len(answers) - self._late
        self._late = 0
        self.durations[took.bit_length()] += count
        self.microseconds += took * count

    def look_up_ended(self, task: "asyncio.Task[None]") -> None:
        """One that failed is made again by the application, which tells what is wrong."""
        self.look_ups.discard(task)
        if not task.cancelled():
            task.exception()

    def note_late(self, began: int) -> None:
        """The answer that was queued last was asked for at this moment, and has waited for a look-up."""
        took = max(0, nanoseconds() // 1000 - began)
        self._late += 1
        self.durations[took.bit_length()] += 1
        self.microseconds += took

    @property
    def seconds(self) -> float:
        """All that answers took, together."""
        return self.microseconds / SECOND

    def answered_by_status(self) -> dict[int, int]:
        return {**self.unusual, _USUAL_STATUS: self.answered - self.unusual.total()}

    def stop(self) -> None:
        """The answers of this tick are the last ones on their connections, and say so."""
        self.is_stopping = True
        # From here on every request goes the long way, where there is time to ask whether we are stopping.
        self.entries = {}
        self.find_now = self.find_soon = None
        last_of = {connection: index for index, (connection, _, _) in enumerate(self.answers)}
        self.answers = [
            (connection, entry, is_last or last_of[connection] == index)
            for index, (connection, entry, is_last) in enumerate(self.answers)
        ]
        self.flush()

    def close_overdue(self, connections: Iterable[Any]) -> None:
        """One sweep over the open connections, instead of a timer each."""
        for connection in list(connections):
            connection.close_if_overdue(self.second)
