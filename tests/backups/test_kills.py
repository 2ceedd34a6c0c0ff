"""kill -9 in the middle of a backup or of a restore: what was there is there, or what was to come is, never a mixture."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Laconic

# Kills its own process at the nth moment of a kind: a file that gets its name, or bytes that go to another program.
_SCRIPT = """
import os, signal, sys
nth, moment, *arguments = sys.argv[1:]
left = int(nth)

def count():
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

if moment == "rename":
    sys.addaudithook(lambda event, _: count() if event == "os.rename" else None)
else:
    import laconic.storage.postgres_tools as tools
    send = tools._send
    async def counted(*arguments):
        count()
        await send(*arguments)
    tools._send = counted
from laconic.cli.main import run
sys.exit(run(arguments))
"""


def _run(nth: int, moment: str, *arguments: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(nth), moment, *arguments],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode


def _codes(laconic: Laconic) -> set[str]:
    return {item["short_code"] for item in laconic("list", "--json").json()["items"]}


def _make(laconic: Laconic) -> str:
    return str(laconic("shorten", "https://example.com/", "--json").json()["short_code"])


def test_killed_backup_leaves_no_backup(laconic: Laconic, tmp_path: Path) -> None:
    """It appears when it is whole; what the killed one left is removed by the next."""
    code = _make(laconic)
    folder = tmp_path / "many"
    folder.mkdir()
    assert _run(0, "rename", "backup", str(folder / "one")) == -signal.SIGKILL
    (left,) = folder.iterdir()
    assert left.name.startswith(".")
    assert _codes(laconic) == {code}
    assert laconic("backup", str(folder / "two")).status == 0
    assert [path.name for path in folder.iterdir()] == ["two"]
    assert laconic("restore", str(folder / "two"), "--check").status == 0


@pytest.fixture
def before_and_after(laconic: Laconic, tmp_path: Path) -> tuple[set[str], set[str]]:
    """Codes that are there, and those that a restore of `b` brings."""
    old = _make(laconic)
    assert laconic("backup", str(tmp_path / "b")).status == 0
    return {old, _make(laconic)}, {old}


@pytest.mark.parametrize("engine", ["sqlite"])
def test_restore_killed_at_any_file(
    laconic: Laconic, tmp_path: Path, before_and_after: tuple[set[str], set[str]]
) -> None:
    """At each name that a file gets. From the moment the plan is written it is carried out, by whoever comes next."""
    before, after = before_and_after
    statuses: list[int] = []
    seen: list[set[str]] = []
    while not statuses or statuses[-1] != 0:
        assert len(statuses) < 50
        statuses.append(_run(len(statuses), "rename", "restore", str(tmp_path / "b")))
        seen.append(_codes(laconic))
    assert statuses[:-1] == [-signal.SIGKILL] * (len(statuses) - 1)
    assert len(statuses) > 5
    assert seen[0] == before
    turn = seen.index(after)
    assert seen == [before] * turn + [after] * (len(seen) - turn)
    assert _make(laconic) not in before


@pytest.mark.parametrize("engine", ["postgres"])
def test_restore_killed_while_it_reads_the_dump(
    laconic: Laconic, tmp_path: Path, before_and_after: tuple[set[str], set[str]]
) -> None:
    """Before the first statement, within the dump, before the commit: nothing has happened."""
    before, after = before_and_after
    statuses: list[int] = []
    while not statuses or statuses[-1] != 0:
        assert len(statuses) < 50
        assert _codes(laconic) == before
        statuses.append(_run(len(statuses), "send", "restore", str(tmp_path / "b")))
    assert statuses[:-1] == [-signal.SIGKILL] * (len(statuses) - 1)
    assert len(statuses) > 3
    assert _codes(laconic) == after
    assert _make(laconic) not in before
