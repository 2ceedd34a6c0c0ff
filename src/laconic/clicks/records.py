"""Clicks as they come out of a journal, many at a time and column by column.

For the process that ingests. An object for each click would cost more than all that is made of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import compress
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from laconic.clicks.click import HEAD, LENGTHS, LONGEST_RECORD, PREFIX, SHORTEST_RECORD, Click
from laconic.clicks.coded import Numbers

# As `click.BODY` has it.
_BODIES = np.dtype([("sequence", "<u8"), ("moment", "<i8"), ("link_id", "<i8")])


@dataclass(frozen=True, slots=True)
class Clicks:
    """In the order they were written. Each column has a value for every click."""

    sequences: NDArray[np.uint64]
    moments: Numbers
    link_ids: Numbers
    addresses: list[bytes]
    user_agents: list[bytes]
    referrers: list[bytes]
    languages: list[bytes]

    @classmethod
    def from_clicks(cls, clicks: Iterable[Click]) -> "Clicks":
        sequences, moments, link_ids, *visitors = zip(*clicks, strict=True)
        return cls(
            np.array(sequences, np.uint64),
            np.array(moments, np.int64),
            np.array(link_ids, np.int64),
            *map(list, visitors),
        )

    def __len__(self) -> int:
        return len(self.moments)

    def __add__(self, others: "Clicks") -> "Clicks":
        return Clicks(
            np.concatenate((self.sequences, others.sequences)),
            np.concatenate((self.moments, others.moments)),
            np.concatenate((self.link_ids, others.link_ids)),
            self.addresses + others.addresses,
            self.user_agents + others.user_agents,
            self.referrers + others.referrers,
            self.languages + others.languages,
        )

    def where(self, chosen: NDArray[np.bool_]) -> "Clicks":
        """Those that are chosen, in the same order; itself when all are."""
        if chosen.all():
            return self

        def some(column: list[bytes]) -> list[bytes]:
            return list(compress(column, chosen.tolist()))

        return Clicks(
            self.sequences[chosen],
            self.moments[chosen],
            self.link_ids[chosen],
            some(self.addresses),
            some(self.user_agents),
            some(self.referrers),
            some(self.languages),
        )


def read_clicks(data: bytes, most: int) -> tuple[Clicks, int]:
    """The clicks at the beginning, and the offset behind them; as far as there are whole, sound records."""
    bodies: list[bytes] = []
    addresses: list[bytes] = []
    user_agents: list[bytes] = []
    referrers: list[bytes] = []
    languages: list[bytes] = []
    unpack_prefix, unpack_lengths = PREFIX.unpack_from, LENGTHS.unpack_from
    offset, last = 0, len(data) - SHORTEST_RECORD
    while len(bodies) < most and offset <= last:
        length, checksum = unpack_prefix(data, offset)
        end = offset + length
        if not SHORTEST_RECORD <= length <= LONGEST_RECORD or end > len(data):
            break
        body = data[offset + PREFIX.size : offset + HEAD.size]
        visitor = data[offset + HEAD.size : end]
        if crc32(body, crc32(visitor)) != checksum:
            break
        of_address, of_agent, of_referrer, of_language = unpack_lengths(visitor)
        agent = LENGTHS.size + of_address
        referrer = agent + of_agent
        language = referrer + of_referrer
        bodies.append(body)
        addresses.append(visitor[LENGTHS.size : agent])
        user_agents.append(visitor[agent:referrer])
        referrers.append(visitor[referrer:language])
        languages.append(visitor[language : language + of_language])
        offset = end
    heads: NDArray[Any] = np.frombuffer(b"".join(bodies), _BODIES)
    # Copies, because numpy counts and compares numbers faster that lie side by side.
    sequences, moments, links = (
        np.ascontiguousarray(heads[name]) for name in ("sequence", "moment", "link_id")
    )
    return Clicks(sequences, moments, links, addresses, user_agents, referrers, languages), offset
