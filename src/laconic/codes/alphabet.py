"""Numbers as codes: base 62, fixed length, digits first."""

ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE = len(ALPHABET)

_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_PAIR_BASE = BASE * BASE
_VALUES = {character: value for value, character in enumerate(ALPHABET)}


def encode(number: int, length: int) -> str:
    """The code of `length` characters that stands for `number`; two characters a step."""
    code = ""
    for _ in range(length // 2):
        number, pair = divmod(number, _PAIR_BASE)
        code = _PAIRS[pair] + code
    if length % 2:
        number, first = divmod(number, BASE)
        code = ALPHABET[first] + code
    if number:
        raise ValueError("the number does not fit into a code of this length")
    return code


def decode(code: str) -> int:
    """The number that `encode` made the code of."""
    number = 0
    for character in code:
        number = number * BASE + _VALUES[character]
    return number
