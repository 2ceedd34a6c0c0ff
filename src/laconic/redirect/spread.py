"""How long things took, as counts by size: what a histogram of a metrics page is made of."""

from bisect import bisect_left
from dataclasses import dataclass, field

# Upper bounds, in seconds. The last count is of what took longer than all of them.
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class Spread:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0
    most: float = 0.0

    def observe(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds
        self.most = max(self.most, seconds)

    @property
    def count(self) -> int:
        return sum(self.counts)
