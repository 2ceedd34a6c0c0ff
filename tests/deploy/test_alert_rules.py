"""The alert rules and the dashboard parse, are whole, and speak of metrics that there are."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from laconic.web.metrics.catalog import CATALOG

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = DEPLOY / "prometheus" / "laconic.rules.yml"
TESTS = DEPLOY / "prometheus" / "laconic.rules.test.yml"
DASHBOARD = DEPLOY / "grafana" / "laconic.json"

SERIES = {
    metric.name + suffix: {*metric.shown_labels, *labels}
    for metric in CATALOG
    for suffix, labels in (
        [("_bucket", ["le"]), ("_count", []), ("_sum", [])] if metric.kind == "histogram" else [("", [])]
    )
}
# What Prometheus itself says of each target.
SERIES["up"] = set()
TARGET_LABELS = {"job", "instance"}
WORDS = frozenset(
    "sum min max by on and or rate increase delta histogram_quantile max_over_time label_values".split()
)


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load(RULES.read_text())
    assert set(document) == {"groups"}
    return [rule for group in document["groups"] for rule in group["rules"]]


def panels() -> Iterator[dict[str, Any]]:
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        if panel["type"] != "row":
            yield panel


def expressions() -> list[str]:
    """Every expression of both files."""
    dashboard = json.loads(DASHBOARD.read_text())
    return [
        *(rule["expr"] for rule in rules()),
        *(target["expr"] for panel in panels() for target in panel["targets"]),
        *(one["query"]["query"] for one in dashboard["templating"]["list"] if one["type"] == "query"),
    ]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule["alert"]))
def test_rule_is_whole(rule: dict[str, Any]) -> None:
    """Name, expression, time, severity, and words for whoever is woken by it."""
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"\d+[smh]", rule["for"])
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert {"summary", "description"} == set(rule["annotations"])


@pytest.mark.parametrize("expression", expressions())
def test_expression_speaks_of_what_there_is(expression: str) -> None:
    """Each name is a series of the page, each label one that the series has."""
    without_values = re.sub(r'"[^"]*"', '""', expression)
    plain = re.sub(r"\[(\d+[smhd]|\$__rate_interval)\]|\b\d[\d.e]*\b", "", without_values)
    names = set(re.findall(r"[a-zA-Z_]\w*", re.sub(r"\{[^}]*\}|\b(by|on) \([^)]*\)", "", plain))) - WORDS
    if expression.startswith("label_values"):
        names -= TARGET_LABELS
    assert names
    assert names <= SERIES.keys()
    labels = {
        label for part in re.findall(r"\{([^}]*)\}", plain) for label in re.findall(r"(\w+)\s*[=!]", part)
    }
    labels |= {
        label for part in re.findall(r"\b(?:by|on) \(([^)]*)\)", plain) for label in re.findall(r"\w+", part)
    }
    assert labels <= TARGET_LABELS.union(*(SERIES[name] for name in names))


def test_the_contract_has_its_alerts() -> None:
    """Each by its number."""
    by_name = {rule["alert"]: rule for rule in rules()}
    expected = {
        "KGSPoolLow": ("kgs_pool_size < 0.5 * kgs_pool_min_size", "5m"),
        "KGSPoolCritical": ("kgs_pool_size < 0.1 * kgs_pool_min_size", "1m"),
        "LaconicErrors": ("> 0.01 *", "5m"),
        "LaconicSlow": ("> 0.5", "5m"),
        "CodeConflicts": ("> 0.0001 *", "10m"),
        "LaconicDatabaseGrows": ("> 10e9", "1h"),
        "LaconicUnhealthy": ("max_over_time(laconic_healthy[1m])) == 0", "15s"),
        "LaconicIngestLate": ("> 60", "1m"),
        "LaconicCleanupFails": ('outcome="failed"', "5m"),
    }
    for name, (part, time) in expected.items():
        assert part in by_name[name]["expr"], name
        assert by_name[name]["for"] == time, name


def test_the_dashboard_can_be_loaded() -> None:
    """Its panels have numbers of their own, lie beside each other and not over each other, and ask something."""
    dashboard = json.loads(DASHBOARD.read_text())
    numbers = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert all(panel["targets"] for panel in panels())


def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("no promtool: tools/install_servers.sh installs it where it may")
    return found


def test_prometheus_accepts_the_rules() -> None:
    """Its own program reads the file."""
    checked = subprocess.run(
        [promtool(), "check", "rules", str(RULES)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_alerts_fire_when_they_should_and_not_before() -> None:
    """Series of numbers, and which alerts they raise: by Prometheus's own evaluation."""
    checked = subprocess.run(
        [promtool(), "test", "rules", str(TESTS)], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
