"""docs/benchmarks.json: the figures that the pages are made of, each scenario with its machine, date and command.

A run of some scenarios replaces these and keeps the others.
"""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.processes import ROOT
from bench.report import Report

FILE = ROOT / "docs" / "benchmarks.json"

Scenarios = dict[str, dict[str, Any]]


def read(file: Path = FILE) -> Scenarios:
    """By the scenario's name."""
    return {one["scenario"]: one for one in json.loads(file.read_text())} if file.exists() else {}


def keep(report: Report, machine: dict[str, Any], command: str, seconds: float, file: Path = FILE) -> None:
    scenarios = read(file)
    scenarios[report.scenario] = {
        **report.as_json(),
        "machine": machine,
        "date": datetime.now(UTC).date().isoformat(),
        "command": command,
        "took_seconds": round(seconds),
    }
    text = json.dumps(list(scenarios.values()), indent=1, ensure_ascii=False)
    file.write_text(text + "\n")


def put_between_marks(page: Path, text: str) -> None:
    """Replaces what the last run wrote; what people wrote around it stays."""
    whole = page.read_text()
    before, begin, rest = whole.partition("<!-- begin: ")
    label, arrow, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not (begin and arrow and end):
        raise RuntimeError(f"{page} has no place for the figures.")
    page.write_text(f"{before}{begin}{label}{arrow}\n{text.strip()}\n\n{end}{after}")
