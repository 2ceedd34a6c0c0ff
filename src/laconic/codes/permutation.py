"""A keyed bijection on 0 .. 62^length - 1: counter in, code number out.

Unique by construction, so there is no set of used codes to search; without the secret the next code cannot
be told from the last ones. A Feistel network over two halves of base-62 digits, alternately added to modulo
62^half with AES as the round function, ten rounds (the shape of NIST SP 800-38G, FF1). Every number is hit at the
first try, so no cycle walking is needed.

Counters go through it many at a time: one call enciphers a round of all of them, and arrays do the sums, which
makes a number in 0.3 us where a keyed hash for each round of each code takes 6 (measured, 1,024 at a time). A few
hundred go without numpy, at 1.5 us each: a web worker, which never needs more, does without its 13 MiB.
"""

from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB

from laconic.codes.alphabet import BASE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

SECRET_BYTES = 32
_ROUNDS = 10
_BLOCK_BYTES = 16


class Permutation:
    """One bijection for each secret and code length."""

    def __init__(self, secret: bytes, length: int) -> None:
        if len(secret) != SECRET_BYTES:
            raise ValueError(f"the secret has {SECRET_BYTES} bytes")
        self.length = length
        self.size = BASE**length
        self._low: int = BASE ** (length // 2)
        self._high: int = BASE ** (length - length // 2)
        # Each block is enciphered for itself and never twice with the same meaning: AES as a function, not as
        # a way to hide a message, for which this mode would be wrong.
        self._encipher = Cipher(AES(secret), ECB()).encryptor().update  # noqa: S305

    def __call__(self, counter: int) -> int:
        return self.map([counter])[0]

    def map(self, counters: Iterable[int]) -> list[int]:
        """The numbers of these counters, in their order."""
        listed = self._checked(counters)
        highs = [counter // self._low for counter in listed]
        lows = [counter % self._low for counter in listed]
        for number in range(0, _ROUNDS, 2):
            mixed = self._mix_few(highs, number)
            lows = [(half + other) % self._low for half, other in zip(lows, mixed, strict=True)]
            mixed = self._mix_few(lows, number + 1)
            highs = [(half + other) % self._high for half, other in zip(highs, mixed, strict=True)]
        return [high * self._low + low for high, low in zip(highs, lows, strict=True)]

    def halves(self, counters: Iterable[int]) -> tuple["Numbers", "Numbers"]:
        """The same as two rows: what stands before and behind the middle of each code. For many of them."""
        # Here, because the command line and web workers load this room too and do without it.
        import numpy as np

        highs, lows = np.divmod(np.array(self._checked(counters), np.uint64), np.uint64(self._low))
        for number in range(0, _ROUNDS, 2):
            lows = (lows + self._mix(highs, number) % self._low) % self._low
            highs = (highs + self._mix(lows, number + 1) % self._high) % self._high
        return highs, lows

    def invert(self, number: int) -> int:
        """The counter that led to `number`: for audits and tests."""
        high, low = divmod(number, self._low)
        for index in range(_ROUNDS - 2, -1, -2):
            high = (high - self._mix_few([low], index + 1)[0]) % self._high
            low = (low - self._mix_few([high], index)[0]) % self._low
        return high * self._low + low

    def _mix_few(self, halves: Sequence[int], number: int) -> "array[int]":
        """A random-looking number for each half; another one in each round and for each code length."""
        blocks = array("Q", [self.length << 8 | number]) * (2 * len(halves))
        blocks[0::2] = array("Q", halves)
        return array("Q", self._encipher(blocks.tobytes()))[0::2]

    def _mix(self, halves: "Numbers", number: int) -> "Numbers":
        """The same with arrays."""
        import numpy as np

        blocks = np.empty((len(halves), _BLOCK_BYTES // 8), np.uint64)
        blocks[:, 0] = halves
        blocks[:, 1] = self.length << 8 | number
        return np.frombuffer(self._encipher(blocks.tobytes()), np.uint64)[0::2]

    def _checked(self, counters: Iterable[int]) -> range | list[int]:
        listed = counters if isinstance(counters, range) else list(counters)
        if listed and not (min(listed) >= 0 and max(listed) < self.size):
            raise ValueError("the counter is outside the permutation")
        return listed
