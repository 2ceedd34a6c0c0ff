"""Numbers about clicks that the processes of one machine show each other.

They lie in memory that is shared, not in a file: the disk may be the very thing that fails. Each number has one
writer, so nobody needs a lock. A process that is started again goes on where its predecessor stopped.
"""

import mmap
from dataclasses import astuple, dataclass, fields

from laconic import clock
from laconic.clock import SECOND

_BYTES = 8
# Ingest looks at the journals five times a second: one that has not for so long is stuck or dead.
_SILENCE = 2 * SECOND


@dataclass(slots=True)
class IngestNumbers:
    """What ingest tells."""

    # When it last looked at all journals; 0: never.
    looked_at: int = 0
    # The moment of the oldest click that it has seen and not applied; 0: it has applied all.
    oldest: int = 0
    applied: int = 0
    journal_bytes: int = 0
    # Bytes of damaged records that were passed over.
    skipped_bytes: int = 0
    # Clicks of links that the database does not know, as after a restore.
    unknown_links: int = 0
    # Clicks whose time lay ahead of the clock.
    clamped: int = 0
    # Files of another release's format, kept and left alone.
    foreign_segments: int = 0


_INGEST = len(fields(IngestNumbers))
_PER_WORKER = 2


class Board:
    def __init__(self, workers: int = 1) -> None:
        self._workers = workers
        self._memory = mmap.mmap(-1, _BYTES * (_INGEST + _PER_WORKER * workers))
        self._numbers = memoryview(self._memory).cast("q")

    # What web workers tell.

    def add_missed(self, worker: int, count: int) -> None:
        """So many more redirects were answered whose clicks could not be journaled."""
        place = _INGEST + _PER_WORKER * worker
        self._numbers[place] += count
        self._numbers[place + 1] = clock.now()

    @property
    def missed(self) -> int:
        return sum(self._numbers[_INGEST::_PER_WORKER])

    @property
    def last_missed_at(self) -> int:
        """0: never."""
        return max(self._numbers[_INGEST + 1 :: _PER_WORKER])

    # What ingest tells.

    @property
    def ingest(self) -> IngestNumbers:
        return IngestNumbers(*self._numbers[:_INGEST])

    @ingest.setter
    def ingest(self, numbers: IngestNumbers) -> None:
        for place, number in enumerate(astuple(numbers)):
            self._numbers[place] = number

    @property
    def lag_seconds(self) -> float:
        """How old the oldest click may be that is in no report yet; 0 when all are."""
        numbers = self.ingest
        moment = clock.now()
        if numbers.oldest:
            return max(0.0, (moment - numbers.oldest) / SECOND)
        silence = moment - numbers.looked_at
        return silence / SECOND if numbers.looked_at and silence > _SILENCE else 0.0


class WorkerBoard:
    """The board as one web worker writes to it."""

    def __init__(self, board: Board, worker: int) -> None:
        self.board = board
        self._worker = worker
        self._told = 0

    def tell_missed(self, missed: int) -> None:
        """`missed` since this process started."""
        if missed > self._told:
            self.board.add_missed(self._worker, missed - self._told)
            self._told = missed
