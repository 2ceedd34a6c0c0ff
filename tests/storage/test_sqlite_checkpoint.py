"""Logs that somebody reads: writers wait for him neither long nor often."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from laconic.storage import sqlite_checkpoint
from laconic.storage.sqlite_checkpoint import Checkpoints


class _Connection(apsw.Connection):
    """Notes each try to begin a log anew."""

    tries = 0

    def wal_checkpoint(self, dbname: str | None = None, mode: int = 0) -> tuple[int, int]:
        _Connection.tries += mode != apsw.SQLITE_CHECKPOINT_PASSIVE
        return super().wal_checkpoint(dbname, mode)


class _Site:
    """A file with a log, its checkpoints, and their clock."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.second = 100.0
        self._checkpoints = Checkpoints(lambda: self.second)
        self.writer = apsw.Connection(str(path))
        self.writer.execute("PRAGMA journal_mode = WAL").fetchall()
        self.writer.execute("PRAGMA wal_autocheckpoint = 0").fetchall()
        self.writer.execute("CREATE TABLE thing (name TEXT)")

    def write(self, rows: int) -> None:
        """A frame for each, at least."""
        for _ in range(rows):
            self.writer.execute("INSERT INTO thing VALUES (?)", ("x" * 3_000,))

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        with contextlib.closing(apsw.Connection(str(self.path))) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM thing").fetchall()
            yield

    def tries_after(self, seconds: float) -> int:
        """How often a checkpoint at that time tries to begin the log anew."""
        self.second += seconds
        before = _Connection.tries
        self._checkpoints.run([self.path])
        return _Connection.tries - before


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Site]:
    monkeypatch.setattr(sqlite_checkpoint, "_LIMIT_BYTES", 1024)
    monkeypatch.setattr(sqlite_checkpoint, "_FEW_FRAMES", 10)
    site = _Site(tmp_path / "some.db")
    monkeypatch.setattr(apsw, "Connection", _Connection)
    yield site
    site.writer.close()


def test_a_long_log_is_begun_anew_each_time(site: _Site) -> None:
    """Success is no reason to wait."""
    for _ in range(2):
        site.write(20)
        assert site.tries_after(1) == 1


def test_after_somebody_was_in_the_way_the_log_is_left_alone_for_a_while(site: _Site) -> None:
    """Writers have waited for him in vain, and would each second."""
    site.write(20)
    with site.reading():
        assert site.tries_after(1) == 1
        assert site.tries_after(9) == 0
        assert site.tries_after(2) == 1


def test_nobody_waits_for_one_who_reads_what_was_there_long_ago(site: _Site) -> None:
    """It is known that he keeps the log, so nothing is tried; when he has left, it is, at once."""
    with site.reading():
        site.write(20)
        assert site.tries_after(1) == 0
    assert site.tries_after(1) == 1
