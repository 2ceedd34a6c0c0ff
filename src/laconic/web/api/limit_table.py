"""What each caller has used of a rate, in memory that the web workers of one machine share.

The supervisor makes the table before it forks. A caller is one number, the moment from which on the next request is
within the rate (the generic cell rate algorithm), at a place that the hash of its name gives. The table never grows:
where too many meet at one place, the one who has used least is forgotten, and so let through.
"""

import fcntl
import mmap
import os
import weakref

_BYTES = 8
# A place holds so many callers. 8 x 8,192 callers are 1 MiB, of which the kernel gives what is used.
_CALLERS = 8
_PLACES = 8_192
# Whoever has the lock keeps it for some microseconds. One that is stopped meanwhile must not stop the others: they go
# on without it, and at worst a request is not counted.
_ATTEMPTS = 50


class LimitTable:
    """Forked processes have the same table, and the same hash of a name."""

    def __init__(self) -> None:
        callers = _PLACES * _CALLERS
        memory = memoryview(mmap.mmap(-1, 2 * _BYTES * callers))
        self._names: memoryview[int] = memory[: _BYTES * callers].cast("q")
        self._dues: memoryview[float] = memory[_BYTES * callers :].cast("d")
        # A lock of the kernel's: it ends with the process that holds it, also by kill -9.
        self._file = os.memfd_create("laconic limits")
        weakref.finalize(self, os.close, self._file)

    def take(self, caller: int, moment: float, interval: float, tolerance: float) -> float:
        """Counts a request. How far ahead of its rate the caller is now, in seconds, or minus the wait if it must wait."""
        has_lock = self._lock()
        try:
            index, due = self._find(caller, moment)
            if due - moment > tolerance:
                return -(due - moment - tolerance)
            self._names[index] = caller
            self._dues[index] = due = due + interval
            return due - moment
        finally:
            if has_lock:
                fcntl.lockf(self._file, fcntl.LOCK_UN)

    def _find(self, caller: int, moment: float) -> tuple[int, float]:
        """The caller's own number, or one that is free or worth least."""
        first = caller % _PLACES * _CALLERS
        names = self._names[first : first + _CALLERS].tolist()
        if caller in names:
            index = first + names.index(caller)
            return index, max(self._dues[index], moment)
        dues = self._dues[first : first + _CALLERS].tolist()
        return first + dues.index(min(dues)), moment

    def _lock(self) -> bool:
        for _ in range(_ATTEMPTS):
            try:
                # A record lock belongs to a process; one by `flock` would be that of all who were forked.
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            return True
        return False
