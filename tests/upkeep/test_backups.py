"""Backups by the clock: made daily, compressed after a week, gone after a month; a weekly look at the database."""

import asyncio
import contextlib
import shutil
from pathlib import Path

import apsw
import pytest

from laconic.backups.backup import Origin, name_of
from laconic.backups.manifest import Manifest
from laconic.backups.notes import read_notes
from laconic.backups.pack import is_packed
from laconic.backups.restore import check
from laconic.clock import DAY, HOUR
from laconic.storage.database import Database
from laconic.upkeep.backups import BackupPlan, Backups, backups_in

START = 1_800_000_000 * 1_000_000


class _Clock:
    def __init__(self) -> None:
        self.moment = START

    def __call__(self) -> int:
        return self.moment


@pytest.fixture
def clock() -> _Clock:
    return _Clock()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


def _plan(folder: Path | None, check_interval: int = 0) -> BackupPlan:
    return BackupPlan(folder, DAY, 7 * DAY, 30 * DAY, check_interval)


@pytest.fixture
def backups(database: Database, migrated_url: str, folder: Path, tmp_path: Path, clock: _Clock) -> Backups:
    source = Origin(migrated_url, tmp_path / "journal")
    return Backups(database, source, _plan(folder), tmp_path, now=clock)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def test_one_a_day(backups: Backups, folder: Path, clock: _Clock, tmp_path: Path) -> None:
    """A restart makes none before its time; what happened is noted for whoever asks."""
    for hours in (0, 1, 23, 24, 30, 48):
        clock.moment = START + hours * HOUR
        await backups.run_when_due()
    assert _names(folder) == [name_of(START + day * DAY) for day in range(3)]
    notes = read_notes(tmp_path)
    assert (notes.backed_up_at, notes.backup_error) == (START + 2 * DAY, "")
    assert notes.backup == str(folder / name_of(START + 2 * DAY))


async def test_compressed_after_a_week_gone_after_a_month(
    backups: Backups, folder: Path, clock: _Clock, migrated_url: str
) -> None:
    """The compressed ones are as good as the others."""
    for day in (0, 6, 7, 29, 30):
        clock.moment = START + day * DAY
        await backups.run_when_due()
        if day == 6:
            assert not is_packed(folder / name_of(START)) or migrated_url.startswith("postgres")
        if day == 7:
            assert is_packed(folder / name_of(START))
            await check(folder / name_of(START), migrated_url)
    assert _names(folder) == [name_of(START + day * DAY) for day in (6, 7, 29, 30)]


async def test_newest_stays_whatever_its_age(backups: Backups, folder: Path, clock: _Clock) -> None:
    """When backups fail for a month, the last good one is not removed."""
    await backups.run_when_due()
    (folder / "laconic-notes.txt").touch()
    clock.moment = START + 400 * DAY
    assert [path.name for _, path in backups_in(folder)] == [name_of(START)]
    await backups.run_when_due()
    assert len(backups_in(folder)) == 1
    assert (folder / "laconic-notes.txt").exists()


async def test_failure_is_noted_and_tried_again_in_an_hour(
    database: Database, migrated_url: str, tmp_path: Path, clock: _Clock
) -> None:
    """A folder that cannot be made: the server goes on."""
    (tmp_path / "file").touch()
    source = Origin(migrated_url, tmp_path / "journal")
    backups = Backups(database, source, _plan(tmp_path / "file" / "in"), tmp_path, now=clock)
    await backups.run_when_due()
    assert read_notes(tmp_path).backup_error
    assert not backups._is_backup_due()
    clock.moment += HOUR
    assert backups._is_backup_due()


async def test_weekly_integrity_check(
    database: Database, migrated_url: str, tmp_path: Path, clock: _Clock
) -> None:
    """Nothing wrong is noted as such."""
    backups = Backups(
        database, Origin(migrated_url, tmp_path), _plan(None, check_interval=7 * DAY), tmp_path, now=clock
    )
    await backups.run_when_due()
    assert read_notes(tmp_path).checked_at == START
    clock.moment += 6 * DAY
    await backups.run_when_due()
    assert read_notes(tmp_path).checked_at == START
    clock.moment += DAY
    await backups.run_when_due()
    notes = read_notes(tmp_path)
    assert (notes.checked_at, notes.problems) == (START + 7 * DAY, ())


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize("most_compared", [1_000, 0])
async def test_damage_is_found(
    database: Database, tmp_path: Path, clock: _Clock, monkeypatch: pytest.MonkeyPatch, most_compared: int
) -> None:
    """A page of the file that is overwritten, also where the file is too large for indexes to be compared."""
    monkeypatch.setattr("laconic.storage.sqlite_examine._MOST_COMPARED_PAGES", most_compared)
    await database.tidy()
    shutil.copytree(tmp_path / "data", tmp_path / "damaged")
    with (tmp_path / "damaged" / "laconic.db").open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096)
    origin = Origin(f"sqlite:///{tmp_path}/damaged/laconic.db", tmp_path)
    await Backups(database, origin, _plan(None, check_interval=DAY), tmp_path, now=clock).run_when_due()
    assert read_notes(tmp_path).problems


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize(("most_compared", "is_found"), [(1_000, True), (0, False)])
async def test_only_files_of_a_usual_size_have_their_indexes_compared(
    database: Database,
    tmp_path: Path,
    clock: _Clock,
    monkeypatch: pytest.MonkeyPatch,
    most_compared: int,
    is_found: bool,
) -> None:
    """A row that its index knows by another name. Looking for it in a large file would keep the log for as long."""
    monkeypatch.setattr("laconic.storage.sqlite_examine._MOST_COMPARED_PAGES", most_compared)
    await database.tidy()
    shutil.copytree(tmp_path / "data", tmp_path / "damaged")
    file = tmp_path / "damaged" / "laconic.db"
    with contextlib.closing(apsw.Connection(str(file))) as connection:
        connection.execute("CREATE TABLE thing (name TEXT); CREATE INDEX thing_idx ON thing (name)")
        connection.execute("INSERT INTO thing VALUES ('before'); PRAGMA writable_schema = ON")
        entry = connection.execute("SELECT * FROM sqlite_schema WHERE name = 'thing_idx'").fetchall()[0]
        connection.execute("DELETE FROM sqlite_schema WHERE name = 'thing_idx'")
    with contextlib.closing(apsw.Connection(str(file))) as connection:
        connection.execute("UPDATE thing SET name = 'after'; PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_schema VALUES (?, ?, ?, ?, ?)", entry)
    origin = Origin(f"sqlite:///{file}", tmp_path)
    await Backups(database, origin, _plan(None, check_interval=DAY), tmp_path, now=clock).run_when_due()
    assert bool(read_notes(tmp_path).problems) is is_found


async def test_one_process_at_a_time(
    database: Database, migrated_url: str, folder: Path, tmp_path: Path, clock: _Clock
) -> None:
    """Two background nodes with the same folder make one backup."""
    both = [
        Backups(database, Origin(migrated_url, tmp_path / "journal"), _plan(folder), tmp_path, now=clock)
        for _ in range(2)
    ]
    await asyncio.gather(*(one.run_when_due() for one in both))
    (name,) = _names(folder)
    assert Manifest.read(folder / name).counts["links"] == 0
