"""docs/metrics.md names every metric there is, with its type and labels, and none that is not."""

import re
from pathlib import Path

from laconic.web.metrics.catalog import CATALOG

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
ROW = re.compile(r"^\| `(\w+)` \| (\w+) \| ([\w, ]*?) ?\| (.+) \|$", re.MULTILINE)


def test_names_every_metric_and_no_other() -> None:
    """Whoever is woken by one finds it, with what its labels mean."""
    documented = {name: (kind, labels) for name, kind, labels, _ in ROW.findall(PAGE.read_text())}
    assert documented == {metric.name: (metric.kind, ", ".join(metric.shown_labels)) for metric in CATALOG}


def test_every_metric_has_a_meaning_of_its_own() -> None:
    """What Prometheus shows beside the name is a sentence."""
    meanings = [metric.meaning for metric in CATALOG]
    assert len(set(meanings)) == len(meanings)
    assert all(meaning.endswith(".") for meaning in meanings)
