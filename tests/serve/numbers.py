"""What /metrics says, as numbers."""

from collections.abc import Iterator

import httpx
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tests.serve.running import PATIENCE_SECONDS, RunningServer


class Numbers:
    """One reading of the page."""

    def __init__(self, server: RunningServer) -> None:
        answer = httpx.get(server.url("/metrics"), timeout=PATIENCE_SECONDS)
        assert answer.status_code == 200, answer.text
        self.families = {
            family.name + "_total" * (family.type == "counter"): family
            for family in text_string_to_metric_families(answer.text)
        }

    def samples(self, name: str, **labels: str) -> Iterator[Sample]:
        for family in self.families.values():
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    yield sample

    def sum(self, name: str, **labels: str) -> float:
        return sum(sample.value for sample in self.samples(name, **labels))
