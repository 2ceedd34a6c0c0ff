"""What the connections of one worker share: the cache, the journal, and the answers of one loop tick."""

from collections.abc import Iterable
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from laconic.clicks.journal import Journal
from laconic.clock import monotonic, now, to_http_date
from laconic.redirect.cache import RedirectCache
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Hosts
from laconic.redirect.model import REDIRECT_STATUSES, Entry, Redirect, status_line

_CLOSE = b"connection: close\r\n"


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
        """`looks_up` says that the database answers at once, so that a miss need not leave the lane."""
        self.entries: dict[bytes, Entry] = cache.entries
        self.hosts = hosts
        self.prefix_of = hosts.prefix_of
        self.find_now = cache.find_now if looks_up else None
        self.record = journal.record
        self.proxies = proxies or TrustedProxies([])
        self.records: list[bytes] = []
        self.answers: list[tuple[HttpToolsProtocol, Redirect, bool]] = []
        self.answered = 0
        self.is_stopping = False
        self.second = 0.0
        self.date = b""
        self.heads: dict[int, bytes] = {}
        self._write_records = journal.write
        self.turn_second()

    def turn_second(self) -> None:
        """Called about once a second: the Date header, and the clock that time-outs are measured by."""
        self.second = monotonic()
        self.date = f"date: {to_http_date(now())}\r\n".encode()
        self.heads = {status: status_line(status) + self.date for status in REDIRECT_STATUSES}

    def flush(self) -> None:
        """Journal first, answers second. Whatever the journal does, the answers go out."""
        answers, self.answers = self.answers, []
        records, self.records = self.records, []
        if records:
            self._write_records(records)
        self.answered += len(answers)
        heads = self.heads
        for connection, entry, is_last in answers:
            if connection.parser is None:
                continue  # type: ignore[unreachable]  # uvicorn's way to say that the connection is lost
            if is_last:
                connection.transport.write(heads[entry.status] + _CLOSE + entry.tail)
                connection.transport.close()
            else:
                connection.transport.write(heads[entry.status] + entry.tail)

    def stop(self) -> None:
        """The answers of this tick are the last ones on their connections, and say so."""
        self.is_stopping = True
        # From here on every request goes the long way, where there is time to ask whether we are stopping.
        self.entries = {}
        self.find_now = None
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
