"""How a connection reads, waits, refuses and ends, whatever it is asked for.

It mends what uvicorn leaves open: reading goes on while answers pile up, an invalid request is refused before
earlier ones are answered, a half-closed client gets no answer, and a body is lost when its request wishes to upgrade.
"""

import asyncio
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from laconic.redirect.lane.batch import Lane
from laconic.redirect.lane.refusals import BAD_REQUEST, NO_MEMORY, TOO_LARGE, TOO_SLOW, Answer
from laconic.redirect.lane.unsent import unsent_bytes
from laconic.redirect.model import status_line

_HEAD_SECONDS = 10
_IDLE_SECONDS = 75
# How long a proxy's idle connection is kept while the worker stops: see `shutdown`.
_LINGER_SECONDS = 4
# How long a client may leave what was sent to it unread.
_STUCK_SECONDS = 60
_MOST_HEAD_BYTES = 32 * 1024
# A larger read is parsed in pieces of this size: a piece bounds how many answers can gather before back-pressure
# is seen, and how far the count of a head's bytes can be off.
_SLICE_BYTES = 8 * 1024

WHOLE = "laconic.whole"
"""In the scope of a request: what sends a status, headers and body in one piece. Uvicorn would look at each header
twice, by regular expressions, which is for headers of applications that it does not know."""

_status_line = lru_cache(status_line)


class _Flow(FlowControl):
    """Reads on only when the connection can take more; uvicorn would after every answer, and pile up requests."""

    def __init__(self, transport: asyncio.Transport, connection: "Connection") -> None:
        super().__init__(transport)
        self.connection: Connection | None = connection

    def resume_reading(self) -> None:
        connection = self.connection
        if not self.read_paused or connection is None or connection.is_choked():
            return
        if connection.unread:
            connection.loop.call_soon(connection.feed_unread)
        else:
            super().resume_reading()


class Connection(HttpToolsProtocol):
    """One connection of a worker, and the requests on it one after another."""

    # What a hit reads and writes. Uvicorn's objects have more attributes than the interpreter is quick with.
    __slots__ = ("head_since", "idle_since", "is_closing", "lane", "running", "send")
    # Of the class that the worker makes for itself: uvicorn passes on nothing of ours.
    lane_of_worker: Lane
    flow: _Flow

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lane = self.lane_of_worker
        # None before and after the connection.
        self.send: Callable[[bytes], None] | None = None
        self.url = b""
        self.unread = b""
        self.raw_headers: list[tuple[bytes, bytes]] = []
        # The request that the application answers now, and an answer that comes behind all others.
        self.running: RequestResponseCycle | None = None
        self.final: Answer | None = None
        # Whether the request under way is none of the application's, and whether it is the last one.
        self.answered_here = False
        self.is_closing = False
        # Whether a request waits for its look-up; nothing behind it is read.
        self.is_looking_up = False
        # Since when a head, or a body, is on its way; 0.0 when none is.
        self.head_since = 0.0
        self.body_since = 0.0
        self.part_bytes = 0
        self.idle_since = 0.0
        self.stuck_since = 0.0
        self.stuck_bytes = -1
        # Whether the other side is one of the operator's own proxies.
        self.is_trusted = False
        self.lingers_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport, self)
        self.send = transport.write
        self.head_since = self.lane.second

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
        except httptools.HttpParserError as error:
            # What a callback raises comes as an error of the parser.
            self.refuse(NO_MEMORY if isinstance(error.__context__, MemoryError) else BAD_REQUEST)
        else:
            if self.head_since or self.body_since:
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
        if self.final is not None or self.pipeline or self.is_looking_up:
            return True
        # A body is read on, and bounded, by whoever asked for it: many clients read nothing before all is sent.
        return self.flow.write_paused and not self.body_since

    def feed_unread(self) -> None:
        """What was read and left aside when the connection was choked."""
        if self.transport.is_closing() or self.is_choked():
            return
        data, self.unread = self.unread, b""
        self._feed_slices(data)
        self.flow.resume_reading()

    def _count_part(self, count: int) -> None:
        """Bounds heads, and what stands between the pieces of a body and behind it: extensions and trailers."""
        self.part_bytes += count
        if self.part_bytes > _MOST_HEAD_BYTES:
            self.refuse(TOO_LARGE)

    def _ignore_upgrade(self, behind: bytes) -> None:
        """Nothing is upgraded to, which RFC 9110, section 7.8 allows.

        The parser does not read the body of such a request (Java's HttpClient sends h2c with every POST), so
        the request comes again without the wish.
        """
        if self.is_closing:
            return
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        for name, value in self.raw_headers:
            if name.lower() == b"connection":
                value = b",".join(part for part in value.split(b",") if part.strip().lower() != b"upgrade")
            if name.lower() != b"upgrade":
                lines.append(b"%b: %b" % (name, value))
        # A new parser, for one that has read "close" reads no more.
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.data_received(b"\r\n".join(lines) + b"\r\n\r\n" + behind)

    def eof_received(self) -> bool:  # type: ignore[override]
        """A client that has said its last word may still wait for the answers."""
        self.is_closing = True
        self.lane.flush()
        if self.body_since:
            self._give_up_request()
        return self._end_after_answers()

    # Callbacks of the parser, for each request in this order.

    def on_message_begin(self) -> None:
        self.url = b""
        self.raw_headers = []
        self.head_since = self.lane.second

    def on_header(self, name: bytes, value: bytes) -> None:
        self.raw_headers.append((name, value))

    def on_headers_complete(self) -> None:
        self.head_since = 0.0
        self.part_bytes = 0
        self.answered_here = True
        if self.is_closing:
            # The request before this one was the connection's last.
            return
        self.idle_since = self.lane.second
        if not self.answer_hit():
            self.answered_here = False
            self._fall_through()

    def answer_hit(self) -> bool:
        """Answers a hit, or refuses what must be refused; False hands the request on."""
        raise NotImplementedError

    def to_origin_form(self) -> None:
        """Makes `url` a path."""
        raise NotImplementedError

    def on_body(self, body: bytes) -> None:
        if not self.answered_here:
            self.part_bytes = 0
            self.body_since = self.lane.second
            super().on_body(body)

    def on_message_complete(self) -> None:
        if not self.answered_here:
            self.body_since = 0.0
            if self.flow.write_paused:
                self.flow.pause_reading()
            super().on_message_complete()

    # What the application answers.

    def _fall_through(self) -> None:
        """Hands the whole request on to uvicorn and the application."""
        self.to_origin_form()
        url, headers = self.url, self.raw_headers
        super().on_message_begin()
        self.url = url
        for name, value in headers:
            super().on_header(name, value)
        super().on_headers_complete()
        self.body_since = self.lane.second
        if self.lane.is_stopping:
            self.cycle.keep_alive = False
        self.is_closing = not self.cycle.keep_alive

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self.running = cycle
        cycle.scope[WHOLE] = partial(self._send_whole, cycle)  # type: ignore[literal-required]
        super()._start_asgi_task(cycle, app)

    def _send_whole(
        self,
        cycle: RequestResponseCycle,
        status: int,
        headers: Iterable[tuple[bytes, bytes]],
        body: bytes | memoryview,
    ) -> None:
        """`headers` tell the length of the body, which is small: no answer waits for the client to read others.
        Whoever does not read them is not read from (`is_choked`)."""
        if cycle.disconnected:
            return
        lines: list[bytes | memoryview] = [
            _status_line(status),
            self.lane.date,
            *(b"%b: %b\r\n" % header for header in headers),
        ]
        lines += (b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n", body)
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        self.transport.write(b"".join(lines))
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()

    def _is_busy(self) -> bool:
        """Is the application still answering, or a link being looked up?"""
        return self.is_looking_up or (self.running is not None and not self.running.response_complete)

    def on_response_complete(self) -> None:
        if self.running is not None:
            # It holds the cycle that holds it. Left to the collector of garbage, those of a second's creates stopped the
            # loop for 30 to 50 ms (measured).
            scope: Any = self.running.scope
            scope.pop(WHOLE, None)
        super().on_response_complete()
        if self.final is not None and not self._is_busy():
            self._say(self.final)

    # Refusals.

    def refuse(self, answer: Answer) -> None:
        """The connection's last answer, behind those to earlier requests."""
        self.is_closing = True
        self.lane.flush()
        if self.body_since:
            self._give_up_request()
        if self._is_busy():
            self.final = answer
            self.flow.pause_reading()
        else:
            self._say(answer)

    def _say(self, answer: Answer) -> None:
        if not self.transport.is_closing():
            self.lane.refused[int(answer[0].split()[1])] += 1
            self.transport.write(answer[0] + self.lane.date + answer[1])
            self.transport.close()

    def _give_up_request(self) -> None:
        """Its body will never be whole. It is the last one: it waits in line, or the application has it."""
        self.body_since = 0.0
        if self.pipeline:
            self.pipeline.popleft()
            return
        if self.cycle.response_started:
            self.transport.close()
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        self.running = None

    # Flow, time-outs and the end.

    def pause_writing(self) -> None:
        super().pause_writing()
        self.stuck_bytes = -1
        if self.is_choked():
            self.flow.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.flow.resume_reading()

    def close_if_overdue(self, second: float) -> None:
        """Called once a second, with the second."""
        if self.transport.is_closing() or (self.flow.write_paused and not self._is_sending(second)):
            self._abort_if_stuck(second)
        elif self.lingers_since and second - self.lingers_since > _LINGER_SECONDS and not self._is_busy():
            self.transport.close()
        elif self._is_busy():
            self.idle_since = second
            if self.body_since and not self.flow.read_paused and second - self.body_since > _IDLE_SECONDS:
                self.refuse(TOO_SLOW)
        elif self.head_since:
            if second - self.head_since > _HEAD_SECONDS:
                self.refuse(TOO_SLOW)
        elif second - self.idle_since > _IDLE_SECONDS:
            self.transport.close()

    def _is_sending(self, second: float) -> bool:
        """Does the client send a body at this time? Then it may well read later."""
        return bool(self.body_since) and second - self.body_since < _STUCK_SECONDS

    def _abort_if_stuck(self, second: float) -> None:
        """A client that takes nothing of what was sent to it would be kept for ever: closing waits for it."""
        size = unsent_bytes(self.transport)
        if size != self.stuck_bytes:
            self.stuck_bytes = size
            self.stuck_since = second
        elif second - self.stuck_since > _STUCK_SECONDS:
            self.transport.abort()

    def _end_after_answers(self) -> bool:
        """True when there are answers to wait for; the last of them ends the connection."""
        if not self._is_busy():
            return False
        last = self.pipeline[0][0] if self.pipeline else self.running
        if last is not None and self.final is None:
            last.keep_alive = False
        return True

    def shutdown(self) -> None:
        if not self.lane.is_stopping:
            self.lane.stop()
        if self.is_looking_up:
            # From now on it goes through the application, which says that its answer is the last.
            return
        if self.is_trusted and not self._is_busy() and not self.is_closing:
            # A proxy may have sent a request just now, and must not repeat one that writes. It hears of the end with
            # the answer to its next one, if it does not close first.
            self.lingers_since = self.lane.second
            return
        self.is_closing = True
        self.unread = b""
        if not self._end_after_answers():
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.send = None
        self.unread = b""
        self.flow.connection = None
        # uvicorn tells only the newest of several pipelined requests that nobody waits any more.
        if self.running is not None and not self.running.response_complete:
            self.running.disconnected = True
            self.running.message_event.set()
