"""docs/benchmarks.json: the figures that the pages are made of, each scenario with its machine, date and command.

A run of some scenarios replaces these and keeps the others. Runs that are no part of every day, of another engine or of
sizes that take hours, have a label: they stand beside the usual ones, and only their like replaces them.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.processes import ROOT
from bench.report import Report, number

FILE = ROOT / "docs" / "benchmarks.json"

Scenarios = dict[str, dict[str, Any]]


def read(file: Path = FILE) -> Scenarios:
    """By the scenario's name, and its label."""
    if not file.exists():
        return {}
    return {name(one["scenario"], one.get("label", "")): one for one in json.loads(file.read_text())}


def name(scenario: str, label: str) -> str:
    return f"{scenario}, {label}" if label else scenario


def keep(
    report: Report,
    machine: dict[str, Any],
    command: str,
    seconds: float,
    label: str = "",
    file: Path = FILE,
) -> None:
    scenarios = read(file)
    scenarios[name(report.scenario, label)] = {
        **report.as_json(),
        "label": label,
        "machine": machine,
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "took_seconds": round(seconds),
    }
    text = json.dumps(list(scenarios.values()), indent=1, ensure_ascii=False)
    file.write_text(text + "\n")


def median_of(figure: dict[str, Any]) -> str:
    """With its unit."""
    return f"{number(figure['median'])} {figure['unit']}".strip()


def put_between_marks(page: Path, text: str) -> None:
    """Replaces what the last run wrote; what people wrote around it stays."""
    whole = page.read_text()
    before, begin, rest = whole.partition("<!-- begin: ")
    label, arrow, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not (begin and arrow and end):
        raise RuntimeError(f"{page} has no place for the figures.")
    page.write_text(f"{before}{begin}{label}{arrow}\n{text.strip()}\n\n{end}{after}")
