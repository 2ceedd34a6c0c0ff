"""Codes by the thousand: written and judged as rows of characters in an array.

One at a time, writing a code and finding out that it is wanted takes longer than making its number.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

from laconic.codes.alphabet import ALPHABET, BASE
from laconic.codes.rules import RESERVED_WORDS
from laconic.codes.unwanted import AS_LETTERS, BEGINNINGS, LOOK_ALIKES, is_wanted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # A row for each code, a column for each character.
    Characters = NDArray[np.uint8]
    Numbers = NDArray[np.uint64]

# How characters read, six bits each: what a code cannot hold is the last.
_READ = ALPHABET[:10] + ALPHABET[36:] + "-_"
_KINDS = 64


def encode_many(prefix: str, tail: int, highs: "Numbers", lows: "Numbers") -> "Characters":
    """The codes of these halves, each with the prefix and `tail` characters behind it."""
    import numpy as np

    digits = np.empty((len(lows), tail), np.uint8)
    for half, first, last in ((lows, tail - tail // 2, tail), (highs, 0, tail - tail // 2)):
        rest = half
        for place in range(last - 1, first - 1, -1):
            rest, digits[:, place] = np.divmod(rest, np.uint64(BASE))
    letters = np.frombuffer(ALPHABET.encode(), np.uint8)
    beginning = np.frombuffer(prefix.encode(), np.uint8)
    return np.hstack([np.broadcast_to(beginning, (len(lows), len(prefix))), letters[digits]])


def wanted_of(characters: "Characters") -> list[str]:
    """Those that `is_wanted` lets pass, in their order. Few look suspicious; only these are asked about."""
    count, length = characters.shape
    text = characters.tobytes().decode("ascii")
    codes = [text[start : start + length] for start in range(0, count * length, length)]
    suspicious = _suspicious(characters).nonzero()[0].tolist()
    unwanted = {place for place in suspicious if not is_wanted(codes[place])}
    return [code for place, code in enumerate(codes) if place not in unwanted] if unwanted else codes


def _suspicious(characters: "Characters") -> Any:
    """A bit for each row: whatever is unwanted has it set, and some others as well."""
    length = characters.shape[1]
    found = _mixes(characters)
    for letters in _alphabets():
        plain = letters[characters]
        triples = (plain[:, :-2] * _KINDS + plain[:, 1:-1]) * _KINDS + plain[:, 2:]
        found |= _beginnings()[triples].any(axis=1)
        found |= _reserved_beginnings(length)[triples[:, 0]]
    return found


def _mixes(characters: "Characters") -> Any:
    """Two of a kind that look alike."""
    import numpy as np

    found = np.zeros(len(characters), bool)
    for kinds in LOOK_ALIKES:
        found |= sum((characters == ord(one)).any(axis=1).astype(np.uint8) for one in kinds) > 1
    return found


@cache
def _alphabets() -> tuple[Any, Any]:
    """From a character to how it reads: in lower case, and with digits taken for letters."""
    import numpy as np

    lower = [chr(code).lower() for code in range(128)]
    read = [character.translate(AS_LETTERS) for character in lower]
    return np.array([*map(_kind, lower)], np.uint32), np.array([*map(_kind, read)], np.uint32)


def _kind(character: str) -> int:
    return _READ.find(character) % _KINDS


@cache
def _beginnings() -> Any:
    return _set_of(BEGINNINGS)


@cache
def _reserved_beginnings(length: int) -> Any:
    return _set_of({word[:3] for word in RESERVED_WORDS if len(word) == length >= 3})


def _set_of(triples: set[str] | frozenset[str]) -> Any:
    """As an array, so that all rows can be looked up at once."""
    import numpy as np

    bits = np.zeros(_KINDS**3, bool)
    for triple in triples:
        first, second, third = map(_kind, triple)
        bits[(first * _KINDS + second) * _KINDS + third] = True
    return bits
