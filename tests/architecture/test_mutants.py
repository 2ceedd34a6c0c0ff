"""What `make mutants` knows of the code is there."""

from pathlib import Path

from tools.mutants.equivalents import EQUIVALENT
from tools.mutants.silent import SilentPlaces
from tools.mutants.targets import TARGETS

ROOT = Path(__file__).parents[2]
SOURCE = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    one = 1
@dataclass(frozen=True)
class Thing:
    size: int | None = 1 | 2
    def grow(self, by: int | str, *, twice: bool = 2) -> int | None:
        log.info("grows by %d", by + 1)
        return self.size * by
"""


def test_every_file_of_a_target_has_its_tests() -> None:
    """A test or a module that was renamed would leave mutants to the slow tests of a whole room, or to none."""
    for target in TARGETS:
        code = ROOT / target.code
        files = {str(path.relative_to(ROOT / "src/laconic")) for path in code.rglob("*.py")} or {
            target.name + ".py"
        }
        assert set(target.closest) <= files
        for name in files:
            assert all((ROOT / test).exists() for test in target.tests_of(f"src/laconic/{name}"))


def test_what_is_called_equivalent_is_of_a_file_that_is_there() -> None:
    """And has a reason."""
    for (path, _), reason in EQUIVALENT.items():
        assert (ROOT / "src/laconic" / path).exists(), path
        assert reason


def test_places_that_say_nothing_are_left_out_and_no_others() -> None:
    """Hints, what is imported for them, slots and the like, a star among parameters, and what a log line says."""
    places, lines = SilentPlaces(SOURCE), SOURCE.splitlines()

    def is_silent(text: str, within: str) -> bool:
        row = next(number for number, line in enumerate(lines) if within in line)
        return (row + 1, lines[row].index(within) + within.index(text)) in places

    assert is_silent("1", "one = 1")
    assert is_silent("True", "frozen=True")
    assert is_silent("|", "int | None = ")
    assert is_silent("|", "int | str")
    assert is_silent("*", "*, twice")
    assert is_silent("|", "-> int | None")
    assert is_silent("+", "by + 1")
    assert not is_silent("|", "1 | 2")
    assert not is_silent("2", "bool = 2")
    assert not is_silent("*", "self.size * by")
