"""All pages together, as Prometheus reads them."""

import math
import platform
from collections.abc import Iterable, Iterator

from prometheus_client import exposition
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.registry import Collector

from laconic import __version__
from laconic.web.metrics.board import INSTALLATION, MetricBoard
from laconic.web.metrics.catalog import BUILD, CATALOG, FAILURES, Labels, Metric

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class Exposition(Collector):
    def __init__(self, board: MetricBoard, region: str, engine: str) -> None:
        self._board = board
        self._region = (region,)
        self._build = (__version__, platform.python_version(), engine)

    def render(self, accept: str) -> tuple[bytes, str]:
        """The page and its content type: OpenMetrics for whoever asks for it, else Prometheus's text."""
        encode, content_type = exposition.choose_encoder(accept)
        return encode(self), content_type

    def collect(self) -> Iterator[Family]:
        for metric in CATALOG:
            family = _family(metric)
            for labels, numbers in self._series(metric):
                _add(family, metric, labels, numbers)
            yield family

    def _series(self, metric: Metric) -> Iterator[tuple[Labels, list[float]]]:
        """With the labels as they are shown."""
        if metric is BUILD:
            yield self._build, [1.0]
        for labels in metric.values:
            if metric.by_process:
                pages = [page for page in self._board if page.process != INSTALLATION]
                shown = [((page.process, *labels), [page.read(metric, labels)]) for page in pages]
            else:
                shown = [
                    (
                        self._region * metric.regional + labels,
                        [page.read(metric, labels) for page in self._board],
                    )
                ]
            for names, read in shown:
                numbers = _combined(metric, read)
                if numbers is not None and _is_shown(metric, labels, numbers):
                    yield names, numbers


def _combined(metric: Metric, pages: Iterable[list[float]]) -> list[float] | None:
    """None when no process knows it."""
    known = [numbers for numbers in pages if not math.isnan(numbers[0])]
    if not known:
        return None
    combine = max if metric.combine == "max" else math.fsum
    return [combine(column) for column in zip(*known, strict=True)]


def _is_shown(metric: Metric, labels: Labels, numbers: list[float]) -> bool:
    return not metric.sparse or numbers[0] > 0 or labels[-1] in FAILURES


def _family(metric: Metric) -> Family:
    kinds = {"counter": CounterMetricFamily, "gauge": GaugeMetricFamily, "histogram": HistogramMetricFamily}
    family: Family = kinds[metric.kind](metric.name, metric.meaning, labels=metric.shown_labels)
    return family


def _bound(seconds: float) -> str:
    return "+Inf" if math.isinf(seconds) else repr(seconds)


def _add(family: Family, metric: Metric, labels: Labels, numbers: list[float]) -> None:
    if not isinstance(family, HistogramMetricFamily):
        family.add_metric(labels, numbers[0])
        return
    *counts, total = numbers
    so_far, buckets = 0.0, []
    for bound, count in zip((*metric.bounds, math.inf), counts, strict=True):
        so_far += count
        buckets.append((_bound(bound), so_far))
    family.add_metric(labels, buckets, sum_value=total)
