"""The alert rules parse, are whole, and speak of metrics that there are."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

RULES = Path(__file__).parents[2] / "deploy" / "prometheus" / "laconic.rules.yml"
# By their names in the contract; what shows them is the /metrics page.
METRICS = {
    "kgs_pool_size",
    "kgs_pool_min_size",
    "kgs_pool_exhaustion_risk",
    "kgs_allocation_rate_total",
    "kgs_generation_rate_total",
    "code_conflicts_total",
}
WORDS = {"sum", "by", "rate", "and", "on", "region"}


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load(RULES.read_text())
    assert set(document) == {"groups"}
    return [rule for group in document["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule["alert"]))
def test_rule_is_whole(rule: dict[str, Any]) -> None:
    """Name, expression, time, severity, and words for whoever is woken by it."""
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert re.fullmatch(r"\d+[smh]", rule["for"])
    assert rule["labels"]["severity"] in ("warning", "critical")
    assert {"summary", "description"} == set(rule["annotations"])


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule["alert"]))
def test_expression_can_be_one(rule: dict[str, Any]) -> None:
    """Known metrics and words only, brackets in pairs, a comparison in it."""
    expression = rule["expr"]
    plain = re.sub(r"\[\d+[smh]\]", "", expression)
    names = set(re.findall(r"[a-z_]{2,}", plain))
    assert names <= METRICS | WORDS
    assert names & METRICS
    assert re.search(r"[<>]|==", expression)
    depth = 0
    for character in plain:
        depth += {"(": 1, ")": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_the_contract_has_its_alerts() -> None:
    """Below half of the pool for five minutes, below a tenth for one."""
    by_name = {rule["alert"]: rule for rule in rules()}
    assert (by_name["KGSPoolLow"]["expr"], by_name["KGSPoolLow"]["for"]) == (
        "kgs_pool_size < 0.5 * kgs_pool_min_size",
        "5m",
    )
    assert (by_name["KGSPoolCritical"]["expr"], by_name["KGSPoolCritical"]["for"]) == (
        "kgs_pool_size < 0.1 * kgs_pool_min_size",
        "1m",
    )
