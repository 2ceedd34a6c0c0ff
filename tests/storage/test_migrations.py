"""Reading migrations and choosing what to run."""

import re
from pathlib import Path

import pytest

import laconic.storage.migrate
from laconic.errors import DatabaseTooNew
from laconic.storage.migrate import Migration, choose_pending, parse_migrations, read_migrations

_ROOT = Path(laconic.storage.migrate.__file__).parent / "migrations"
_FOLDERS = sorted(folder.name for folder in _ROOT.iterdir())
_FIRST_LINE = re.compile(r"-- \S.*\. Previous release beside it: (yes|no|there is none)\b.*\.")

_KNOWN = [Migration(1, "one", "SELECT 1"), Migration(2, "two", "SELECT 2"), Migration(3, "three", "SELECT 3")]


def test_every_folder_of_migrations_is_known() -> None:
    """The engines name their folders: a new one needs an engine that runs it."""
    assert _FOLDERS == ["postgres", "sqlite", "sqlite_clicks", "sqlite_events"]


@pytest.mark.parametrize("name", _FOLDERS)
def test_shipped_migrations_are_read_in_order(name: str) -> None:
    """Each folder holds migrations 1, 2, 3 ..., each with the text of its file."""
    migrations = read_migrations(name)
    assert [migration.number for migration in migrations] == list(range(1, len(migrations) + 1))
    for migration in migrations:
        assert migration.sql == (_ROOT / name / f"{migration.number:04}_{migration.name}.sql").read_text()


@pytest.mark.parametrize("name", _FOLDERS)
def test_first_line_says_what_and_whether_the_previous_release_may_run_beside_it(name: str) -> None:
    """The operator reads it before a rolling upgrade."""
    for migration in read_migrations(name):
        first_line = migration.sql.partition("\n")[0]
        assert _FIRST_LINE.fullmatch(first_line), f"{name}/{migration.name}: {first_line}"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        pytest.param(["0001_one.sql", "0003_three.sql"], r"\[1, 3\]", id="a gap"),
        pytest.param(["0001_one.sql", "0002_two.sql", "0002_other.sql"], r"\[1, 2, 2\]", id="a number twice"),
        pytest.param(["0002_two.sql"], r"\[2\]", id="no beginning"),
        pytest.param(["0001_one.sql", "2_two.sql"], r"'2_two\.sql' is no migration", id="a stray name"),
        pytest.param([], r"\[\]", id="a package built without its SQL"),
    ],
)
def test_a_folder_that_cannot_be_run_in_order_is_refused(names: list[str], said: str) -> None:
    """Two branches that both add a migration must not lead to one that is left out."""
    with pytest.raises(ValueError, match=said):
        parse_migrations(dict.fromkeys(names, "SELECT 1"))


@pytest.mark.parametrize(("applied", "pending"), [(0, [1, 2, 3]), (2, [3]), (3, [])])
def test_what_has_not_been_applied_is_pending(applied: int, pending: list[int]) -> None:
    """Exactly the migrations after the last applied one are run, in order."""
    assert [migration.number for migration in choose_pending(_KNOWN, applied)] == pending


def test_a_database_newer_than_the_code_is_refused() -> None:
    """An older release would misread a newer schema; the message names both versions."""
    with pytest.raises(DatabaseTooNew, match=r"version 5\b.*up to 3\b"):
        choose_pending(_KNOWN, 5)
