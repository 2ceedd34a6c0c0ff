"""The page of promises: a row for each test, with what it found and when."""

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from tests import promises

PAGE = "Before.\n\n<!-- begin: by a program -->\nstale\n<!-- end -->\n\nAfter.\n"
KILL = "tests/faults/test_kill.py::test_p1_creates_survive[{}]"


def told(
    node: str, outcome: Literal["passed", "failed"] = "passed", when: str = "call", **properties: Any
) -> Any:
    return pytest.TestReport(
        node,
        ("", None, ""),
        {},
        outcome,
        None,
        when,  # type: ignore[arg-type]
        user_properties=list(properties.items()),
        duration=61.0,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "promises.md").write_text(PAGE)
    return tmp_path


def write(folder: Path, *reports: Any) -> str:
    ledger = promises.Ledger(folder)
    for report in reports:
        ledger.pytest_runtest_logreport(report)
    ledger.pytest_sessionfinish()
    return (folder / "promises.md").read_text()


def test_a_row_says_figure_seed_time_and_command(folder: Path) -> None:
    """The cases of a test together; the fixture's time, which does the work, is the test's."""
    text = write(
        folder,
        told(KILL.format("sqlite"), when="setup"),
        told(KILL.format("sqlite"), figure="0 lost of 9", seed=7),
        told(KILL.format("postgres"), figure="0 lost of 8"),
    )
    row = next(line for line in text.splitlines() if "**P1**" in line)
    assert "`tests/faults/test_kill.py` `test_p1_creates_survive`" in row
    assert "sqlite: 0 lost of 9, seed 7; postgres: 0 lost of 8" in row or (
        "postgres: 0 lost of 8; sqlite: 0 lost of 9, seed 7" in row
    )
    assert ", 183 s |" in row
    assert '`make faults ARGS="-k test_p1_creates_survive"`' in row
    assert "**P8**" in text
    assert text.startswith("Before.")
    assert text.endswith("After.\n")
    assert "stale" not in text


def test_a_failure_shows(folder: Path) -> None:
    """Whatever the test had told before."""
    text = write(folder, told(KILL.format("sqlite"), "failed", figure="3 lost"))
    assert "**1 of 1 failed**; sqlite: 3 lost" in text


def test_a_test_that_was_left_out_keeps_its_row(folder: Path) -> None:
    """With the date of its last run."""
    write(folder, told(KILL.format("sqlite"), figure="0 lost of 9"))
    kept = json.loads((folder / "promises.json").read_text())
    kept[KILL.format("sqlite")]["date"] = "2001-01-01"
    (folder / "promises.json").write_text(json.dumps(kept))
    text = write(folder, told("tests/a.py::test_p5_expired"))
    assert "0 lost of 9 | 2001-01-01" in text
    assert "1 case, 0 failed" in text


def test_ratios_come_from_the_benchmark(folder: Path) -> None:
    """P11 and P12 are measured there."""
    figure = {"name": "ratio: web worker, click journaled", "median": 0.71, "lowest": 0.7, "highest": 0.8}
    one = {"scenario": "hit", "figures": [figure], "date": "2001-01-01", "command": "make bench"}
    (folder / "benchmarks.json").write_text(json.dumps([one]))
    text = write(folder, told("tests/a.py::test_p5_expired"))
    assert "ratio: web worker, click journaled: 0.71 (0.70 … 0.80) | 2001-01-01 | `make bench` |" in text


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ("all", ["test_p1_long", "test_p4_timed", "test_p5_quick"]),
        ("timed", ["test_p4_timed"]),
        ("untimed", ["test_p1_long", "test_p5_quick"]),
    ],
)
def test_long_ones_are_chosen_and_quick_ones_where_there_are_none(wanted: str, chosen: list[str]) -> None:
    """Tests that belong to no promise and are not long are left out; those that tell times can be had apart."""
    marks = {
        "test_p1_quick": set[str](),
        "test_p1_long": {"long"},
        "test_p4_quick": set[str](),
        "test_p4_timed": {"long", "timed"},
        "test_p5_quick": set[str](),
        "test_other": set[str](),
    }

    def item(name: str) -> Any:
        return SimpleNamespace(
            nodeid=name, get_closest_marker=lambda mark: mark if mark in marks[name] else None
        )

    items = [item(name) for name in marks]
    gone: list[Any] = []
    hook = SimpleNamespace(pytest_deselected=lambda *, items: gone.extend(items))
    config: Any = SimpleNamespace(option=SimpleNamespace(promises=wanted), hook=hook)
    promises.choose(config, items)
    assert [one.nodeid for one in items] == chosen
    assert len(gone) == len(marks) - len(chosen)


def test_quick_files_go_first_and_then_the_longest() -> None:
    """All tests of a file together, in their own order; a file that nobody has seen run may be the longest."""
    took = {
        "a.py::test_1": 300,
        "b.py::test_2": 100,
        "b.py::test_1": 400,
        "c.py::test_1": 0,
        "e.py::test_1": 30,
    }
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in (*took, "d.py::test_new")]
    outcomes = {name: {"seconds": seconds} for name, seconds in took.items()}
    names = [item.nodeid for item in promises.in_order(items, outcomes)]
    quick, long = ["e.py::test_1", "c.py::test_1"], ["b.py::test_2", "b.py::test_1", "a.py::test_1"]
    assert names == [*quick, "d.py::test_new", *long]


def test_a_slow_machine_expects_its_own_times() -> None:
    """By those that have ended; one that is fast expects what was seen, and a few seconds tell nothing."""
    pace = promises.Pace(
        {KILL.format(number): {"seconds": seconds} for number, seconds in enumerate((30, 10, 600))}
    )
    pace.pytest_runtest_logreport(told(KILL.format(1)))
    assert pace.expected(KILL.format(2)) == 600
    pace.pytest_runtest_logreport(told(KILL.format(0), when="setup"))
    pace.pytest_runtest_logreport(told(KILL.format(0), "failed"))
    pace.pytest_runtest_logreport(told(KILL.format(0)))
    assert pace.expected(KILL.format(2)) == 600 * 3 * 61 / 40
    assert pace.expected(KILL.format("new")) == 0


@pytest.mark.parametrize(("left", "runs"), [(100, True), (10, False)])
def test_what_would_end_too_late_is_left_out(left: float, runs: bool) -> None:
    """And keeps its row."""
    pace = promises.Pace({KILL.format("sqlite"): {"seconds": 50}})
    plugins = SimpleNamespace(get_plugin={"pace": pace}.get)
    option = SimpleNamespace(until=time.time() + left)
    item: Any = SimpleNamespace(
        nodeid=KILL.format("sqlite"), config=SimpleNamespace(pluginmanager=plugins, option=option)
    )
    if runs:
        promises.leave_out_late(item)
    else:
        with pytest.raises(pytest.skip.Exception):
            promises.leave_out_late(item)
