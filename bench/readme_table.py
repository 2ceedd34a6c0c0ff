"""Writes the few figures of docs/benchmarks.json that say most into README.md."""

import re
from pathlib import Path

from bench import published
from bench.processes import ROOT
from bench.published import Scenarios, median_of

PAGE = ROOT / "README.md"
_FIGURE = re.compile(r"\{([^|}]+)\|([^}]+)\}")
_PER_CPU = "requests per CPU-second, processes that answer"
# What, Laconic, beside it, ratio; {scenario|figure} stands for its median.
ROWS = (
    (
        "cached redirect, click journaled, requests per CPU-second",
        f"{{hit|bare headers, laconic: {_PER_CPU}}}",
        f"nginx, static `return 302`: {{hit|bare headers, nginx: {_PER_CPU}}}",
        "{hit|bare headers, ratio: web worker, click journaled}",
    ),
    (
        "the same with a browser's twelve headers",
        f"{{hit|browser's headers, laconic: {_PER_CPU}}}",
        f"nginx: {{hit|browser's headers, nginx: {_PER_CPU}}}",
        "{hit|browser's headers, ratio: web worker, click journaled}",
    ),
    (
        "redirects until every click is written, databases included, per CPU-second",
        "{pipeline|laconic: requests per CPU-second, all processes}",
        "the textbook design (FastAPI, PostgreSQL, Redis): {pipeline|textbook: requests per CPU-second, all processes}",
        "{pipeline|ratio: requests per CPU-second, all processes and databases, every click written}",
    ),
    (
        "clicks lost by `kill -9` of everything under load",
        "{killed|laconic: lost}",
        "the textbook design: {killed|textbook: lost}",
        "",
    ),
    (
        "redirect with the cache off, SQLite, per CPU-second",
        f"{{cold|laconic: {_PER_CPU}}}",
        f"a bare FastAPI route: {{cold|bare FastAPI: {_PER_CPU}}}",
        "{cold|ratio to the bare route: web worker, click journaled}",
    ),
    (
        "single creates, 64 connections, each durable",
        "{create|creates/s} a second, p99 {create|p99}",
        "the textbook design: {create|textbook: creates/s} a second, p99 {create|textbook: p99}",
        "{create|ratio to the textbook: creates per CPU-second, all processes and databases} per CPU-second",
    ),
    ("bulk import, each link durable", "{bulk|links/s} links a second", "", ""),
    (
        "clicks from the journal into SQLite, per CPU-second of all processes",
        "{ingest|clicks per CPU-second, all processes}",
        "",
        "",
    ),
    (
        "look-up of a code among 100 million, CPU",
        "{lookups, 100 million links|look-up, CPU, 100,000,000 links}",
        "itself among 1 million: {lookups, 100 million links|look-up, CPU, 1,000,000 links}",
        "{lookups, 100 million links|look-up, CPU, ratio of 100,000,000 to 1,000,000 links}",
    ),
    (
        "report of a workspace after 100 million clicks",
        "{analytics, 100 million clicks|workspace, 100,000,000 clicks}",
        "itself after 10 thousand: {analytics, 100 million clicks|workspace, 10,000 clicks}",
        "{analytics, 100 million clicks|workspace, ratio of 100,000,000 to 10,000 clicks}",
    ),
    ("memory of a worker at rest", "{memory|fresh database, at rest: worker's RSS}", "", ""),
    ("second start, to the first redirect", "{start|second start}", "", ""),
    (
        "p99 of redirects during an import, lists and password hashes",
        "{quiet|busy: p99}",
        "itself alone: {quiet|quiet: p99}",
        "{quiet|ratio: p99 busy to quiet}",
    ),
)


def write(page: Path = PAGE, file: Path = published.FILE) -> None:
    published.put_between_marks(page, table(published.read(file)))


def table(scenarios: Scenarios) -> str:
    """A row for which a figure is missing is left out."""
    lines = ["| what | Laconic | beside it | ratio |", "| -- | -- | -- | -- |"]
    for row in ROWS:
        try:
            lines.append("| " + " | ".join(_filled(cell, scenarios) for cell in row) + " |")
        except KeyError:
            continue
    return "\n".join(lines)


def _filled(cell: str, scenarios: Scenarios) -> str:
    return _FIGURE.sub(lambda found: _value(scenarios, found[1], found[2]), cell)


def _value(scenarios: Scenarios, scenario: str, name: str) -> str:
    figures = {figure["name"]: figure for figure in scenarios[scenario]["figures"]}
    return median_of(figures[name])
