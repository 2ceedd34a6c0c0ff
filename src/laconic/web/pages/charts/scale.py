"""From numbers to places and shades. All in whole numbers as long as it goes: no click count is too large."""

from collections.abc import Iterator, Sequence
from itertools import count
from math import isqrt
from typing import Final

SHADES: Final = 5
_UNITS: Final = ("", "k", "M", "G", "T")


def ticks(most: int, wanted: int = 4) -> list[int]:
    """Round numbers from 0 up to at least `most`, about as many as wanted; never a part of a click."""
    least_step = max(-(-most // wanted), 1)
    step = next(step for step in _round_numbers() if step >= least_step)
    last = max(-(-most // step), 1)
    return [step * place for place in range(last + 1)]


def _round_numbers() -> Iterator[int]:
    return (digit * 10**power for power in count() for digit in (1, 2, 5))


def shades(values: Sequence[int]) -> list[int]:
    """For each value 0, where nothing is, or 1 to SHADES.

    By the square root: beside one strong country or hour the others are still told apart.
    """
    most = max(values, default=0)
    return [_shade(value, most) for value in values]


def _shade(value: int, most: int) -> int:
    if value <= 0:
        return 0
    return max(isqrt(value * SHADES * SHADES // most), 1)


def percent(part: int, whole: int) -> float:
    """0 to 100, with one decimal."""
    return min(max(part, 0), whole) * 1000 // whole / 10 if whole > 0 else 0.0


def compact(number: int) -> str:
    """1.2k, 35k, 4M: as short as an axis needs it."""
    value, unit = number, 0
    rest = 0
    while abs(value) >= 1000 and unit < len(_UNITS) - 1:
        value, rest = divmod(value, 1000)
        unit += 1
    tenth = rest // 100 if unit and value < 10 else 0
    return f"{value:,}{f'.{tenth}' if tenth else ''}{_UNITS[unit]}"
