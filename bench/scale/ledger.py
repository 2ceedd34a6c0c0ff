"""What the clients were told, by which all is judged in the end."""

import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that was not answered as it should: `status` is 0 when no answer came."""

    at: float
    kind: str
    status: int
    detail: str


@dataclass(slots=True)
class Edit:
    url: str
    is_answered: bool = False


@dataclass
class Ledger:
    # By code.
    followed: Counter[str] = field(default_factory=Counter)
    cut_off: Counter[str] = field(default_factory=Counter)
    edits: dict[str, list[Edit]] = field(default_factory=dict)
    # Code and URL, in the order of the answers.
    created: list[tuple[str, str]] = field(default_factory=list)
    # How often each kind of request was answered well, when that was last so, and the slowest of this phase.
    answered: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    # Moments of writes that were answered well.
    written_at: list[float] = field(default_factory=list)

    def well(self, kind: str, begun: float) -> None:
        moment = time.monotonic()
        self.answered[kind] += 1
        self.slowest[kind] = max(self.slowest.get(kind, 0.0), moment - begun)
        if kind != "follow":
            self.written_at.append(moment)

    def failed(self, kind: str, status: int, detail: str) -> None:
        self.failures.append(Failure(time.monotonic(), kind, status, detail))


@dataclass(frozen=True, slots=True)
class Phase:
    """What happened between two moments, for a line of the report."""

    name: str
    seconds: float
    answered: Counter[str]
    failures: list[Failure]
    slowest: dict[str, float]
    longest_without_write: float

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.answered.items()))
        failed = Counter(f"{failure.kind} {failure.status or 'cut off'}" for failure in self.failures)
        words = ", ".join(f"{count} {what}" for what, count in failed.items()) or "none"
        slow = ", ".join(f"{kind} {seconds:.2f} s" for kind, seconds in sorted(self.slowest.items()))
        return (
            f"{self.name}: {self.seconds:.1f} s; answered {counts}; failed: {words}; slowest: {slow};"
            f" longest time without a write answered: {self.longest_without_write:.2f} s"
        )


class Watch:
    """Cuts a ledger into phases."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._begin()

    def _begin(self) -> None:
        self._since = time.monotonic()
        self._answered = self._ledger.answered.copy()
        self._failures = len(self._ledger.failures)
        self._writes = len(self._ledger.written_at)
        self._ledger.slowest = {}

    def end_phase(self, name: str) -> Phase:
        until = time.monotonic()
        moments = [self._since, *self._ledger.written_at[self._writes :], until]
        phase = Phase(
            name,
            until - self._since,
            self._ledger.answered - self._answered,
            self._ledger.failures[self._failures :],
            dict(self._ledger.slowest),
            max(later - earlier for earlier, later in pairwise(moments)),
        )
        self._begin()
        return phase
