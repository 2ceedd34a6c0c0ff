"""What a row means to a visitor, and what the answer says of how long it may be kept."""

from dataclasses import replace
from typing import Any

import pytest

from laconic.clock import DAY, SECOND
from laconic.redirect.model import (
    REDIRECT_STATUSES,
    LinkRow,
    Redirect,
    Tombstone,
    cache_headers,
    is_expired,
    judge,
    status_line,
)
from tests.redirect.links import LINK, NOON


def row(**changes: Any) -> LinkRow:
    return replace(LINK, **changes)


@pytest.mark.parametrize(
    ("link", "reason", "note"),
    [
        (None, "unknown", None),
        (row(is_deleted=True), "deleted", None),
        (row(is_deleted=True, gone_reason="expired"), "expired", None),
        (row(is_deleted=True, expires_at=NOON), "deleted", None),
        (row(expires_at=NOON), "expired", None),
        (row(expires_at=NOON, is_active=False), "expired", None),
        (row(is_active=False), "disabled", None),
        (row(is_active=False, gone_reason="expired"), "expired", None),
        (row(is_active=False, gone_reason="taken_down", note="by court"), "taken_down", "by court"),
        (row(is_active=False, gone_reason="blocked", expires_at=NOON + 1), "blocked", None),
    ],
)
def test_a_no_has_its_reason(link: LinkRow | None, reason: str, note: str | None) -> None:
    """The one that weighs most, and the version that said so."""
    entry = judge(link, NOON)
    assert isinstance(entry, Tombstone)
    assert (entry.reason, entry.note, entry.checked_at) == (reason, note, NOON)
    assert entry.version == (0 if link is None else 1)
    assert (entry.fresh_until, entry.keep_until, entry.visited) == (0, 0, False)
    assert entry.size == len(note or "")


@pytest.mark.parametrize(
    "link",
    [row(), row(expires_at=NOON + 1), row(is_active=False, gone_reason="expired", expires_at=NOON + 1)],
)
def test_a_live_link_redirects(link: LinkRow) -> None:
    """To the last microsecond, also when a reaper whose clock is ahead has retired it."""
    entry = judge(link, NOON)
    assert isinstance(entry, Redirect)
    assert (entry.link_id, entry.status, entry.version, entry.checked_at) == (42, 302, 1, NOON)
    assert (entry.fresh_until, entry.visited, entry.size) == (0, False, len(entry.tail))
    assert entry.headers()[0] == (b"location", b"https://example.com/v1")
    assert entry.headers()[-1] == (b"content-length", b"0")
    assert len(entry.headers()) == 5


def test_expiry_is_the_first_moment_without_the_link() -> None:
    """A link without one never expires."""
    assert [is_expired(NOON, NOON + step) for step in (-1, 0, 1)] == [False, True, True]
    assert not is_expired(None, NOON)


@pytest.mark.parametrize(
    ("left", "seconds"),
    [
        (None, 86_400),
        (2 * DAY, 86_400),
        (90 * SECOND, 90),
        (90 * SECOND - 1, 89),
        (SECOND - 1, 0),
        (-SECOND, 0),
    ],
)
def test_a_permanent_redirect_is_kept_no_longer_than_the_link_lives(left: int | None, seconds: int) -> None:
    """And a day at most; a temporary one is never kept."""
    expires_at = None if left is None else NOON + left
    for status in (301, 308):
        header = (b"cache-control", b"private, max-age=%d" % seconds)
        assert cache_headers(status, expires_at, NOON) == (header,)
    for status in (302, 307):
        assert b"no-store" in cache_headers(status, expires_at, NOON)[0][1]


def test_the_lane_uses_an_entry_until_its_expiry_at_most() -> None:
    """Its max-age counts from the last moment at which it may be sent, so a browser's copy ends first."""
    entry = Redirect(row(redirect_status=301, expires_at=NOON + 100 * SECOND), NOON)
    entry.keep_fresh(NOON + 60 * SECOND)
    assert entry.fresh_until == NOON + 60 * SECOND
    assert (b"cache-control", b"private, max-age=40") in entry.headers()
    entry.keep_fresh(NOON + 200 * SECOND)
    assert entry.fresh_until == NOON + 100 * SECOND
    assert (b"cache-control", b"private, max-age=0") in entry.headers()
    assert entry.tail.endswith(b"\r\ncontent-length: 0\r\n\r\n")
    for_ever = Redirect(row(redirect_status=301), NOON)
    for_ever.keep_fresh(NOON + 200 * SECOND)
    assert for_ever.fresh_until == NOON + 200 * SECOND
    assert (b"cache-control", b"private, max-age=86400") in for_ever.headers()


def test_a_status_line_has_its_words() -> None:
    """As the register of status codes has them."""
    assert [status_line(status) for status in REDIRECT_STATUSES] == [
        b"HTTP/1.1 301 Moved Permanently\r\n",
        b"HTTP/1.1 302 Found\r\n",
        b"HTTP/1.1 307 Temporary Redirect\r\n",
        b"HTTP/1.1 308 Permanent Redirect\r\n",
    ]
