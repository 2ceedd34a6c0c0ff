"""Commands run in the test's own process, on every engine; what needs a process of its own says so."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from laconic.cli.main import run


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        """What a program reads of a command that went well."""
        assert self.status == 0, self.err
        return json.loads(self.out)

    def line(self) -> str:
        """The only line of a command that went well."""
        assert self.status == 0, self.err
        (line,) = self.out.splitlines()
        return line

    def problem(self) -> Any:
        """What a program reads of a command that did not."""
        assert self.out == ""
        (line,) = self.err.splitlines()
        return json.loads(line)


Laconic = Callable[..., Result]


@pytest.fixture
def laconic_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[[str], Laconic]:
    """`laconic` on a database, in an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def at(database_url: str) -> Laconic:
        monkeypatch.setenv("LACONIC_DATABASE_URL", database_url)

        def laconic(*arguments: str) -> Result:
            status = run(arguments)
            captured = capsys.readouterr()
            return Result(status, captured.out, captured.err)

        return laconic

    return at


@pytest.fixture
def laconic(laconic_at: Callable[[str], Laconic], migrated_url: str) -> Laconic:
    """`laconic` on an empty database with this release's schema."""
    return laconic_at(migrated_url)
