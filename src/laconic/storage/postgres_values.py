"""How PostgreSQL's native types look in Python: plain values, the same as SQLite gives.

Types of columns travel in PostgreSQL's binary format, because COPY accepts no other; numeric, which only sums
and averages have, travels as text.
"""

import ipaddress
import socket
from collections.abc import Callable
from typing import Any, Literal

from laconic.clock import LAST_MOMENT

# PostgreSQL counts from 2000-01-01, Laconic from 1970-01-01.
_EPOCH_MOMENT = 946_684_800_000_000
_EPOCH_DAY = 10_957
_INFINITY = 2**63 - 1
_MINUS_INFINITY = -(2**63)
# The beginning of the year 1, the first moment that RFC 3339 can write.
_FIRST_MOMENT = -62_135_596_800_000_000

# The address families as PostgreSQL sends them (src/include/utils/inet.h).
_FAMILY_4 = 2
_FAMILY_6 = 3


def encode_moment(moment: int) -> tuple[int]:
    return (moment - _EPOCH_MOMENT,)


def decode_moment(value: tuple[int]) -> int:
    """`infinity`, which people may write with their own tools, becomes the last moment there is."""
    if value[0] == _INFINITY:
        return LAST_MOMENT
    if value[0] == _MINUS_INFINITY:
        return _FIRST_MOMENT
    return value[0] + _EPOCH_MOMENT


def encode_day(day: int) -> tuple[int]:
    """Days since 1970-01-01, as in SQLite's files."""
    return (day - _EPOCH_DAY,)


def decode_day(value: tuple[int]) -> int:
    return value[0] + _EPOCH_DAY


def encode_address(text: str) -> bytes:
    """An address, or an address with a prefix length: 192.0.2.7, 192.0.2.0/24.

    Not by `ipaddress`: with it this was a quarter of what ingest does for a click.
    """
    bare, slash, prefix = text.partition("/")
    family, kind = (_FAMILY_6, socket.AF_INET6) if ":" in bare else (_FAMILY_4, socket.AF_INET)
    try:
        packed = socket.inet_pton(kind, bare)
    except OSError:
        raise ValueError(f"{text!r} is no address") from None
    length = int(prefix) if slash else 8 * len(packed)
    if length > 8 * len(packed):
        raise ValueError(f"{text!r} has too long a prefix")
    is_cidr = 0
    return bytes((family, length, is_cidr, len(packed))) + packed


def decode_address(value: bytes) -> str:
    address = ipaddress.ip_address(value[4:])
    prefix = value[1]
    return str(address) if prefix == address.max_prefixlen else f"{address}/{prefix}"


def decode_numeric(text: str) -> int | float:
    """What `sum` makes of bigint is a whole number, and is read as one."""
    return int(text) if text.lstrip("-").isdecimal() else float(text)


# Type, encoder, decoder and the driver's name for the format in which they exchange the value with it.
CODECS: tuple[
    tuple[str, Callable[[Any], Any], Callable[[Any], Any], Literal["tuple", "binary", "text"]], ...
] = (
    ("timestamptz", encode_moment, decode_moment, "tuple"),
    ("date", encode_day, decode_day, "tuple"),
    ("inet", encode_address, decode_address, "binary"),
    ("numeric", str, decode_numeric, "text"),
)
