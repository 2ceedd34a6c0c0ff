"""Which requests are answered at once, and how: no await, no object beyond the click, no log line."""

import asyncio
import re
from collections.abc import Awaitable
from typing import Any

from laconic.clicks.click import Visitor
from laconic.clock import nanoseconds
from laconic.codes.rules import OWN_PATHS, POSSIBLE_CODE
from laconic.redirect.lane.batch import Lane
from laconic.redirect.lane.connection import Connection
from laconic.redirect.lane.known import BLOCK_LIMIT, GET, VERSION_LENGTH, Head, KnownHeads
from laconic.redirect.lane.refusals import ONE_HOST
from laconic.redirect.model import Entry, Redirect

# What the lane wants to know of a header. Names are met in a few spellings only, so each spelling is
# classified once and remembered; _MOST_SPELLINGS bounds what a hostile client can make it remember.
_IGNORED, _HOST, _USER_AGENT, _REFERRER, _LANGUAGE, _FORWARDED, _PURPOSE, _CONNECTION, _BEYOND = range(9)
_NOTHING_SEEN: list[bytes | None] = [None] * 9
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
_POSSIBLE_CODE = re.compile(POSSIBLE_CODE.pattern.encode())
_OWN_PATHS = frozenset(path.encode() for path in OWN_PATHS)
_MOST_SPELLINGS = 1_000
_LONGEST_SPELLING = 64

_ABSOLUTE = re.compile(rb"https?://([^/?#]+)(.*)", re.IGNORECASE | re.DOTALL)


class LaneProtocol(Connection):
    """A connection that answers hits itself. See `lane_protocol` for how it meets its lane."""

    __slots__ = ("_find_block", "_is_between", "_visitor", "_visitor_key")

    spellings: dict[bytes, int]
    known: KnownHeads

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._address = b""
        self._visitor_key: list[bytes | None] | None = None
        # Whether all that came so far are whole requests, and the head of the last one if the lane can answer its like.
        self._is_between = True
        self._judged: Head | None = None
        self._visitor = Visitor(b"", b"", b"", b"")
        self._find_block = self.known.blocks.get

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._address = address.encode("ascii", "replace")
        self.is_trusted = self.lane.proxies.trusts(address)

    def data_received(self, data: bytes) -> None:
        """A GET with a header block that was met before goes no further than here."""
        if self._is_between and len(data) < BLOCK_LIMIT:
            end = data.find(b"\r\n")
            head = self._find_block(data[end - VERSION_LENGTH :])
            if head is not None and (
                self._answer_known(head, data, end) or self._look_up_known(head, data, end)
            ):
                return
            judged = self._parse(data)
            if judged is not None and self._is_between:
                self.known.remember(data, judged)
        else:
            self._parse(data)

    def _parse(self, data: bytes) -> Head | None:
        """Feeds the parser; gives the last request's head when the lane can answer its like."""
        self._judged = None
        self._is_between = False
        super().data_received(data)
        self._is_between = not (self.head_since or self.body_since or self.unread)
        return self._judged

    def _answer_known(self, head: Head, data: bytes, end: int, found: Entry | None = None) -> bool:
        """The block has been judged, so only what stands before it is looked at: the path must be a cached link's, or the
        one that was `found`."""
        if not data.startswith(GET):
            return False
        lane = self.lane
        answers = lane.answers
        entry: Any = found or lane.entries.get(head.prefix + data[4 : end - VERSION_LENGTH])
        # One reading of the clock for all that a tick answers: they go out together.
        moment = lane.begun if answers else nanoseconds() // 1000
        if entry is None or moment >= entry.fresh_until or self.is_closing:
            return False
        if self.running is not None:
            if not self.running.response_complete:
                return False
            self._unset_keepalive_if_required()
        self.head_since = 0.0
        self.idle_since = lane.second
        if head.is_click:
            if head.visitor_key is not self._visitor_key:
                self._meet_visitor(head.visitor_key)
            lane.clicks.append((moment, entry.link_id, self._visitor))
        entry.visited = True
        if not answers:
            lane.begun = moment
            self.loop.call_soon(lane.flush)
        answers.append((self, entry, head.is_last))
        self.is_closing = head.is_last
        return True

    def _look_up_known(self, head: Head, data: bytes, end: int) -> bool:
        """A miss in front of a database that takes its time: the request is kept as it came, and nothing behind it is read
        until it is answered. The application would take twice as long for the same (measured)."""
        code = data[len(GET) : end - VERSION_LENGTH]
        if self.lane.find_soon is None or self.is_closing or self._is_busy():
            return False
        if not data.startswith(GET) or not _can_be_link(code):
            return False
        self._unset_keepalive_if_required()
        self.head_since = 0.0
        self.idle_since = self.lane.second
        self.is_looking_up = True
        self.flow.pause_reading()
        finding = self.lane.find_soon(int(head.prefix), code.decode("ascii"))
        task = self.loop.create_task(self._answer_when(finding, head, data, end))
        self.lane.look_ups.add(task)
        task.add_done_callback(self.lane.look_up_ended)
        return True

    async def _answer_when(self, finding: Awaitable[Entry | None], head: Head, data: bytes, end: int) -> None:
        began = nanoseconds() // 1000
        entry = None
        try:
            entry = await finding
        finally:
            self.is_looking_up = False
            if self.send is not None:
                if entry and not self.lane.is_stopping and self._answer_known(head, data, end, entry):
                    self.lane.note_late(began)
                else:
                    # A no, or a link of which nothing can be known: how that looks is for the application to say.
                    self._parse(data)
                self.flow.resume_reading()

    def answer_hit(self) -> bool:
        spellings = self.spellings
        seen = _NOTHING_SEEN.copy()
        for name, value in self.raw_headers:
            kind = spellings.get(name)
            if kind is None:
                kind = self._classify(name)
            if kind:
                earlier = seen[kind]
                seen[kind] = value if earlier is None else b"%b,%b" % (earlier, value)
                if kind == _HOST and earlier is not None:
                    self.refuse(ONE_HOST)
                    return True
        host = seen[_HOST] or b""
        if not host and self.parser.get_http_version() != "1.0":
            self.refuse(ONE_HOST)
            return True
        if seen[_BEYOND] is not None:
            return self._comes_again()
        lane = self.lane
        entry = lane.entries.get(lane.prefix_of(host) + self.url)
        if entry is None:
            entry = self._find_in_other_form(host)
        moment = nanoseconds() // 1000
        if entry is None or moment >= entry.fresh_until:
            entry = self._look_up(host) if lane.find_now is not None else None
            if entry is None:
                if lane.find_soon is not None and _can_be_link(self.url[1:]):
                    # The next one with the same headers waits in the lane.
                    self._judged = self._judge(seen)
                return False
        return self._queue_answer(entry, seen, moment)

    def _look_up(self, host: bytes) -> Redirect | None:
        """A miss that the database answers at once: on SQLite about 7 us, where the application takes a hundred."""
        code = self.url[1:].partition(b"?")[0]
        if not _can_be_link(code) or self.lane.find_now is None:
            return None
        entry = self.lane.find_now(int(self.lane.prefix_of(host)), code.decode("ascii"))
        # How a "no" looks is for the application to say; it finds the answer remembered.
        return entry if isinstance(entry, Redirect) else None

    def _classify(self, name: bytes) -> int:
        kind = _KINDS.get(name.lower(), _IGNORED)
        if len(self.spellings) < _MOST_SPELLINGS and len(name) <= _LONGEST_SPELLING:
            self.spellings[name] = kind
        return kind

    def _queue_answer(self, entry: Any, seen: list[bytes | None], moment: int) -> bool:
        """`entry` is a Redirect: a tombstone is never fresh."""
        if self.running is not None and not self.running.response_complete:
            # An earlier request is still being answered by the application, and answers keep their order.
            return False
        head = self._judge(seen)
        if head is None:
            return False
        lane = self.lane
        if head.is_click:
            if head.visitor_key != self._visitor_key:
                self._meet_visitor(head.visitor_key)
            lane.clicks.append((moment, entry.link_id, self._visitor))
        entry.visited = True
        if not lane.answers:
            lane.begun = moment
            self.loop.call_soon(lane.flush)
        lane.answers.append((self, entry, head.is_last))
        self.is_closing = head.is_last
        self._judged = head
        return True

    def _judge(self, seen: list[bytes | None]) -> Head | None:
        """What the header block says; None when it asks for something else than a redirect."""
        parser = self.parser
        method = parser.get_method()
        is_click = method == b"GET"
        if is_click:
            purpose = seen[_PURPOSE]
            is_click = purpose is None or b"prefetch" not in purpose.lower()
        elif method != b"HEAD":
            return None
        is_last = not parser.should_keep_alive()
        if seen[_CONNECTION] is not None and parser.get_http_version() == "1.0":
            # Such a client would wait for a Connection: keep-alive that these answers do not carry.
            is_last = True
        prefix = self.lane.prefix_of(seen[_HOST] or b"")
        return Head(prefix, seen[_USER_AGENT:_PURPOSE], is_click=is_click, is_last=is_last)

    def _meet_visitor(self, key: list[bytes | None]) -> None:
        """Most connections send the same headers each time: the visitor's part of a record is made once."""
        user_agent, referrer, language, forwarded = key
        address = self._address
        if forwarded and self.is_trusted:
            address = self.lane.proxies.visitor_address(address, forwarded)
        self._visitor_key = key
        self._visitor = Visitor(address, user_agent or b"", referrer or b"", language or b"")

    def _find_in_other_form(self, host: bytes) -> Entry | None:
        """The same path with a query behind it, or as an absolute URL."""
        if self.url[:1] != b"/":
            self.to_origin_form()
            host = next((value for name, value in self.raw_headers if name == b"host"), host)
        path = self.url.partition(b"?")[0]
        return self.lane.entries.get(self.lane.prefix_of(host) + path)

    def _comes_again(self) -> bool:
        """Is this a request that will be fed once more, without its wish to upgrade?"""
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def to_origin_form(self) -> None:
        """The authority of an absolute URL counts, whatever the Host header says (RFC 9112, section 3.2.2)."""
        absolute = _ABSOLUTE.fullmatch(self.url)
        if absolute is None:
            return
        authority, rest = absolute.groups()
        self.url = rest if rest[:1] == b"/" else b"/" + rest
        self.raw_headers = [header for header in self.raw_headers if header[0].lower() != b"host"]
        self.raw_headers.append((b"host", authority.rpartition(b"@")[2]))


def _can_be_link(code: bytes) -> bool:
    return _POSSIBLE_CODE.fullmatch(code) is not None and code not in _OWN_PATHS


def lane_protocol(lane: Lane) -> type[LaneProtocol]:
    """The class to give to uvicorn, which makes one object of it for each connection."""
    known = KnownHeads()
    # A block holds a Host header, and with it the domain that it meant.
    lane.hosts.when_changed(known.blocks.clear)
    return type(
        "LaneProtocol", (LaneProtocol,), {"lane_of_worker": lane, "spellings": dict(_KINDS), "known": known}
    )
