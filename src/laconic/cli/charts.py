"""A chart of columns, in characters."""

from collections.abc import Sequence

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 8


def column_chart(values: Sequence[int], width: int, height: int = _HEIGHT) -> list[str]:
    """Lines from top to bottom, each at most `width` characters; the highest column reaches the top.

    What is there is seen: a column that is not empty has at least an eighth of a character.
    """
    columns = _fitted(values, width)
    highest = max(columns, default=0)
    if highest == 0:
        return [" " * len(columns)] * height
    eighths = [-(-value * height * 8 // highest) for value in columns]
    thickness = 2 if len(columns) * 3 <= width else 1
    gap = " " if thickness == 2 else ""
    return [
        gap.join(_EIGHTHS[min(max(filled - row * 8, 0), 8)] * thickness for filled in eighths).rstrip()
        for row in reversed(range(height))
    ]


def _fitted(values: Sequence[int], width: int) -> list[int]:
    """Neighbours added up until all fit."""
    step = -(-len(values) // width) if values else 1
    return [sum(values[start : start + step]) for start in range(0, len(values), step)]
