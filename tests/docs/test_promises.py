"""The table of promises in README.md names tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROW = re.compile(r"^\| P(\d+) \| .+ \| (.+) \|$", re.MULTILINE)
PROMISES = ROW.findall((ROOT / "README.md").read_text())


def tests_of(number: str, place: Path) -> list[str]:
    """Names of tests for a promise: they begin with its number."""
    files = [place] if place.is_file() else sorted(place.rglob("test_*.py"))
    return [name for file in files for name in re.findall(rf"def (test_p{number}_\w+)", file.read_text())]


@pytest.mark.parametrize(("number", "cell"), PROMISES)
def test_promise_is_tested_where_the_table_says(number: str, cell: str) -> None:
    """A promise without a test is advertising, and a test that the table does not name is a promise kept in silence."""
    places = re.findall(r"\]\(([^)]+)\)", cell)
    for place in places:
        assert tests_of(number, ROOT / place), f"no test_p{number}_… in {place}"
    if cell == "not yet":
        assert not tests_of(number, ROOT / "tests"), f"README.md says that P{number} has no test yet"
    else:
        assert places or "make bench" in cell


def test_every_promise_that_has_tests_is_in_the_table() -> None:
    """The numbers in tests' names and in the table are the same ones."""
    tested = {
        number
        for file in (ROOT / "tests").rglob("test_*.py")
        for number in re.findall(r"^\s*(?:async )?def test_p(\d+)_", file.read_text(), re.MULTILINE)
    }
    assert tested <= {number for number, _ in PROMISES}
