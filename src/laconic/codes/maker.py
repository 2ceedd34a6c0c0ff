"""From counters to codes, for one region and code length.

A region that shares its code length with others has a first character of its own and permutes what stands behind it;
so two regions never make the same code, on one database or on two.
"""

import hashlib
import secrets
from collections.abc import Sequence

from laconic.codes.alphabet import encode
from laconic.codes.many import encode_many, wanted_of
from laconic.codes.permutation import SECRET_BYTES, Permutation
from laconic.codes.unwanted import is_wanted

# How many are made without giving the loop to others: where redirects wait for it, and where nobody does. From the
# larger number on arrays pay; whoever makes fewer at a time never loads numpy.
FEW = 256
MANY = 1_024


class CodeMaker:
    def __init__(self, secret: bytes, length: int, *, region: str = "default", prefix: str = "") -> None:
        self.region = region
        self.prefix = prefix
        self.length = length
        self._tail = length - len(prefix)
        # Regions of one installation share the secret: without a key of its own, the same counter would show the
        # same tail in each of them.
        key = _key_of(secret, region) if prefix else secret
        self.permutation = Permutation(key, self._tail)
        self.size = self.permutation.size

    @property
    def job(self) -> str:
        """The lease under which one process keeps codes ready."""
        return f"codes {self.region}"

    def random_place(self) -> str:
        """Somewhere in the pool: takers do not meet there, and what they take tells nothing about its order."""
        return self.prefix + encode(secrets.randbelow(self.size), self._tail)

    def make(self, counters: Sequence[int]) -> list[str]:
        """The codes of these counters, in their order, without those that nobody wants."""
        if len(counters) < MANY:
            numbers = self.permutation.map(counters)
            codes = [self.prefix + encode(number, self._tail) for number in numbers]
            return [code for code in codes if is_wanted(code)]
        return wanted_of(encode_many(self.prefix, self._tail, *self.permutation.halves(counters)))


def _key_of(secret: bytes, region: str) -> bytes:
    return hashlib.blake2b(f"region {region}".encode(), key=secret, digest_size=SECRET_BYTES).digest()
