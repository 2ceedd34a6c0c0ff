"""Telling visitors of one day apart without knowing who they are.

A keyed hash of address and user agent. Its key, the salt, is another one each UTC day and is deleted when the day's
clicks are in: after that nobody can tell whose hash it was, nor that two days' hashes are one visitor's.
"""

from collections.abc import Callable, Iterable
from hashlib import blake2b

_HASH_BYTES = 8
# Today's and, for clicks that were still in the journal, yesterday's: what is older is asked for again.
_MOST_SALTS = 2


class VisitorHashes:
    def __init__(self, salt_of_day: Callable[[int], bytes]) -> None:
        """`salt_of_day` gives the salt (1 to 64 bytes) of a UTC day, as days since 1970."""
        self._salt_of_day = salt_of_day
        self._salts: dict[int, bytes] = {}

    def of(self, day: int, address: bytes, user_agent: bytes) -> bytes:
        """Eight bytes, the same for the same visitor on the same day, about 1 us."""
        salt = self._salts.get(day) or self._learn(day)
        # Neither an address nor a header value can hold a zero byte: no two visitors make one text.
        return blake2b(address + b"\0" + user_agent, digest_size=_HASH_BYTES, key=salt).digest()

    def of_day(self, day: int, addresses: Iterable[bytes], user_agents: Iterable[bytes]) -> list[bytes]:
        """The same for a whole column."""
        salt = self._salts.get(day) or self._learn(day)
        return [
            blake2b(address + b"\0" + agent, digest_size=_HASH_BYTES, key=salt).digest()
            for address, agent in zip(addresses, user_agents, strict=True)
        ]

    def _learn(self, day: int) -> bytes:
        salt = self._salt_of_day(day)
        if not salt:
            raise ValueError(
                f"the salt of day {day} is empty: without one, hashes could be computed backwards"
            )
        if len(self._salts) >= _MOST_SALTS:
            self._salts.clear()
        self._salts[day] = salt
        return salt
