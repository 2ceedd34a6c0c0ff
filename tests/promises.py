"""`--promises`: runs the tests of the promises and writes what they found into docs/promises.md.

A promise is proved by the tests that are named after it (`test_p4_…`). With this option the long ones run, and of
promises that have none all of theirs: those marked `timed`, which want the machine for themselves, the others, or
both. A test tells its figure by `record_property("figure", …)`. Rows lie in
docs/promises.json, so that a test that was left out keeps the date and figure of its last run.
"""

import json
import random
import re
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

# What the fixture record_property gives.
Recorder = Callable[[str, object], None]

_DOCS = Path(__file__).parents[1] / "docs"
# Of a whole file, and of all tests together from which on they tell how fast a machine is.
_QUICK_SECONDS = 40
_TELLING_SECONDS = 20
_NAME = re.compile(r"test_p(\d+)_")
_TITLES = {
    1: "A create that was answered survives `kill -9` of any process: 0 lost of 100,000 over 200 kills",
    2: "A code is never given to two links, not even after delete, expiry, crash, failover or restore: 0 in 10 million",
    3: "Clicks counted = redirects answered, across `kill -9` at most those cut off unanswered besides: exact over 1 million",
    4: "After the answer to an edit, disable or delete, no worker redirects to the old target later than 1 s",
    5: "An expired link never redirects, whether or not the reaper has run",
    6: "A live link is never answered 404 or 410 because something inside failed",
    7: "Redirects go on without Redis, the click worker, GeoIP; cached ones go on without the database",
    8: "A tenant never reads, changes or infers another tenant's data",
    9: "Laconic never opens a connection to a non-public address on a user's behalf",
    10: "No input makes a 5xx; accepted text comes back unchanged",
    11: "One worker answers cached redirects, each click journaled, at 0.6 or more of nginx's static 302 (goal 0.7)",
    12: "A dashboard page takes the same time after 100 million clicks as after 10 thousand: ratio at most 2",
}
# Measured by `make bench`, whose page has them: scenario, and what the figure's name holds.
_MEASURED = {11: ("hit", "web worker, click journaled"), 12: ("analytics", "ratio of")}


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("promises")
    group.addoption(
        "--promises",
        nargs="?",
        const="all",
        choices=["all", "timed", "untimed"],
        help="run the promises' tests and write docs/promises.md",
    )
    group.addoption("--seed", type=int, default=None, help="of what the fault tests leave to chance")
    group.addoption(
        "--until",
        type=float,
        default=float("inf"),
        help="with --promises: begin no test that would end after this Unix time",
    )


def configure(config: pytest.Config) -> None:
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(1 << 32)
    if not config.option.promises:
        return
    config.pluginmanager.register(Pace(read(_DOCS / "promises.json")), "pace")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Ledger(_DOCS), "promises")


def choose(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests, and the quick ones of promises that have no long one."""
    wanted = config.option.promises
    if not wanted:
        return
    proved = {_promise(item.nodeid) for item in items if item.get_closest_marker("long")}
    chosen: list[pytest.Item] = []
    left: list[pytest.Item] = []
    for item in items:
        is_proof = item.get_closest_marker("long") or _promise(item.nodeid) not in {None, *proved}
        kind = "timed" if item.get_closest_marker("timed") else "untimed"
        (chosen if is_proof and wanted in {"all", kind} else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = in_order(chosen, read(_DOCS / "promises.json"))


def in_order(items: list[pytest.Item], outcomes: dict[str, dict[str, Any]]) -> list[pytest.Item]:
    """File by file, by what they took the last time: the many quick ones, then the longest of the others first.

    So a machine on which not all of it fits leaves out a few long ones, and has shown by then how slow it is; and with
    several workers none is left with a long one at the end. A file that has not run before may be long.
    """
    took: dict[str, float] = {}
    for item in items:
        seconds = outcomes.get(item.nodeid, {"seconds": float("inf")})["seconds"]
        took[_file(item)] = took.get(_file(item), 0) + seconds
    return sorted(items, key=lambda item: (took[_file(item)] > _QUICK_SECONDS, -took[_file(item)]))


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def leave_out_late(item: pytest.Item) -> None:
    """By how long it took the last time, and how much slower this machine is."""
    pace: Any = item.config.pluginmanager.get_plugin("pace")
    if pace is not None and time.time() + pace.expected(item.nodeid) > item.config.option.until:
        pytest.skip("left out: it would end too late")


class Pace:
    """How long tests take here, beside how long they took where they ran last."""

    def __init__(self, outcomes: dict[str, dict[str, Any]]) -> None:
        self._last = {node: found["seconds"] for node, found in outcomes.items()}
        self._there = 0.0
        self._here = 0.0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and report.when != "teardown":
            self._here += report.duration
            self._there += self._last.get(report.nodeid, 0) if report.when == "call" else 0

    def expected(self, node: str) -> float:
        """Never less than the last time; a few quick ones say nothing about the machine."""
        slower = self._here / self._there if self._there >= _TELLING_SECONDS else 1.0
        return float(self._last.get(node, 0) * max(1.0, slower))


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """Of what a test leaves to chance: printed, and settled by --seed."""
    return int(request.config.option.seed)


def read(file: Path) -> dict[str, dict[str, Any]]:
    """Outcomes by node id."""
    found: dict[str, dict[str, Any]] = json.loads(file.read_text()) if file.exists() else {}
    return found


class Ledger:
    """What the run found, on the side of whoever runs the workers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[str, dict[str, Any]] = {}
        self._preparing: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "setup":
            # What a fixture did, such as two hundred kills, is the test's work.
            self._preparing[report.nodeid] = report.duration
        if report.failed or (report.when == "call" and report.passed):
            properties = dict(report.user_properties)
            self._found[report.nodeid] = {
                "outcome": report.outcome,
                "figure": str(properties.get("figure", "")),
                "seed": properties.get("seed"),
                "seconds": round(report.duration + self._preparing.get(report.nodeid, 0)),
                "date": datetime.now(UTC).date().isoformat(),
            }

    def pytest_sessionfinish(self) -> None:
        if not self._found:
            return
        file = self._folder / "promises.json"
        outcomes = dict(sorted({**read(file), **self._found}.items()))
        file.write_text(json.dumps(outcomes, indent=1, ensure_ascii=False) + "\n")
        write_page(self._folder, outcomes)


def write_page(folder: Path, outcomes: dict[str, dict[str, Any]]) -> None:
    """A row for each test; what people wrote around the table stays."""
    lines = ["| promise | test | figure | date | command |", "|---|---|---|---|---|"]
    for number, title in _TITLES.items():
        mine = {node: found for node, found in outcomes.items() if _promise(node) == number}
        rows = [*_tested(mine), *_measured(number, folder / "benchmarks.json")]
        lines += _told(f"**P{number}** {title}", rows)
    lines += _told(
        "besides", _tested({node: found for node, found in outcomes.items() if not _promise(node)})
    )
    page = folder / "promises.md"
    before, begin, rest = page.read_text().partition("<!-- begin: ")
    label, arrow, rest = rest.partition("-->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not (begin and arrow and end):
        raise RuntimeError(f"{page} has no place for the table.")
    page.write_text(f"{before}{begin}{label}{arrow}\n" + "\n".join(lines) + f"\n\n{end}{after}")


def _told(first: str, rows: Iterable[tuple[str, ...]]) -> list[str]:
    told = list(rows) or [("no figure yet", "", "", "")]
    return [f"| {first if not place else ''} | {' | '.join(row)} |" for place, row in enumerate(told)]


def _tested(outcomes: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    """One row for a test function, its cases together."""
    functions: dict[str, list[str]] = {}
    for node in outcomes:
        functions.setdefault(node.partition("[")[0], []).append(node)
    return [_row(function, {node: outcomes[node] for node in nodes}) for function, nodes in functions.items()]


def _row(function: str, cases: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    file, _, name = function.rpartition("::")
    failed = [node for node, found in cases.items() if found["outcome"] != "passed"]
    said = [f"**{len(failed)} of {len(cases)} failed**"] if failed else []
    for node, found in cases.items():
        case = node.partition("[")[2].rstrip("]")
        seed = f", seed {found['seed']}" if found["seed"] is not None else ""
        if found["figure"]:
            said.append(f"{case + ': ' if case else ''}{found['figure']}{seed}")
    if not said:
        said.append(f"{len(cases)} case{'s' if len(cases) > 1 else ''}, 0 failed")
    date = max(found["date"] for found in cases.values())
    seconds = sum(found["seconds"] for found in cases.values())
    return f"`{file}` `{name}`", "; ".join(said), f"{date}, {seconds} s", f'`make faults ARGS="-k {name}"`'


def _measured(number: int, file: Path) -> list[tuple[str, ...]]:
    if number not in _MEASURED or not file.exists():
        return []
    scenario, part = _MEASURED[number]
    return [
        (
            f"`bench`, scenario `{scenario}`",
            f"{figure['name']}: {figure['median']:.2f} ({figure['lowest']:.2f} … {figure['highest']:.2f})",
            one["date"],
            f"`{one['command']}`",
        )
        for one in json.loads(file.read_text())
        for figure in one["figures"]
        if one["scenario"] == scenario and part in figure["name"]
    ]


def _promise(node: str) -> int | None:
    found = _NAME.search(node)
    return int(found[1]) if found else None
