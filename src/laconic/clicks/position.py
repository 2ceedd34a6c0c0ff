"""How far a journal has been applied; apart from reading it, which takes numpy, for processes that only keep the place."""

from typing import NamedTuple


class Position(NamedTuple):
    """Everything before this place of a journal has been applied."""

    segment: int
    offset: int
    sequence: int


BEGINNING = Position(0, 0, 0)
