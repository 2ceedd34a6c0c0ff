"""Telling visitors of one day apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clicks.visitors import VisitorHashes


def salt_of_day(day: int) -> bytes:
    return f"salt of day {day}".encode()


def test_the_same_visitor_on_the_same_day() -> None:
    """One hash, also from another process that has the same salts."""
    ours, theirs = VisitorHashes(salt_of_day), VisitorHashes(salt_of_day)
    assert ours.of(20_000, b"192.0.2.7", b"Firefox") == theirs.of(20_000, b"192.0.2.7", b"Firefox")


def test_who_is_told_apart() -> None:
    """Another day, address, user agent or salt is another visitor; nothing moves from one part into the other."""
    hashes, others = VisitorHashes(salt_of_day), VisitorHashes(lambda day: b"another salt")
    seen = [
        hashes.of(20_000, b"192.0.2.7", b"Firefox"),
        hashes.of(20_001, b"192.0.2.7", b"Firefox"),
        hashes.of(20_000, b"192.0.2.8", b"Firefox"),
        hashes.of(20_000, b"192.0.2.7", b"Chrome"),
        hashes.of(20_000, b"192.0.2.7F", b"irefox"),
        others.of(20_000, b"192.0.2.7", b"Firefox"),
    ]
    assert len(set(seen)) == len(seen)
    assert {len(one) for one in seen} == {8}


def test_salts_are_asked_for_once_and_not_hoarded() -> None:
    """A day's salt is asked for once while its clicks come; old ones do not stay in memory."""
    asked: list[int] = []

    def salt(day: int) -> bytes:
        asked.append(day)
        return salt_of_day(day)

    hashes = VisitorHashes(salt)
    for day in (1, 1, 2, 1, 2, 3, 3, 1):
        hashes.of(day, b"192.0.2.7", b"Firefox")
    assert asked == [1, 2, 3, 1]
    assert len(hashes._salts) <= 2


def test_an_empty_salt_is_refused() -> None:
    """Without a key anyone could try all addresses."""
    with pytest.raises(ValueError, match="salt of day 7"):
        VisitorHashes(lambda day: b"").of(7, b"192.0.2.7", b"Firefox")


@given(st.integers(), st.binary(), st.binary())
def test_no_bytes_are_too_strange(day: int, address: bytes, user_agent: bytes) -> None:
    """Any day, any bytes: eight bytes."""
    assert len(VisitorHashes(lambda day: b"salt").of(day, address, user_agent)) == 8
