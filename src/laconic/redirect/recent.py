"""Which links have changed lately, in little memory: enough to tell that an entry of the shared tier is too old.

A shared entry lives for an hour at most. Whoever knows every change of the last hour can therefore tell a stale one
for certain, whatever has befallen the shared store: a lost write, a write that came late, a store that was stopped.
"""

from array import array
from collections.abc import Callable

from laconic import clock

# Two tables of four bytes each: 8 MiB. A hundred thousand changes an hour make one look-up in ten needless.
_SLOTS = 1 << 20
_MASK = _SLOTS - 1
_MOST = (1 << 32) - 1


class RecentChanges:
    """The highest version told for each slot of a hash table. Two links may share a slot: then one is asked for
    in vain, and nothing worse. What is told is known for at least `seconds`."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        self._new = array("I", bytes(4 * _SLOTS))
        self._old = array("I", bytes(4 * _SLOTS))
        self._turn_at = monotonic() + seconds

    def note(self, key: bytes, version: int) -> None:
        self._turn()
        slot = hash(key) & _MASK
        if self._new[slot] < version:
            self._new[slot] = min(version, _MOST)

    def floor(self, key: bytes) -> int:
        """Nothing older than this version may be believed."""
        self._turn()
        slot = hash(key) & _MASK
        return max(self._new[slot], self._old[slot])

    def _turn(self) -> None:
        moment = self._monotonic()
        if moment < self._turn_at:
            return
        # Idle for two turns or more: what the newer table holds has served its time as well.
        is_stale = moment >= self._turn_at + self._seconds
        self._old = array("I", bytes(4 * _SLOTS)) if is_stale else self._new
        self._new = array("I", bytes(4 * _SLOTS))
        self._turn_at = moment + self._seconds
