"""Record ids: 63 bits, ordered by time, of which a stranger learns only the date.

A counting id tells every tenant how many links all the others make (P8). These carry the millisecond
of creation, which the record shows anyway, and 22 bits that start at a random place each millisecond.
Two processes may meet on the same id about once in a hundred seconds at 20,000 records a second: the
primary key is the referee, and whoever loses takes the next id.
"""

import secrets

# What a record's id is at most, on both engines.
LARGEST_ID = (1 << 63) - 1
_TAIL_BITS = 22
_TAIL_SIZE = 1 << _TAIL_BITS
# 2020-01-01: forty-one bits of milliseconds from here last until 2089.
_ID_EPOCH_MS = 1_577_836_800_000
# Beginnings that are drawn together: asking the kernel lets another thread have the interpreter, which is often dearer
# than all the rest of making an id.
_DRAWN = 1_024


def first_id(moment: int) -> int:
    """No record that was made at this moment or later has a smaller id."""
    return max(0, moment // 1000 - _ID_EPOCH_MS) << _TAIL_BITS


class IdSource:
    """Makes ids that grow within this process, also when the clock is set back. To be made after a fork, not before."""

    def __init__(self) -> None:
        self._millisecond = -1
        self._last = 0
        self._beginnings: list[int] = []

    def take(self, moment: int) -> int:
        """The next id, for a record that is made at this moment."""
        millisecond = moment // 1000 - _ID_EPOCH_MS
        if millisecond > self._millisecond:
            self._millisecond = millisecond
            if not self._beginnings:
                self._beginnings = memoryview(secrets.token_bytes(4 * _DRAWN)).cast("I").tolist()
            # The lower half of the tail, so that what follows in this millisecond stays inside it.
            self._last = (millisecond << _TAIL_BITS) + self._beginnings.pop() % (_TAIL_SIZE // 2)
        else:
            self._last += 1
        return self._last

    def take_many(self, moment: int, count: int) -> int:
        """The first of so many ids in a row."""
        first = self.take(moment)
        self._last += count - 1
        return first
