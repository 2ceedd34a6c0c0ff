"""Numbers that the processes of one machine share, for whichever of them is asked for all.

They lie in memory that the supervisor makes before it forks. Each process has a page of its own and is its only
writer, so nobody needs a lock. A process that is started again goes on where its predecessor stopped: counters never go
back. Gauges are wiped when their process ends.
"""

import math
import mmap
from collections.abc import Iterator, Sequence

from laconic.web.metrics.catalog import CATALOG, Labels, Metric

_BYTES = 8
INSTALLATION = "installation"


def _lay_out() -> tuple[dict[tuple[Metric, Labels], int], int]:
    places, offset = {}, 0
    for metric in CATALOG:
        for labels in metric.values:
            places[metric, labels] = offset
            offset += metric.width
    return places, offset


_PLACES, _NUMBERS = _lay_out()
_GAUGES = [place for (metric, _), place in _PLACES.items() if metric.kind == "gauge"]


class Page:
    """What one process tells. Counters are given as counted since this process started."""

    def __init__(self, process: str, numbers: "memoryview[float]") -> None:
        self.process = process
        self._numbers = numbers
        self._before: list[float] = [0.0] * _NUMBERS

    def go_on(self) -> None:
        """Called once by the process that writes from now on."""
        self._before = list(self._numbers)

    def count(self, metric: Metric, value: float, *labels: str) -> None:
        place = _PLACES[metric, labels]
        self._numbers[place] = self._before[place] + value

    def add(self, metric: Metric, *labels: str) -> None:
        self._numbers[_PLACES[metric, labels]] += 1

    def raise_to(self, metric: Metric, value: float, *labels: str) -> None:
        """A counter that somebody else keeps: an older reading of it does not count."""
        place = _PLACES[metric, labels]
        self._numbers[place] = max(self._numbers[place], value)

    def spread(self, metric: Metric, counts: Sequence[int], total: float, *labels: str) -> None:
        """`counts` has one for each bound and one beyond."""
        place = _PLACES[metric, labels]
        for index, number in enumerate((*counts, total), start=place):
            self._numbers[index] = self._before[index] + number

    def gauge(self, metric: Metric, value: float, *labels: str) -> None:
        self._numbers[_PLACES[metric, labels]] = value

    def wipe_gauges(self) -> None:
        for place in _GAUGES:
            self._numbers[place] = math.nan

    def read(self, metric: Metric, labels: Labels = ()) -> list[float]:
        place = _PLACES[metric, labels]
        return list(self._numbers[place : place + metric.width])


class MetricBoard:
    def __init__(self, processes: Sequence[str] = ("web 1",)) -> None:
        names = (*processes, INSTALLATION)
        self._memory = mmap.mmap(-1, _BYTES * _NUMBERS * len(names))
        numbers: memoryview[float] = memoryview(self._memory).cast("d")
        self._pages = {
            name: Page(name, numbers[index * _NUMBERS : (index + 1) * _NUMBERS])
            for index, name in enumerate(names)
        }
        for page in self:
            page.wipe_gauges()

    def page(self, process: str) -> Page:
        return self._pages[process]

    def __iter__(self) -> Iterator[Page]:
        return iter(self._pages.values())
