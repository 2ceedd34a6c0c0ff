"""Writes docs/growth.md: a plot of each cost against its size, the law it follows, and arithmetic for what does not fit
here. Made of docs/benchmarks.json."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench import plot, published
from bench.processes import ROOT
from bench.published import Scenarios
from bench.report import number

PAGE = ROOT / "docs" / "growth.md"
_BILLION = 10**9
_REDIRECTS = 100_000
_DAY = 86_400
# Exponents of a power law through the points. A B-tree's depth, log n, looks like n^0.05 to n^0.15 at these sizes.
_FLAT, _LOGARITHM, _LINEAR = 0.03, 0.25, 0.75
_RECORD_BYTES = 400  # of a click in the journal, with a browser's headers
_CODES = 62**7

Points = Mapping[int, float]


def write(page: Path = PAGE, file: Path = published.FILE) -> None:
    scenarios = published.read(file)
    drawings = page.parent / "growth"
    drawings.mkdir(exist_ok=True)
    for old in drawings.glob("*.svg"):
        old.unlink()
    rows, images = [], []
    for name, series in _series(scenarios):
        points = {int(size): float(cost) for size, cost in series["points"]}
        title = f"{name}: {series['name']}"
        image = drawings / f"{_slug(title)}.svg"
        image.write_text(plot.draw(title, series["of"], series["unit"], points))
        images.append(f"![{title}](growth/{image.name})")
        rows.append(_row(title, series, points))
    head = "| cost | smallest | largest | law | at 1 billion |\n|---|---|---|---|---|"
    parts = ["### Laws", "\n".join([head, *rows]), "### Plots", "\n\n".join(images), *_arithmetic(scenarios)]
    published.put_between_marks(page, "\n\n".join(parts))


def exponent(points: Points) -> float:
    """b of the power law a × n^b that lies nearest to the points, by least squares of the logarithms."""
    sizes = [math.log(size) for size in points]
    costs = [math.log(cost) for cost in points.values()]
    size_mean, cost_mean = sum(sizes) / len(sizes), sum(costs) / len(costs)
    spread = sum((size - size_mean) ** 2 for size in sizes)
    both = sum((size - size_mean) * (cost - cost_mean) for size, cost in zip(sizes, costs, strict=True))
    return both / spread


def law(points: Points) -> str:
    b = exponent(points)
    if abs(b) <= _FLAT or b < 0:
        return f"does not grow (n^{b:.2f})"
    if b <= _LOGARITHM:
        return f"with the logarithm, as an index's depth does (n^{b:.2f})"
    return f"in proportion (n^{b:.2f})" if b >= _LINEAR else f"slower than in proportion (n^{b:.2f})"


def at_size(points: Points, size: int) -> float:
    """On the straight line through the first and the last point over log n; what shrinks or is flat stays as it is."""
    (first, low), (last, high) = min(points.items()), max(points.items())
    slope = max(0.0, (high - low) / math.log(last / first))
    return high + slope * math.log(size / last)


def _series(scenarios: Scenarios) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, series)
        for name, one in scenarios.items()
        for series in one.get("series", [])
        if len(series["points"]) > 1
    ]


def _row(title: str, series: dict[str, Any], points: Points) -> str:
    unit, sizes = series["unit"], sorted(points)
    told = [f"{number(points[size])} {unit} at {size:,} {series['of']}" for size in (sizes[0], sizes[-1])]
    far = at_size(points, _BILLION) if exponent(points) <= _LOGARITHM else None
    reach = f"{number(far)} {unit}" if far is not None else "not by this law: see below"
    return f"| {title} | {told[0]} | {told[1]} | {law(points)} | {reach} |"


def _arithmetic(scenarios: Scenarios) -> list[str]:
    links, redirects = _billion_links(scenarios), _many_redirects(scenarios)
    return [
        *(["### 1 billion links, by arithmetic", "\n".join(links)] if links else []),
        *(
            [f"### {_REDIRECTS:,} redirects a second, by arithmetic", "\n".join(redirects)]
            if redirects
            else []
        ),
    ]


def _billion_links(scenarios: Scenarios) -> list[str]:
    disk = _points(scenarios, "lookups", "disk")
    look_up = _points(scenarios, "lookups", "look-up, CPU")
    if not (disk and look_up):
        return []
    a_link = disk[max(disk)]
    disk_text = (
        f"- Disk: {number(a_link)} bytes a link with its indexes, measured at {max(disk):,} links × 10^9 ="
        f" {a_link * _BILLION / 2**30:,.0f} GiB, with URLs of 41 characters; each further character of the"
        " average URL is another 0.93 GiB."
    )
    look_up_text = (
        f"- Look-up: {number(look_up[max(look_up)])} µs of CPU at {max(look_up):,} links; by the line over log n"
        f" {number(at_size(look_up, _BILLION))} µs at 10^9, as long as the upper pages of the index lie in"
        " memory. A leaf page that must come from the disk adds one read of it, once: then it is in the cache."
    )
    codes_text = (
        f"- Codes: 62^7 = {_CODES:,}; a billion links fill {100 * _BILLION / _CODES:.3f} % of them, so a guess"
        f" finds a link once in {_CODES // _BILLION:,} tries."
    )
    return [disk_text, look_up_text, codes_text]


def _many_redirects(scenarios: Scenarios) -> list[str]:
    worker = _median(
        scenarios, "hit", "browser's headers, laconic: requests per CPU-second, processes that answer"
    )
    ingest = _median(scenarios, "ingest", "clicks per CPU-second, all processes")
    theirs = _median(scenarios, "pipeline", "textbook: requests per CPU-second, all processes")
    whole = _median(scenarios, "pipeline", "laconic: requests per CPU-second, all processes")
    told = []
    if worker:
        told.append(
            f"- Web workers: {_REDIRECTS:,} / {number(worker)} a CPU-second (`hit`, a browser's headers, click"
            f" journaled) = {_REDIRECTS / worker:.1f} cores of this machine."
        )
    if ingest:
        told.append(
            f"- Ingest: {_REDIRECTS:,} / {number(ingest)} clicks a CPU-second (`ingest`, {_engine(scenarios)}) ="
            f" {_REDIRECTS / ingest:.1f} cores."
        )
    if whole and theirs:
        told.append(
            f"- Both together as `pipeline` measures them: {_REDIRECTS / whole:.1f} cores; the textbook shortener"
            f" would take {_REDIRECTS / theirs:.0f}."
        )
    told.append(
        f"- Journal: {_REDIRECTS:,} × about {_RECORD_BYTES} bytes = {_REDIRECTS * _RECORD_BYTES / 1e6:.0f} MB/s"
        f" written once; what an ingest that stands still for an hour leaves is"
        f" {_REDIRECTS * _RECORD_BYTES * 3600 / 2**30:,.0f} GiB."
    )
    told.append(f"- Clicks: {_REDIRECTS * _DAY / 1e9:.1f} billion a day.")
    return told


def _engine(scenarios: Scenarios) -> str:
    return str(scenarios["ingest"]["machine"]["engine"])


def _points(scenarios: Scenarios, scenario: str, name: str) -> dict[int, float]:
    """Of the run that went furthest, where there are several."""
    found: list[dict[int, float]] = [
        {int(size): float(cost) for size, cost in series["points"]}
        for owner, series in _series(scenarios)
        if scenarios[owner]["scenario"] == scenario and series["name"] == name
    ]
    return max(found, key=max, default={})


def _median(scenarios: Scenarios, scenario: str, name: str) -> float | None:
    figures = scenarios.get(scenario, {"figures": []})["figures"]
    return next((float(figure["median"]) for figure in figures if figure["name"] == name), None)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
