"""The fast lane: cached redirects answered before any framework has seen the request.

A protocol class for uvicorn (`http=`), which keeps uvicorn's handling of connections and hands everything
but a hit on to it. A hit costs a parse, a dict read, a comparison and a click record. The records of one loop tick
are journaled by one write(2), and only then are the tick's answers given to the sockets.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from laconic.clicks.click import Visitor
from laconic.clicks.journal import Journal
from laconic.clock import monotonic, nanoseconds, now, to_http_date
from laconic.redirect.cache import RedirectCache
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Hosts
from laconic.redirect.model import REDIRECT_STATUSES, Redirect, status_line

_HEAD_SECONDS = 10
_IDLE_SECONDS = 75
_MOST_HEAD_BYTES = 32 * 1024
_CLOSE = b"connection: close\r\n"

# What the lane wants to know of a header. Names are met in a few spellings only, so each spelling is
# classified once and remembered; _MOST_SPELLINGS bounds what a hostile client can make it remember.
_IGNORED, _HOST, _USER_AGENT, _REFERRER, _LANGUAGE, _PURPOSE, _CONNECTION, _FORWARDED, _BEYOND = range(9)
_KINDS = {
    b"host": _HOST,
    b"user-agent": _USER_AGENT,
    b"referer": _REFERRER,
    b"accept-language": _LANGUAGE,
    b"sec-purpose": _PURPOSE,
    b"purpose": _PURPOSE,
    b"x-moz": _PURPOSE,
    b"connection": _CONNECTION,
    b"x-forwarded-for": _FORWARDED,
    # Bodies, Expect and Upgrade are more than a plain redirect.
    b"content-length": _BEYOND,
    b"transfer-encoding": _BEYOND,
    b"expect": _BEYOND,
    b"upgrade": _BEYOND,
}
_MOST_SPELLINGS = 1_000


def _plain_answer(status: bytes, text: bytes) -> bytes:
    return (
        b"HTTP/1.1 %b\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
        b"connection: close\r\n\r\n%b" % (status, len(text), text)
    )


_BAD_REQUEST = _plain_answer(b"400 Bad Request", b"This is not a valid HTTP request.\n")
_ONE_HOST = _plain_answer(b"400 Bad Request", b"A request has exactly one Host header.\n")
_TOO_LARGE = _plain_answer(b"431 Request Header Fields Too Large", b"The request head is too large.\n")
_TOO_SLOW = _plain_answer(b"408 Request Timeout", b"The request head did not arrive in time.\n")


class Lane:
    """What the connections of one worker share: the cache, the journal and the tick's batch."""

    def __init__(
        self, cache: RedirectCache, hosts: Hosts, journal: Journal, proxies: TrustedProxies | None = None
    ) -> None:
        self.entries = cache.entries
        self.prefix_of = hosts.prefix_of
        self.record = journal.record
        self.trusts = (proxies or TrustedProxies([])).trusts
        self.visitor_address = (proxies or TrustedProxies([])).visitor_address
        self.spellings = dict(_KINDS)
        self.records: list[bytes] = []
        self.answers: list[tuple[LaneProtocol, Redirect, bool]] = []
        self.answered = 0
        self.is_stopping = False
        self.second = 0.0
        self.heads: dict[int, bytes] = {}
        self._write_records = journal.write
        self.turn_second()

    def turn_second(self) -> None:
        """Called about once a second: the Date header, and the clock that time-outs are measured by."""
        self.second = monotonic()
        date = f"date: {to_http_date(now())}\r\n".encode()
        self.heads = {status: status_line(status) + date for status in REDIRECT_STATUSES}

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
                continue
            if is_last:
                connection.transport.write(heads[entry.status] + _CLOSE + entry.tail)
                connection.transport.close()
            else:
                connection.transport.write(heads[entry.status] + entry.tail)

    def stop(self) -> None:
        """The answers of this tick are the last ones on their connections, and say so."""
        self.is_stopping = True
        last_of = {connection: index for index, (connection, _, _) in enumerate(self.answers)}
        self.answers = [
            (connection, entry, is_last or last_of[connection] == index)
            for index, (connection, entry, is_last) in enumerate(self.answers)
        ]
        self.flush()

    def classify(self, name: bytes) -> int:
        kind = _KINDS.get(name.lower(), _IGNORED)
        if len(self.spellings) < _MOST_SPELLINGS:
            self.spellings[name] = kind
        return kind

    def close_overdue(self, connections: Iterable[Any]) -> None:
        """One sweep over the open connections, instead of a timer each."""
        for connection in list(connections):
            if isinstance(connection, LaneProtocol):
                connection.close_if_overdue(self.second)


class LaneProtocol(HttpToolsProtocol):
    """One connection. See `lane_protocol` for how it meets its lane."""

    lane: Lane

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = b""
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._answered_here = False
        self._is_closing = False
        self._head_since = 0.0
        self._idle_since = 0.0
        self._head_bytes = 0
        self._address = b""
        self._is_trusted = False
        self._visitor_key: tuple[bytes, ...] | None = None
        self._visitor: Visitor | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_since = self.lane.second
        address = self.client[0] if self.client else ""
        self._address = address.encode("ascii", "replace")
        self._is_trusted = self.lane.trusts(address)

    def data_received(self, data: bytes) -> None:
        if self.timeout_keep_alive_task is not None:
            self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            # Nothing is upgraded to: the request gets its ordinary answer, and then the connection ends.
            if self.cycle is not None:
                self.cycle.keep_alive = False
            self._is_closing = True
        except httptools.HttpParserError:
            self._refuse(_BAD_REQUEST)
            return
        if self._head_since:
            self._head_bytes += len(data)
            if self._head_bytes > _MOST_HEAD_BYTES:
                self._refuse(_TOO_LARGE)
                return
        if self.flow.write_paused:
            # Reading on while the client does not read would pile up answers without end.
            self.flow.pause_reading()

    def _refuse(self, answer: bytes) -> None:
        """An answer outside the order of requests, after which the connection ends."""
        self.lane.flush()
        self._is_closing = True
        if not self.transport.is_closing():
            self.transport.write(answer)
            self.transport.close()

    # Callbacks of the parser, for each request in this order.

    def on_message_begin(self) -> None:
        self.url = b""
        self._raw_headers = []
        self._head_since = self.lane.second

    def on_header(self, name: bytes, value: bytes) -> None:
        self._raw_headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._head_since = 0.0
        self._head_bytes = 0
        self._answered_here = True
        if self._is_closing:
            # The request before this one was the connection's last.
            return
        self._idle_since = self.lane.second
        if not self._answer_hit():
            self._answered_here = False
            self._fall_through()

    def on_body(self, body: bytes) -> None:
        if not self._answered_here:
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._answered_here:
            super().on_message_complete()

    def _answer_hit(self) -> bool:
        """Answers a hit, or refuses what must be refused; False hands the request on."""
        lane = self.lane
        host = user_agent = referrer = language = connection = forwarded = b""
        is_click = True
        spellings = lane.spellings
        for name, value in self._raw_headers:
            kind = spellings.get(name)
            if kind is None:
                kind = lane.classify(name)
            if kind == _IGNORED:
                continue
            if kind == _HOST:
                if host:
                    self._refuse(_ONE_HOST)
                    return True
                host = value
            elif kind == _USER_AGENT:
                user_agent = value
            elif kind == _REFERRER:
                referrer = value
            elif kind == _LANGUAGE:
                language = value
            elif kind == _CONNECTION:
                connection = value
            elif kind == _PURPOSE:
                is_click = is_click and b"prefetch" not in value.lower()
            elif kind == _FORWARDED:
                forwarded = forwarded + b"," + value if forwarded else value
            else:
                return False
        if not host and self.parser.get_http_version() != "1.0":
            self._refuse(_ONE_HOST)
            return True
        entry = lane.entries.get(lane.prefix_of(host) + self.url)
        if entry is None:
            entry = self._find_in_other_form(host)
        moment = nanoseconds() // 1000
        if entry is None or moment >= entry.fresh_until:
            return False
        if self.cycle is not None and not self.cycle.response_complete:
            # An earlier request is still being answered by the framework, and answers keep their order.
            return False
        parser = self.parser
        method = parser.get_method()
        if method == b"HEAD":
            is_click = False
        elif method != b"GET":
            return False
        is_last = not parser.should_keep_alive()
        if connection and parser.get_http_version() == "1.0":
            # Such a client would wait for a Connection: keep-alive that these answers do not carry.
            is_last = True
        assert isinstance(entry, Redirect)  # noqa: S101  a tombstone is never fresh
        entry.visited = True
        if is_click:
            if forwarded and self._is_trusted:
                address = lane.visitor_address(self._address, forwarded)
            else:
                address = self._address
            key = (user_agent, referrer, language, address)
            if key != self._visitor_key:
                self._visitor_key = key
                self._visitor = Visitor(address, user_agent, referrer, language)
            lane.records.append(lane.record(moment, entry.link_id, self._visitor))  # type: ignore[arg-type]
        if not lane.answers:
            self.loop.call_soon(lane.flush)
        lane.answers.append((self, entry, is_last))
        self._is_closing = is_last
        return True

    def _find_in_other_form(self, host: bytes) -> Any:
        """The same path with a query behind it, or as an absolute URL (RFC 9112, section 3.2)."""
        url = self.url
        if url[:1] == b"/":
            path, question, _ = url.partition(b"?")
            return self.lane.entries.get(self.lane.prefix_of(host) + path) if question else None
        if url[:7].lower() != b"http://" and url[:8].lower() != b"https://":
            return None
        authority, slash, path = url.partition(b"://")[2].partition(b"/")
        self.url = b"/" + path if slash else b"/"
        # The authority of the URL counts, whatever the Host header says.
        self._raw_headers = [header for header in self._raw_headers if header[0].lower() != b"host"]
        self._raw_headers.append((b"Host", authority))
        path = self.url.partition(b"?")[0]
        return self.lane.entries.get(self.lane.prefix_of(authority) + path)

    def _fall_through(self) -> None:
        """Hands the whole request on to uvicorn and the application."""
        url, headers = self.url, self._raw_headers
        if len(url) + sum(len(name) + len(value) for name, value in headers) > _MOST_HEAD_BYTES:
            self._answered_here = True
            self._refuse(_TOO_LARGE)
            return
        super().on_message_begin()
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        super().on_headers_complete()

    # Flow, time-outs and the end.

    def pause_writing(self) -> None:
        super().pause_writing()
        self.flow.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.pipeline:
            self.flow.resume_reading()

    def close_if_overdue(self, second: float) -> None:
        if self.transport.is_closing():
            return
        if self._head_since:
            if second - self._head_since > _HEAD_SECONDS:
                self._refuse(_TOO_SLOW)
        elif self.cycle is not None and not self.cycle.response_complete:
            self._idle_since = second
        elif second - self._idle_since > _IDLE_SECONDS:
            self.transport.close()

    def shutdown(self) -> None:
        if not self.lane.is_stopping:
            self.lane.stop()
        super().shutdown()


def lane_protocol(lane: Lane) -> type[LaneProtocol]:
    """The class to give to uvicorn, which makes one object of it for each connection."""
    return type("LaneProtocol", (LaneProtocol,), {"lane": lane})


