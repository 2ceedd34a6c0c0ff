"""db migrate, db status, and what every command does to a database it finds."""

from collections.abc import Callable
from pathlib import Path

import apsw
import asyncpg
import pytest

from tests.cli.conftest import Laconic
from tests.serve.running import run


def test_status_of_a_database_that_fits(laconic: Laconic, engine: str) -> None:
    status = laconic("db", "status", "--json").json()
    assert status["engine"] == {"sqlite": "SQLite", "postgres": "PostgreSQL"}[engine]
    assert status["applied"] == status["known"] > 0
    assert status["sizes"]["database"] > 0
    shown = laconic("db", "status")
    assert shown.status == 0
    assert f"Schema   {status['known']}, up to date" in shown.out
    assert "postgres@" not in shown.out


def test_status_of_no_database_makes_none(
    laconic_at: Callable[[str], Laconic], database_url: str, tmp_path: Path
) -> None:
    """Looking changes nothing; status 1 says that something is to be done."""
    laconic = laconic_at(database_url)
    status = laconic("db", "status")
    assert status.status == 1
    assert "none yet" in status.out
    assert not (tmp_path / "data").exists()
    assert laconic("db", "status", "--json").status == 1


def test_migrate_makes_the_database_once(laconic_at: Callable[[str], Laconic], database_url: str) -> None:
    laconic = laconic_at(database_url)
    applied = laconic("db", "migrate", "--json").json()["applied"]
    assert len(applied) >= 4
    assert laconic("db", "migrate", "--json").json()["applied"] == []
    assert laconic("db", "migrate").line() == "Nothing to do: the schema is up to date."
    assert laconic("db", "status").status == 0


def test_the_first_command_makes_the_database(
    laconic_at: Callable[[str], Laconic], database_url: str
) -> None:
    """Nothing has to be set up before the first link."""
    laconic = laconic_at(database_url)
    short_url = laconic("shorten", "https://example.com/").line()
    assert laconic("expand", short_url).line() == "https://example.com/"


async def _execute(url: str, sql: str) -> None:
    if url.startswith("sqlite"):
        connection = apsw.Connection(url.removeprefix("sqlite:///"))
        connection.execute(sql)
        connection.close()
    else:
        session = await asyncpg.connect(url)
        await session.execute(sql)
        await session.close()


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM schema_version WHERE number > 2", "2, to be brought to"),
        ("UPDATE schema_version SET number = 998 WHERE number = 4", "998, newer than this release"),
    ],
)
async def test_status_tells_what_does_not_fit(migrated_url: str, sql: str, told: str) -> None:
    """Pending migrations and a database of a later release both have status 1."""
    await _execute(migrated_url, sql)
    result = run(Path("/"), "db", "status", database_url=migrated_url)
    assert result.returncode == 1
    assert told in result.stdout


@pytest.mark.parametrize(
    "command", [("list",), ("shorten", "https://example.com/"), ("db", "status"), ("db", "migrate")]
)
def test_a_file_that_is_no_database_is_told_in_a_line(
    laconic_at: Callable[[str], Laconic], tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Status 3, and the file stays as it is."""
    path = tmp_path / "laconic.db"
    path.write_text("a diary, perhaps\n" * 100)
    told = laconic_at(f"sqlite:///{path}")(*command)
    assert (told.status, told.out) == (3, "")
    assert len(told.err.splitlines()) == 1
    assert path.read_text() == "a diary, perhaps\n" * 100
