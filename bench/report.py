"""Figures with their spread, and what stands beside them."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should reach. Said beside it, never enforced: another machine is no failure."""

    bound: float
    is_floor: bool
    goal: float | None = None

    def verdict(self, value: float) -> str:
        sign = ">=" if self.is_floor else "<="
        said = f"{'PASS' if self._reaches(value, self.bound) else 'short'}  {sign} {number(self.bound)}"
        if self.goal is not None:
            said += f", goal {number(self.goal)} {'reached' if self._reaches(value, self.goal) else 'not reached'}"
        return said

    def _reaches(self, value: float, bound: float) -> bool:
        return value >= bound if self.is_floor else value <= bound


def at_least(bound: float, goal: float | None = None) -> Target:
    return Target(bound, is_floor=True, goal=goal)


def at_most(bound: float) -> Target:
    return Target(bound, is_floor=False)


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, measured once a round."""

    name: str
    values: Sequence[float]
    unit: str = ""
    target: Target | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    def as_row(self) -> tuple[str, str, str, str]:
        spread = f"{number(min(self.values))} … {number(max(self.values))}" if len(self.values) > 1 else ""
        verdict = self.target.verdict(self.median) if self.target else ""
        return self.name, f"{number(self.median)} {self.unit}".strip(), spread, verdict

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "median": self.median,
            "lowest": min(self.values),
            "highest": max(self.values),
            "rounds": list(self.values),
            "verdict": self.target.verdict(self.median) if self.target else None,
            "target": asdict(self.target) if self.target else None,
        }


@dataclass(frozen=True, slots=True)
class Series:
    """One cost against the size that it may grow with."""

    name: str
    of: str
    unit: str
    points: Mapping[int, float]

    def as_json(self) -> dict[str, Any]:
        points = [[size, cost] for size, cost in sorted(self.points.items())]
        return {"name": self.name, "of": self.of, "unit": self.unit, "points": points}


@dataclass(slots=True)
class Report:
    """What one scenario found."""

    scenario: str
    title: str
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)

    def add(self, name: str, values: Sequence[float], unit: str = "", target: Target | None = None) -> None:
        self.figures.append(Figure(name, values, unit, target))

    def add_series(self, name: str, of: str, unit: str, points: Mapping[int, float]) -> None:
        """For the plots of docs/growth.md."""
        self.series.append(Series(name, of, unit, points))

    def as_text(self) -> str:
        rows = [("", "median", "lowest … highest", ""), *(figure.as_row() for figure in self.figures)]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            f"  {row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip()
            for row in rows
        ]
        notes = [f"  · {note}" for note in self.notes]
        return "\n".join([f"{self.scenario}: {self.title}", *lines, *notes, ""])

    def as_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario,
            "title": self.title,
            "figures": [figure.as_json() for figure in self.figures],
            "notes": self.notes,
            "series": [series.as_json() for series in self.series],
        }


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Round by round: neighbours in time share what the machine was doing."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def write_json(path: Path, machine: dict[str, Any], reports: Sequence[Report]) -> None:
    document = {"machine": machine, "reports": [report.as_json() for report in reports]}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def number(value: float) -> str:
    """As many digits as are worth reading."""
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"
