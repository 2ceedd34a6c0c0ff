"""A click, and its form in a journal.

A record is a head and a visitor part:

    length    u32   of the whole record; 0 means "nothing was written here yet"
    checksum  u32   CRC-32 over the visitor part, then over the rest of the head
    sequence  u64   counts the records of one journal
    moment    i64   microseconds since 1970 UTC
    link_id   i64
    lengths   4 x u16  of address, user agent, referrer, language, which follow as bytes

The visitor part comes first into the checksum because it is the same for all clicks of a connection: its
checksum is taken once, and each click adds only the 24 bytes of its own.
"""

import re
from collections.abc import Iterable
from struct import Struct
from typing import NamedTuple
from zlib import crc32

HEAD = Struct("<IIQqq")
PREFIX = Struct("<II")
BODY = Struct("<Qqq")
LENGTHS = Struct("<HHHH")
_pack_prefix, _pack_body = PREFIX.pack, BODY.pack

# What one header may take of a record: enough for any browser, little enough for a hostile one.
_LONGEST_ADDRESS = 64
_LONGEST_USER_AGENT = 1024
_LONGEST_REFERRER = 2048
_LONGEST_LANGUAGE = 128
LONGEST_RECORD = 4096
SHORTEST_RECORD = HEAD.size + LENGTHS.size


class Click(NamedTuple):
    """One followed redirect, as the visitor's request told it."""

    sequence: int
    moment: int
    link_id: int
    address: bytes
    user_agent: bytes
    referrer: bytes
    language: bytes


class Visitor:
    """The visitor part of a record, made once for as long as a connection sends the same headers."""

    __slots__ = ("bytes", "checksum", "record_length")

    def __init__(self, address: bytes, user_agent: bytes, referrer: bytes, language: bytes) -> None:
        address = address[:_LONGEST_ADDRESS]
        user_agent = user_agent[:_LONGEST_USER_AGENT]
        referrer = referrer[:_LONGEST_REFERRER]
        language = language[:_LONGEST_LANGUAGE]
        lengths = LENGTHS.pack(len(address), len(user_agent), len(referrer), len(language))
        self.bytes = lengths + address + user_agent + referrer + language
        self.checksum = crc32(self.bytes)
        self.record_length = HEAD.size + len(self.bytes)


# A click on its way into a journal: moment, link, visitor.
Followed = tuple[int, int, Visitor]


def records_of(sequence: int, clicks: Iterable[Followed]) -> bytes:
    """The journal's bytes for these clicks; the first has this number.

    By the tick: a call for each, and a copy of each before all are joined, took half as long again (measured).
    """
    parts: list[bytes] = []
    for number, (moment, link_id, visitor) in enumerate(clicks, sequence):
        body = _pack_body(number, moment, link_id)
        parts += (
            _pack_prefix(visitor.record_length, crc32(body, visitor.checksum)),
            body,
            visitor.bytes,
        )
    return b"".join(parts)


# The length field of a record, 40 to 4,096, as four little-endian bytes. No zeros match.
_LENGTH_FIELD = re.compile(rb"(?:[\x28-\xff]\x00|[\x00-\xff][\x01-\x0f]|\x00\x10)\x00\x00", re.DOTALL)


def read_record(data: bytes, offset: int) -> tuple[Click, int] | None:
    """The click at `offset` and the offset behind it; None when there is no whole, sound record.

    Who reads many takes `records.read_clicks`.
    """
    if offset > len(data) - SHORTEST_RECORD:
        return None
    length, checksum, sequence, moment, link_id = HEAD.unpack_from(data, offset)
    end = offset + length
    if not SHORTEST_RECORD <= length <= LONGEST_RECORD or end > len(data):
        return None
    visitor = data[offset + HEAD.size : end]
    if crc32(data[offset + PREFIX.size : offset + HEAD.size], crc32(visitor)) != checksum:
        return None
    sizes = LENGTHS.unpack_from(visitor)
    agent = LENGTHS.size + sizes[0]
    referrer = agent + sizes[1]
    language = referrer + sizes[2]
    click = Click(
        sequence,
        moment,
        link_id,
        visitor[LENGTHS.size : agent],
        visitor[agent:referrer],
        visitor[referrer:language],
        visitor[language : language + sizes[3]],
    )
    return click, end


def find_record(data: bytes, start: int) -> int | None:
    """Where the next sound record begins, at `start` or behind it: for going on after damage.

    A visitor cannot plant one inside another: header values hold no zero bytes, a length field always does.
    """
    while field := _LENGTH_FIELD.search(data, start):
        start = field.start()
        if read_record(data, start):
            return start
        start += 1
    return None
