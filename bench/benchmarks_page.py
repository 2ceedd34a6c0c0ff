"""Writes the figures of docs/benchmarks.json into docs/benchmarks.md."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import published
from bench.processes import ROOT
from bench.published import Scenarios, median_of
from bench.report import number

PAGE = ROOT / "docs" / "benchmarks.md"
# What CONTRACT asks to be printed beside ours: name, what is wanted, scenario, the figure up to its percentile.
_LATENCIES = (
    ("redirect, 64 connections at the limit", "< 100 ms", "hit", "browser's headers, laconic: "),
    ("redirect of one hot link, 64 connections", "< 100 ms", "hot", "one link: "),
    ("redirect without a cache, 64 connections", "< 100 ms", "cold", "laconic: "),
    ("look-up in the database, the largest size", "< 10 ms", "lookups", "look-up, "),
    ("create, one client, over HTTP", "1 to 2 ms, p99 < 5 ms in the service", "create", "one client: "),
    ("`POST /shorten`, one client, over HTTP", "< 100 ms", "create", "shorten, one client: "),
    ("create, 64 connections at the limit", "", "create", ""),
    ("95 % redirects, 5 % creates, at the limit", "< 100 ms", "mix", "laconic: "),
)


def write(page: Path = PAGE, file: Path = published.FILE) -> None:
    scenarios = published.read(file)
    parts = ["### Goals", _goals(scenarios), "### Latencies", _latencies(scenarios)]
    for one in scenarios.values():
        parts += [f"### {_name(one)}", _head(one), _figures(one), _notes(one)]
    published.put_between_marks(page, "\n\n".join(part for part in parts if part))


def _goals(scenarios: Scenarios) -> str:
    """Every figure that has a mark, those that count wrong answers in one row together."""
    rows, wrong = [], 0
    for one in scenarios.values():
        for figure in one["figures"]:
            target = figure["target"]
            if target is None:
                continue
            if target["bound"] == 0:
                wrong += figure["median"] > 0
                if figure["median"] == 0:
                    continue
            rows.append(
                (
                    _name(one),
                    figure["name"],
                    median_of(figure),
                    _spread(figure),
                    _wanted(target),
                    _reached(figure),
                )
            )
    rows.append(("all", "kinds of wrong or lost answers", number(wrong), "", "0", "no" if wrong else "yes"))
    return _table(("scenario", "figure", "median", "lowest … highest", "wanted", "reached"), rows)


def _name(one: dict[str, Any]) -> str:
    return published.name(f"`{one['scenario']}`", one.get("label", ""))


def _wanted(target: dict[str, Any]) -> str:
    said = f"{'≥' if target['is_floor'] else '≤'} {number(target['bound'])}"
    return said if target["goal"] is None else f"{said}, goal {number(target['goal'])}"


def _reached(figure: dict[str, Any]) -> str:
    target, value = figure["target"], figure["median"]
    missed = _missed(value, target["bound"], target["is_floor"])
    if missed:
        return missed
    beyond = target["goal"] is not None and _missed(value, target["goal"], target["is_floor"])
    return f"yes; goal {beyond}" if beyond else "yes"


def _missed(value: float, bound: float, is_floor: bool) -> str:
    short = bound - value if is_floor else value - bound
    if short <= 0:
        return ""
    return f"**missed by {100 * short / bound:.0f} %**" if bound else f"**{number(value)}, not 0**"


def _latencies(scenarios: Scenarios) -> str:
    rows = []
    for name, wanted, scenario, prefix in _LATENCIES:
        shares = [_percentile(scenarios.get(scenario), prefix, share) for share in ("p50", "p95", "p99")]
        if all(shares):
            rows.append((name, wanted, *shares))
    return _table(("what", "wanted", "p50", "p95", "p99"), rows)


def _percentile(scenario: dict[str, Any] | None, prefix: str, share: str) -> str:
    """The last that fits: sizes grow down the list."""
    found = [
        figure
        for figure in (scenario or {"figures": []})["figures"]
        if figure["name"] == f"{prefix}{share}" or figure["name"].startswith(f"{prefix}{share}, ")
        if "ratio" not in figure["name"]
    ]
    return median_of(found[-1]) if found else ""


def _head(one: dict[str, Any]) -> str:
    machine = one["machine"]
    return (
        f"{one['title'][0].upper()}{one['title'][1:]}.\n\n{one['date']}, `{one['command']}`, {one['took_seconds']} s;"
        f" {machine['cores']} cores of {machine['processor']}, Linux {machine['kernel']}, Python {machine['python']},"
        f" Laconic {machine['laconic']}, {machine['disk']} with a sync of {machine['sync_ms']} ms,"
        f" load {machine['load']} before; medians of {machine['rounds']} rounds of {machine['seconds']} s."
    )


def _figures(one: dict[str, Any]) -> str:
    return _table(
        ("figure", "median", "lowest … highest", "mark"),
        [
            (figure["name"], median_of(figure), _spread(figure), figure["verdict"] or "")
            for figure in one["figures"]
        ],
    )


def _notes(one: dict[str, Any]) -> str:
    return "\n".join(f"- {note}" for note in one["notes"])


def _spread(figure: dict[str, Any]) -> str:
    if len(figure["rounds"]) == 1:
        return ""
    return f"{number(figure['lowest'])} … {number(figure['highest'])}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    def lines() -> Iterator[str]:
        yield f"| {' | '.join(head)} |"
        yield f"|{'---|' * len(head)}"
        for row in rows:
            yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"

    return "\n".join(lines())
