"""What the hot path keeps for a domain and a code: where to send a visitor, or a remembered no."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from laconic.clock import SECOND

GoneReason = Literal["expired", "deleted", "disabled", "taken_down"]
# A link whose target's host the operator has blocked is gone while that is so; nothing is written to its row.
NoReason = Literal["unknown", "blocked"] | GoneReason

REDIRECT_STATUSES = (301, 302, 307, 308)
_TEMPORARY = frozenset({302, 307})
# How long a browser may keep a permanent redirect, unless the link expires sooner.
PERMANENT_MAX_AGE_SECONDS = 86_400

_MAX_AGE = b"private, max-age="
_END = b"\r\ncontent-length: 0\r\n\r\n"

NO_STORE_HEADERS = (
    (b"cache-control", b"private, no-cache, no-store, must-revalidate"),
    (b"pragma", b"no-cache"),
    (b"expires", b"0"),
)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """What one look-up reads."""

    link_id: int
    location: str
    redirect_status: int
    expires_at: int | None
    is_active: bool
    is_deleted: bool
    gone_reason: GoneReason | Literal["blocked"] | None
    version: int
    note: str | None = None
    """What the operator says of a link that was taken down."""


class Redirect:
    """A live link.

    `tail` is the answer from behind the date line on, made once. Before `fresh_until` the lane may use it unasked;
    0 means that it must be checked first. `checked_at` is when the look-up began that found it.
    """

    __slots__ = (
        "checked_at",
        "expires_at",
        "fresh_until",
        "link_id",
        "size",
        "status",
        "tail",
        "version",
        "visited",
    )

    def __init__(self, row: LinkRow, checked_at: int) -> None:
        self.link_id = row.link_id
        self.status = row.redirect_status
        self.version = row.version
        self.expires_at = row.expires_at
        self.checked_at = checked_at
        self.fresh_until = 0
        self.visited = False
        self.tail = _tail(row, checked_at)
        self.size = len(self.tail)

    def has_expired(self, moment: int) -> bool:
        return is_expired(self.expires_at, moment)

    def keep_fresh(self, until: int) -> None:
        """The lane may use the entry until then, and never past its expiry."""
        if self.expires_at is None:
            self.fresh_until = until
            return
        self.fresh_until = min(until, self.expires_at)
        if self.status not in _TEMPORARY:
            # Counted from the last moment it may be sent: whenever it is, it ends before the link does.
            before, name, _ = self.tail.rpartition(_MAX_AGE)
            self.tail = b"%b%b%d%b" % (before, name, _max_age(self.expires_at, self.fresh_until), _END)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The same headers for a framework that wants them one by one."""
        lines = self.tail.split(b"\r\n")[:-2]
        return [(name, value) for name, _, value in (line.partition(b": ") for line in lines)]


class Tombstone:
    """A remembered no. It is never fresh to the lane, so every no is answered by the endpoint."""

    __slots__ = ("checked_at", "fresh_until", "keep_until", "note", "reason", "size", "version", "visited")

    def __init__(self, reason: NoReason, version: int, checked_at: int, note: str | None = None) -> None:
        self.reason = reason
        self.note = note
        self.version = version
        self.checked_at = checked_at
        self.fresh_until = 0
        self.keep_until = 0
        self.visited = False
        self.size = 0 if note is None else len(note)


Entry = Redirect | Tombstone


def is_expired(expires_at: int | None, moment: int) -> bool:
    """The one judgement of expiry, on every read and in every tier."""
    return expires_at is not None and expires_at <= moment


def judge(row: LinkRow | None, moment: int) -> Entry:
    """What a row means to a visitor at this moment."""
    if row is None:
        return Tombstone("unknown", 0, moment)
    if row.is_deleted:
        return Tombstone(row.gone_reason or "deleted", row.version, moment)
    if is_expired(row.expires_at, moment):
        return Tombstone("expired", row.version, moment)
    if not row.is_active and not _was_retired_early(row):
        return Tombstone(row.gone_reason or "disabled", row.version, moment, row.note)
    return Redirect(row, moment)


def _was_retired_early(row: LinkRow) -> bool:
    """The reaper's clock was ahead, and its expiry is still to come: no live link is lost by that."""
    return row.gone_reason == "expired" and row.expires_at is not None and row.location is not None


def status_line(status: int) -> bytes:
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()


def cache_headers(status: int, expires_at: int | None, moment: int) -> tuple[tuple[bytes, bytes], ...]:
    """A temporary redirect is never stored; a permanent one no longer than the link lives."""
    if status in _TEMPORARY:
        return NO_STORE_HEADERS
    return ((b"cache-control", b"%b%d" % (_MAX_AGE, _max_age(expires_at, moment))),)


def _max_age(expires_at: int | None, moment: int) -> int:
    if expires_at is None:
        return PERMANENT_MAX_AGE_SECONDS
    return max(0, min(PERMANENT_MAX_AGE_SECONDS, (expires_at - moment) // SECOND))


def _tail(row: LinkRow, moment: int) -> bytes:
    headers = [
        (b"location", row.location.encode("ascii")),
        *cache_headers(row.redirect_status, row.expires_at, moment),
    ]
    return b"\r\n".join(b"%b: %b" % header for header in headers) + _END
