"""The fast lane: cached redirects answered before any framework has seen the request.

A protocol class for uvicorn (`http=`), which keeps uvicorn's handling of connections and hands everything
but a hit on to it. A hit costs a parse, a dict read, a comparison and a click record. The records of one loop tick
are journaled by one write(2), and only then are the tick's answers given to the sockets.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from laconic.clicks.click import Visitor
from laconic.clicks.journal import Journal
from laconic.clock import monotonic, nanoseconds, now, to_http_date
from laconic.redirect.cache import RedirectCache
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.hosts import Hosts
from laconic.redirect.model import REDIRECT_STATUSES, Entry, Redirect, status_line

_HEAD_SECONDS = 10
_IDLE_SECONDS = 75
# How long a client may leave what was sent to it unread.
_STUCK_SECONDS = 60
_MOST_HEAD_BYTES = 32 * 1024
# A larger read is parsed in pieces of this size: a piece bounds how many answers can gather before back-pressure
# is seen, and how far the count of a head's bytes can be off.
_SLICE_BYTES = 8 * 1024
_CLOSE = b"connection: close\r\n"

# What the lane wants to know of a header. Names are met in a few spellings only, so each spelling is
# classified once and remembered; _MOST_SPELLINGS bounds what a hostile client can make it remember.
_IGNORED, _HOST, _USER_AGENT, _REFERRER, _LANGUAGE, _FORWARDED, _PURPOSE, _CONNECTION, _BEYOND = range(9)
_KINDS = {
    b"host": _HOST,
    b"user-agent": _USER_AGENT,
    b"referer": _REFERRER,
    b"accept-language": _LANGUAGE,
    b"x-forwarded-for": _FORWARDED,
    b"sec-purpose": _PURPOSE,
    b"purpose": _PURPOSE,
    b"x-moz": _PURPOSE,
    b"connection": _CONNECTION,
    # Bodies, Expect and Upgrade are more than a plain redirect.
    b"content-length": _BEYOND,
    b"transfer-encoding": _BEYOND,
    b"expect": _BEYOND,
    b"upgrade": _BEYOND,
}
_NOTHING_SEEN: list[bytes | None] = [None] * len(range(_BEYOND + 1))
_MOST_SPELLINGS = 1_000
_LONGEST_SPELLING = 64

_ABSOLUTE = re.compile(rb"https?://([^/?#]+)(.*)", re.IGNORECASE | re.DOTALL)


def _plain_answer(status: int, text: bytes) -> tuple[bytes, bytes]:
    """What stands before the date line, and what behind it."""
    return status_line(status), (
        b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n"
        b"connection: close\r\n\r\n%b" % (len(text), text)
    )


_BAD_REQUEST = _plain_answer(400, b"This is not a valid HTTP request.\n")
_ONE_HOST = _plain_answer(400, b"A request has exactly one Host header.\n")
_TOO_LARGE = _plain_answer(431, b"The request head is too large.\n")
_TOO_SLOW = _plain_answer(408, b"The request did not arrive in time.\n")


class Lane:
    """What the connections of one worker share: the cache, the journal and the tick's batch."""

    def __init__(
        self, cache: RedirectCache, hosts: Hosts, journal: Journal, proxies: TrustedProxies | None = None
    ) -> None:
        self.entries: dict[bytes, Entry] = cache.entries
        self.prefix_of = hosts.prefix_of
        self.record = journal.record
        self.proxies = proxies or TrustedProxies([])
        self.spellings = dict(_KINDS)
        self.records: list[bytes] = []
        self.answers: list[tuple[LaneProtocol, Redirect, bool]] = []
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
                continue
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
        last_of = {connection: index for index, (connection, _, _) in enumerate(self.answers)}
        self.answers = [
            (connection, entry, is_last or last_of[connection] == index)
            for index, (connection, entry, is_last) in enumerate(self.answers)
        ]
        self.flush()

    def classify(self, name: bytes) -> int:
        kind = _KINDS.get(name.lower(), _IGNORED)
        if len(self.spellings) < _MOST_SPELLINGS and len(name) <= _LONGEST_SPELLING:
            self.spellings[name] = kind
        return kind

    def close_overdue(self, connections: Iterable[Any]) -> None:
        """One sweep over the open connections, instead of a timer each."""
        for connection in list(connections):
            if isinstance(connection, LaneProtocol):
                connection.close_if_overdue(self.second)


class _Flow(FlowControl):
    """Reads on only when the connection can take more; uvicorn would after every answer, and pile up requests."""

    def __init__(self, transport: asyncio.Transport, connection: "LaneProtocol") -> None:
        super().__init__(transport)
        self.connection: LaneProtocol | None = connection

    def resume_reading(self) -> None:
        connection = self.connection
        if not self.read_paused or connection is None or connection.is_choked():
            return
        if connection.unread:
            connection.loop.call_soon(connection.feed_unread)
        else:
            super().resume_reading()


class LaneProtocol(HttpToolsProtocol):
    """One connection. See `lane_protocol` for how it meets its lane."""

    lane: Lane

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url = b""
        self.unread = b""
        self._raw_headers: list[tuple[bytes, bytes]] = []
        self._running: RequestResponseCycle | None = None
        self._final: tuple[bytes, bytes] | None = None
        self._answered_here = False
        self._is_closing = False
        # Since when a head, or a body, is on its way; 0.0 when none is.
        self._head_since = 0.0
        self._body_since = 0.0
        self._part_bytes = 0
        self._idle_since = 0.0
        self._stuck_since = 0.0
        self._stuck_bytes = -1
        self._address = b""
        self._is_trusted = False
        self._visitor_key: list[bytes | None] = []
        self._visitor = Visitor(b"", b"", b"", b"")

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport, self)
        self._head_since = self.lane.second
        address = self.client[0] if self.client else ""
        self._address = address.encode("ascii", "replace")
        self._is_trusted = self.lane.proxies.trusts(address)

    # What comes in.

    def data_received(self, data: bytes) -> None:
        if len(data) > _SLICE_BYTES:
            self._feed_slices(data)
            return
        if self.timeout_keep_alive_task is not None:
            self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            self._ignore_upgrade(data[upgrade.args[0] :])
        except httptools.HttpParserError:
            self._refuse(_BAD_REQUEST)
        else:
            if self._head_since or self._body_since:
                self._count_part(len(data))

    def _feed_slices(self, data: bytes) -> None:
        for start in range(0, len(data), _SLICE_BYTES):
            if self.transport.is_closing():
                return
            if self.is_choked():
                self.unread = data[start:]
                self.flow.pause_reading()
                return
            self.data_received(data[start : start + _SLICE_BYTES])
            self.lane.flush()

    def is_choked(self) -> bool:
        """Reading on while the client does not read, or while others wait, would pile up answers without end."""
        return self.flow.write_paused or bool(self.pipeline) or self._final is not None

    def feed_unread(self) -> None:
        """What was read and left aside when the connection was choked."""
        if self.parser is None or self.is_choked():
            return
        data, self.unread = self.unread, b""
        self._feed_slices(data)
        self.flow.resume_reading()

    def _count_part(self, count: int) -> None:
        """Bounds heads, and what stands between the pieces of a body and behind it: extensions and trailers."""
        self._part_bytes += count
        if self._part_bytes > _MOST_HEAD_BYTES:
            self._refuse(_TOO_LARGE)

    def _ignore_upgrade(self, behind: bytes) -> None:
        """Nothing is upgraded to, which RFC 9110, section 7.8 allows.

        The parser does not read the body of such a request (Java's HttpClient sends h2c with every POST), so
        the request comes again without the wish.
        """
        if self._is_closing:
            return
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        for name, value in self._raw_headers:
            if name.lower() == b"connection":
                value = b",".join(part for part in value.split(b",") if part.strip().lower() != b"upgrade")
            if name.lower() != b"upgrade":
                lines.append(b"%b: %b" % (name, value))
        self.data_received(b"\r\n".join(lines) + b"\r\n\r\n" + behind)

    def eof_received(self) -> bool:
        """A client that has said its last word may still wait for the answers."""
        self._is_closing = True
        self.lane.flush()
        if self._body_since:
            self._give_up_request()
        return self._end_after_answers()

    # Callbacks of the parser, for each request in this order.

    def on_message_begin(self) -> None:
        self.url = b""
        self._raw_headers = []
        self._head_since = self.lane.second

    def on_header(self, name: bytes, value: bytes) -> None:
        self._raw_headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._head_since = 0.0
        self._part_bytes = 0
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
            self._part_bytes = 0
            self._body_since = self.lane.second
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self._answered_here:
            self._body_since = 0.0
            super().on_message_complete()

    # Hits.

    def _answer_hit(self) -> bool:
        """Answers a hit, or refuses what must be refused; False hands the request on."""
        lane = self.lane
        spellings = lane.spellings
        seen = _NOTHING_SEEN.copy()
        for name, value in self._raw_headers:
            kind = spellings.get(name)
            if kind is None:
                kind = lane.classify(name)
            if kind:
                earlier = seen[kind]
                seen[kind] = value if earlier is None else b"%b,%b" % (earlier, value)
                if kind == _HOST and earlier is not None:
                    self._refuse(_ONE_HOST)
                    return True
        host = seen[_HOST] or b""
        if not host and self.parser.get_http_version() != "1.0":
            self._refuse(_ONE_HOST)
            return True
        if seen[_BEYOND] is not None:
            return self._comes_again()
        entry = lane.entries.get(lane.prefix_of(host) + self.url)
        if entry is None:
            entry = self._find_in_other_form(host)
        moment = nanoseconds() // 1000
        if entry is None or moment >= entry.fresh_until:
            return False
        return self._queue_answer(entry, seen, moment)

    def _queue_answer(self, entry: Any, seen: list[bytes | None], moment: int) -> bool:
        """`entry` is a Redirect: a tombstone is never fresh."""
        if self.cycle is not None and not self.cycle.response_complete:
            # An earlier request is still being answered by the framework, and answers keep their order.
            return False
        lane = self.lane
        parser = self.parser
        method = parser.get_method()
        if method == b"GET":
            purpose = seen[_PURPOSE]
            if purpose is None or b"prefetch" not in purpose.lower():
                key = seen[_USER_AGENT:_PURPOSE]
                if key != self._visitor_key:
                    self._meet_visitor(key)
                lane.records.append(lane.record(moment, entry.link_id, self._visitor))
        elif method != b"HEAD":
            return False
        is_last = not parser.should_keep_alive()
        if seen[_CONNECTION] is not None and parser.get_http_version() == "1.0":
            # Such a client would wait for a Connection: keep-alive that these answers do not carry.
            is_last = True
        entry.visited = True
        if not lane.answers:
            self.loop.call_soon(lane.flush)
        lane.answers.append((self, entry, is_last))
        self._is_closing = is_last
        return True

    def _meet_visitor(self, key: list[bytes | None]) -> None:
        """Most connections send the same headers each time: the visitor's part of a record is made once."""
        user_agent, referrer, language, forwarded = key
        address = self._address
        if forwarded and self._is_trusted:
            address = self.lane.proxies.visitor_address(address, forwarded)
        self._visitor_key = key
        self._visitor = Visitor(address, user_agent or b"", referrer or b"", language or b"")

    def _find_in_other_form(self, host: bytes) -> Entry | None:
        """The same path with a query behind it, or as an absolute URL."""
        if self.url[:1] != b"/":
            host = self._to_origin_form(host)
        path = self.url.partition(b"?")[0]
        return self.lane.entries.get(self.lane.prefix_of(host) + path)

    def _to_origin_form(self, host: bytes) -> bytes:
        """The authority of an absolute URL counts, whatever the Host header says (RFC 9112, section 3.2.2)."""
        absolute = _ABSOLUTE.fullmatch(self.url)
        if absolute is None:
            return host
        authority, rest = absolute.groups()
        host = authority.rpartition(b"@")[2]
        self.url = rest if rest[:1] == b"/" else b"/" + rest
        self._raw_headers = [header for header in self._raw_headers if header[0].lower() != b"host"]
        self._raw_headers.append((b"host", host))
        return host

    # Everything else.

    def _comes_again(self) -> bool:
        """Is this a request that `_ignore_upgrade` will feed once more?"""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _fall_through(self) -> None:
        """Hands the whole request on to uvicorn and the application."""
        if self.url[:1] != b"/":
            self._to_origin_form(b"")
        url, headers = self.url, self._raw_headers
        super().on_message_begin()
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        super().on_headers_complete()
        self._body_since = self.lane.second
        if self.lane.is_stopping:
            self.cycle.keep_alive = False
        self._is_closing = not self.cycle.keep_alive

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _is_busy(self) -> bool:
        """Is the application still answering?"""
        return bool(self.pipeline) or (self._running is not None and not self._running.response_complete)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._final is not None and not self._is_busy():
            self._say(self._final)

    def _refuse(self, answer: tuple[bytes, bytes]) -> None:
        """The connection's last answer, behind those to earlier requests."""
        self._is_closing = True
        self.lane.flush()
        if self._body_since:
            self._give_up_request()
        if self._is_busy():
            self._final = answer
            self.flow.pause_reading()
        else:
            self._say(answer)

    def _say(self, answer: tuple[bytes, bytes]) -> None:
        if not self.transport.is_closing():
            self.transport.write(answer[0] + self.lane.date + answer[1])
            self.transport.close()

    def _give_up_request(self) -> None:
        """Its body will never be whole. It is the last one: it waits in line, or the application has it."""
        self._body_since = 0.0
        if self.pipeline:
            self.pipeline.popleft()
            return
        if self.cycle.response_started:
            self.transport.close()
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        self._running = None

    # Flow, time-outs and the end.

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck_bytes = -1
        self.flow.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.flow.resume_reading()

    def close_if_overdue(self, second: float) -> None:
        if self.flow.write_paused or self.transport.is_closing():
            self._abort_if_stuck(second)
        elif self._is_busy():
            self._idle_since = second
            if self._body_since and not self.flow.read_paused and second - self._body_since > _IDLE_SECONDS:
                self._refuse(_TOO_SLOW)
        elif self._head_since:
            if second - self._head_since > _HEAD_SECONDS:
                self._refuse(_TOO_SLOW)
        elif second - self._idle_since > _IDLE_SECONDS:
            self.transport.close()

    def _abort_if_stuck(self, second: float) -> None:
        """A client that takes nothing of what was sent to it would be kept for ever: closing waits for it."""
        size = self.transport.get_write_buffer_size()
        if size != self._stuck_bytes:
            self._stuck_bytes = size
            self._stuck_since = second
        elif second - self._stuck_since > _STUCK_SECONDS:
            self.transport.abort()

    def _end_after_answers(self) -> bool:
        """True when there are answers to wait for; the last of them ends the connection."""
        if not self._is_busy():
            return False
        last = self.pipeline[0][0] if self.pipeline else self._running
        if last is not None and self._final is None:
            last.keep_alive = False
        return True

    def shutdown(self) -> None:
        if not self.lane.is_stopping:
            self.lane.stop()
        self._is_closing = True
        self.unread = b""
        if not self._end_after_answers():
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.unread = b""
        self.flow.connection = None  # type: ignore[attr-defined]
        # uvicorn tells only the newest of several pipelined requests that nobody waits any more.
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True
            self._running.message_event.set()


def lane_protocol(lane: Lane) -> type[LaneProtocol]:
    """The class to give to uvicorn, which makes one object of it for each connection."""
    return type("LaneProtocol", (LaneProtocol,), {"lane": lane})
