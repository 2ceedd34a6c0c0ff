"""What is SQLite's own: the files, the one writer, killed migrations, a full disk."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from laconic.errors import CannotStart, Conflict, DatabaseTooNew, DataFolderInUse, Unavailable
from laconic.storage import folder as data_folder
from laconic.storage import sqlite_checkpoint
from laconic.storage.database import Statements
from laconic.storage.folder import claim_folder
from laconic.storage.months import begin_of, month_from_name
from laconic.storage.sqlite import SqliteDatabase, migrate_sqlite, open_sqlite, sqlite_schema_version

# Migrates a folder, and kills itself before the statement whose number it was given.
_KILLED_MIGRATION = """
import asyncio, itertools, os, signal, sys
from pathlib import Path
import apsw
count = itertools.count(1)
def before_statement(cursor, sql, bindings):
    if next(count) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return True
apsw.connection_hooks.append(lambda connection: connection.set_exec_trace(before_statement))
from laconic.storage.sqlite import migrate_sqlite
asyncio.run(migrate_sqlite(Path(sys.argv[1])))
"""


async def _python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return await asyncio.to_thread(
        subprocess.run, command, capture_output=True, text=True, check=False, timeout=60
    )


def _schema(path: Path) -> list[tuple[object, ...]]:
    with contextlib.closing(apsw.Connection(str(path))) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


@pytest.mark.parametrize("statement", [3, 9, 12, 20, 33, 47, 60, 74])
async def test_a_migration_killed_at_any_statement_is_repaired_by_the_next_start(
    tmp_path: Path, statement: int
) -> None:
    """A kill leaves whole migrations only, and the next start adds the rest."""
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    await migrate_sqlite(whole)
    process = await _python(_KILLED_MIGRATION, killed, statement)
    assert process.returncode == -signal.SIGKILL
    await migrate_sqlite(killed)
    for file in ("laconic.db", "clicks.db"):
        assert _schema(killed / file) == _schema(whole / file)


async def test_several_processes_may_migrate_at_once(tmp_path: Path) -> None:
    """Whoever comes second waits and finds nothing left to do."""
    code = (
        "import asyncio, sys; from pathlib import Path; from laconic.storage.sqlite import migrate_sqlite\n"
    )
    code += "print(len(asyncio.run(migrate_sqlite(Path(sys.argv[1])))))"
    starts = await asyncio.gather(*(_python(code, tmp_path) for _ in range(4)))
    applied = [int(process.stdout) for process in starts]
    assert sum(applied) == len(await migrate_sqlite(tmp_path / "alone"))


async def test_a_database_of_a_later_release_is_refused(tmp_path: Path) -> None:
    """An older program must not write what it does not understand."""
    await migrate_sqlite(tmp_path)
    with apsw.Connection(str(tmp_path / "laconic.db")) as connection:
        connection.execute("INSERT INTO schema_version VALUES (999, 'from the future', 0)")
    with pytest.raises(DatabaseTooNew, match="999"):
        await migrate_sqlite(tmp_path)
    assert await sqlite_schema_version(tmp_path) == 999


async def test_a_database_of_another_program_is_refused(tmp_path: Path) -> None:
    """It is left as it was, and the message names the file."""
    with contextlib.closing(apsw.Connection(str(tmp_path / "laconic.db"))) as connection:
        connection.execute("CREATE TABLE workspace (whatever)")
    with pytest.raises(CannotStart, match=r"laconic\.db"):
        await migrate_sqlite(tmp_path)
    assert ("table", "workspace", "CREATE TABLE workspace (whatever)") in _schema(tmp_path / "laconic.db")


async def test_files_are_private(tmp_path: Path) -> None:
    """Nobody else on the machine reads the database."""
    await migrate_sqlite(tmp_path / "data")
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
    for file in ("laconic.db", "clicks.db"):
        assert (tmp_path / "data" / file).stat().st_mode & 0o077 == 0


@pytest.fixture
async def sqlite(tmp_path: Path) -> SqliteDatabase:
    await migrate_sqlite(tmp_path)
    database = await open_sqlite(tmp_path)
    await database.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT UNIQUE)")
    return database


async def test_work_that_waits_together_is_committed_together(sqlite: SqliteDatabase) -> None:
    """A hundred transactions need far fewer commits; one that fails spoils no other."""
    log_before = (await sqlite.sizes())["wal"]

    async def insert(number: int) -> None:
        async def work(statements: Statements) -> None:
            await statements.execute("INSERT INTO thing VALUES ($1, $2)", number, f"name {number % 90}")

        await sqlite.transaction(work)

    results = await asyncio.gather(*(insert(number) for number in range(100)), return_exceptions=True)
    assert sum(isinstance(result, Conflict) for result in results) == 10
    assert await sqlite.fetch_one("SELECT count(*) FROM thing") == (90,)
    # Each commit writes at least the two pages that it changed; one by one that would be 180 of them.
    pages = ((await sqlite.sizes())["wal"] - log_before) // 4096
    assert pages < 60
    await sqlite.close()


async def test_a_transaction_may_await_nothing_but_its_statements(sqlite: SqliteDatabase) -> None:
    """It runs outside the loop: a suspension there would never end."""

    async def work(statements: Statements) -> None:
        await statements.execute("INSERT INTO thing VALUES (1, 'a')")
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="awaited something other"):
        await sqlite.transaction(work)
    assert await sqlite.fetch_all("SELECT * FROM thing") == []
    await sqlite.close()


async def test_a_caller_that_is_cancelled_does_not_disturb_the_others(sqlite: SqliteDatabase) -> None:
    """Its work is done all the same, whole."""
    first = asyncio.create_task(sqlite.execute("INSERT INTO thing VALUES (1, 'a')"))
    second = asyncio.create_task(sqlite.execute("INSERT INTO thing VALUES (2, 'b')"))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == 1
    assert await sqlite.fetch_all("SELECT id FROM thing ORDER BY id") == [(1,), (2,)]
    await sqlite.close()


async def test_links_and_clicks_are_written_without_waiting_for_each_other(tmp_path: Path) -> None:
    """A transaction that stays open on one file does not hold up the other."""
    await migrate_sqlite(tmp_path)
    links, clicks = await open_sqlite(tmp_path), await open_sqlite(tmp_path, writes="clicks")
    with contextlib.closing(apsw.Connection(str(tmp_path / "laconic.db"))) as blocker:
        blocker.execute("BEGIN IMMEDIATE")
        await clicks.execute(
            "INSERT INTO link_total (link_id, workspace_id, clicks, bot_clicks) VALUES (1, 1, 5, 0)"
        )
        blocker.execute("ROLLBACK")
    assert await links.fetch_one("SELECT clicks FROM link_total WHERE link_id = 1") == (5,)
    assert await links.fetch_hot("SELECT clicks FROM link_total WHERE link_id = $1", 1) == (5,)
    await links.close()
    await clicks.close()


async def test_tidy_empties_a_large_log(sqlite: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The write-ahead log does not grow for ever."""
    monkeypatch.setattr("laconic.storage.sqlite_checkpoint._CUT_BYTES", 1024)
    await sqlite.execute_many(
        "INSERT INTO thing VALUES ($1, $2)", [(n, "x" * 500 + str(n)) for n in range(2000)]
    )
    assert (await sqlite.sizes())["wal"] > 100_000
    await sqlite.tidy()
    assert (await sqlite.sizes())["wal"] == 0
    await sqlite.close()


async def test_tidy_begins_a_log_anew_when_nobody_reads_it(
    sqlite: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader keeps it and hinders nobody; after him the file is written from its beginning, and grows no more."""
    monkeypatch.setattr("laconic.storage.sqlite_checkpoint._LIMIT_BYTES", 1024)
    names = [(n, "x" * 500 + str(n)) for n in range(2000)]
    with contextlib.closing(apsw.Connection(str(tmp_path / "laconic.db"))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM thing").fetchall()
        await sqlite.execute_many("INSERT INTO thing VALUES ($1, $2)", names[:1000])
        await sqlite.tidy()
        before = (await sqlite.sizes())["wal"]
        await sqlite.execute_many("INSERT INTO thing VALUES ($1, $2)", names[1000:1200])
        grown = (await sqlite.sizes())["wal"]
        assert grown > before
    await sqlite.tidy()
    await sqlite.execute_many("INSERT INTO thing VALUES ($1, $2)", names[1200:])
    assert (await sqlite.sizes())["wal"] == grown
    assert await sqlite.fetch_one("SELECT count(*) FROM thing") == (2000,)
    await sqlite.close()


async def test_tidy_begins_a_log_anew_though_writers_do_not_pause(
    sqlite: SqliteDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written while the log is copied goes with it, and the next one writes from the file's beginning."""
    monkeypatch.setattr(sqlite_checkpoint, "_LIMIT_BYTES", 1024)
    copy_nearly_all = sqlite_checkpoint._copy_nearly_all

    def copy_while_another_writes(connection: apsw.Connection) -> tuple[int, int]:
        # A reader from before keeps the copy from reaching what is written during it.
        path = str(tmp_path / "laconic.db")
        with (
            contextlib.closing(apsw.Connection(path)) as reader,
            contextlib.closing(apsw.Connection(path)) as writer,
        ):
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM thing").fetchall()
            writer.execute("INSERT INTO thing VALUES (-1, 'meanwhile')")
            return copy_nearly_all(connection)

    await sqlite.execute_many(
        "INSERT INTO thing VALUES ($1, $2)", [(n, "x" * 500 + str(n)) for n in range(99)]
    )
    monkeypatch.setattr(sqlite_checkpoint, "_copy_nearly_all", copy_while_another_writes)
    await sqlite.tidy()
    before = (await sqlite.sizes())["wal"]
    await sqlite.execute("INSERT INTO thing VALUES (100, 'next')")
    assert (await sqlite.sizes())["wal"] == before
    assert await sqlite.fetch_one("SELECT count(*) FROM thing") == (101,)
    await sqlite.close()


async def test_a_disk_that_takes_no_more_is_unavailable_and_nothing_is_half_done(tmp_path: Path) -> None:
    """The limit of a file's size stands in for a full disk; when it is lifted, writing goes on."""
    code = """
import asyncio, resource, signal, sys
from pathlib import Path
from laconic.errors import Unavailable
from laconic.storage.sqlite import open_sqlite
async def main():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    database = await open_sqlite(Path(sys.argv[1]))
    await database.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT)")
    size = (await database.sizes())["wal"]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, resource.RLIM_INFINITY))
    rows = [(number, "x" * 4000) for number in range(100)]
    try:
        await database.insert_many("thing", ("id", "name"), rows)
    except Unavailable as error:
        print("unavailable")
    print(await database.fetch_all("SELECT count(*) FROM thing"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await database.insert_many("thing", ("id", "name"), rows)
    print(await database.fetch_all("SELECT count(*) FROM thing"))
    await database.close()
asyncio.run(main())
"""
    await migrate_sqlite(tmp_path)
    process = await _python(code, tmp_path)
    assert process.stdout.splitlines() == ["unavailable", "[(0,)]", "[(100,)]"], process.stderr


async def test_a_closed_database_is_unavailable(sqlite: SqliteDatabase) -> None:
    """A late caller gets an error that it understands."""
    await sqlite.close()
    with pytest.raises(Unavailable):
        await sqlite.execute("DELETE FROM thing")
    with pytest.raises(Unavailable):
        await sqlite.fetch_all("SELECT 1")


def test_a_second_server_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    """The message names the process that holds it; when that ends, the folder is free."""
    held = claim_folder(tmp_path)
    with pytest.raises(DataFolderInUse, match=str(os.getpid())):
        claim_folder(tmp_path)
    os.close(held)
    os.close(claim_folder(tmp_path))


def test_a_network_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """File locks and shared memory do not hold there what the log needs."""
    monkeypatch.setattr(data_folder, "disk_kind", lambda folder: "nfs4")
    with pytest.raises(DataFolderInUse, match="network disk"):
        claim_folder(tmp_path)


_EVENT_COLUMNS = ("id", "short_link_id", "workspace_id", "clicked_at")
_MONTH = month_from_name("2025-10")


async def _append_event(folder: Path, number: int) -> list[int]:
    """Adds a click to the month and gives the ids of all that it has."""
    clicks = await open_sqlite(folder, writes="clicks")
    try:
        row = [[number], [7], [1], [begin_of(_MONTH)]]
        await clicks.append_events(_MONTH, "journal", [number], _EVENT_COLUMNS, row)
        rows = await clicks.fetch_events(_MONTH, "SELECT id FROM click_event")
        return [found[0] for found in rows]
    finally:
        await clicks.close()


def _drop_half(folder: Path, log: bytes) -> None:
    """What a drop leaves that was killed after its first step."""
    (folder / "clicks-2025-10.db").unlink()
    (folder / "clicks-2025-10.db-wal").write_bytes(log)


async def test_a_log_left_by_a_dropped_month_does_not_get_into_a_new_one(tmp_path: Path) -> None:
    """SQLite would take it for the new file's own and write the old pages over the new ones."""
    await migrate_sqlite(tmp_path)
    clicks = await open_sqlite(tmp_path, writes="clicks")
    for number in (1, 2):
        row = [[number], [7], [1], [begin_of(_MONTH)]]
        await clicks.append_events(_MONTH, "journal", [number], _EVENT_COLUMNS, row)
    log = (tmp_path / "clicks-2025-10.db-wal").read_bytes()
    assert log
    await clicks.close()
    _drop_half(tmp_path, log)
    assert await _append_event(tmp_path, 3) == [3]


async def test_looking_into_a_month_makes_no_file(tmp_path: Path) -> None:
    """Not even an empty one, which would have no tables."""
    await migrate_sqlite(tmp_path)
    database = await open_sqlite(tmp_path)
    try:
        assert await database.fetch_events(_MONTH, "SELECT id FROM click_event") == []
        assert await database.change_events(_MONTH, "DELETE FROM click_event") == 0
        await database.drop_events(_MONTH)
        assert await database.event_months() == []
    finally:
        await database.close()
