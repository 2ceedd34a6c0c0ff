"""Commands as the shell runs them: terminals, pipes, signals, and how much is loaded for them."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from laconic import __version__
from tests.serve.running import LACONIC, PATIENCE_SECONDS, environment, run

HEAVY = ("fastapi", "starlette", "uvicorn", "rich", "structlog", "asyncpg", "pydantic")


def on_terminal(folder: Path, *arguments: str, columns: int = 80) -> str:
    """What a person sees."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [LACONIC, *arguments],
        cwd=folder,
        env={**environment(), "COLUMNS": str(columns), "TERM": "xterm"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    ):
        os.close(terminal)
        seen = b""
        try:
            while some := os.read(controller, 65536):
                seen += some
        except OSError:
            pass  # how Linux says that the other end is closed
        os.close(controller)
    return seen.decode().replace("\r\n", "\n")


def test_a_terminal_gets_a_table(tmp_path: Path) -> None:
    """It fits; what has to give way are the long texts."""
    run(tmp_path, "shorten", "https://example.com/" + "long/" * 40, "--code", "first24", "--title", "A title")
    table = on_terminal(tmp_path, "list")
    heading, row = table.splitlines()[:2]
    assert "Code" in heading
    assert "Expires" not in heading
    assert row.startswith("first24  https://example.com/long/")
    assert row.rstrip().endswith("A title")
    assert max(map(len, (row, heading.replace("\x1b[1m", "").replace("\x1b[0m", "")))) <= 80


def test_a_narrow_terminal_loses_nothing(tmp_path: Path) -> None:
    """Lines are wrapped by the terminal rather than cut."""
    run(tmp_path, "shorten", "https://example.com/", "--code", "first24", "--expires-in", "9d")
    shown = on_terminal(tmp_path, "list", columns=20)
    assert "first24" in shown
    assert "active" in shown


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """A title is written by others and must not recolour, clear or rename anything."""
    run(tmp_path, "shorten", "https://example.com/", "--title", "[bold]\x1b]0;renamed\x07")
    shown = on_terminal(tmp_path, "list", columns=200)
    assert r"[bold]\x1b]0;renamed\x07" in shown


@pytest.mark.parametrize(
    "command", [(), ("--help",), ("-h",), ("shorten", "--help"), ("key", "create", "--help")]
)
def test_help_is_there(tmp_path: Path, command: tuple[str, ...]) -> None:
    result = run(tmp_path, *command)
    assert result.returncode == 0
    assert result.stdout.startswith("Usage: laconic")
    assert result.stderr == ""


def test_version_and_module(tmp_path: Path) -> None:
    """`python -m laconic` is the same program."""
    assert run(tmp_path, "--version").stdout == f"laconic {__version__}\n"
    command = [sys.executable, "-m", "laconic", "--version"]
    assert subprocess.check_output(command, text=True) == f"laconic {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["shorten", "https://example.com/"], ["list"], ["db", "status"], ["key", "list"]],
)
def test_a_command_loads_only_what_it_needs(tmp_path: Path, arguments: list[str]) -> None:
    """The web framework alone takes half a second to import; a command in a script must not wait for it."""
    program = (
        "import sys; from laconic.cli.main import run; run(sys.argv[1:]);"
        f"print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr.splitlines()[-1] == "[]"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """laconic list | head -1"""
    for number in range(3):
        run(tmp_path, "shorten", f"https://example.com/{number}", "--title", "t" * 500)
    with subprocess.Popen(
        [LACONIC, "list"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """What could not be printed was not printed; the status says so."""
    with Path("/dev/full").open("w") as full:
        process = subprocess.run(
            [LACONIC, "--help"],
            cwd=tmp_path,
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert process.returncode == 3
    assert process.stderr == b"laconic: No space left on device.\n"


@pytest.mark.parametrize("redirection", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(tmp_path: Path, redirection: str) -> None:
    """Nor do the database's files take their numbers."""
    command = f'"{LACONIC}" shorten https://example.com/ {redirection}'
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == b""
    assert len(run(tmp_path, "list").stdout.splitlines()) == 1


def test_ctrl_c_needs_no_stack_trace(tmp_path: Path) -> None:
    """A command that waits for a database is given up."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(PATIENCE_SECONDS)
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/nothing"
        with subprocess.Popen(
            [LACONIC, "list"],
            cwd=tmp_path,
            env=environment(database_url=url, log_level="debug"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            caller, _ = silent.accept()
            with caller:
                process.send_signal(signal.SIGINT)
                out, err = process.communicate()
    assert (process.returncode, out, err) == (130, b"", b"")


def test_a_text_that_the_terminal_cannot_show_is_escaped(tmp_path: Path) -> None:
    """An old locale gets numbers instead of letters, not a stack trace."""
    run(tmp_path, "shorten", "https://example.com/", "--code", "first24", "--title", "été 日本")
    shown = subprocess.run(
        [LACONIC, "list"],
        cwd=tmp_path,
        env={**environment(), "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        check=True,
    )
    assert shown.stdout.rstrip().endswith("été ".encode("latin-1") + rb"\u65e5\u672c")


def test_commands_work_in_a_folder_that_is_elsewhere(tmp_path: Path) -> None:
    """--data before or after the command, and LACONIC_DATA, mean the same."""
    elsewhere = tmp_path / "else where"
    made = run(tmp_path, "--data", str(elsewhere), "shorten", "https://example.com/", "--json")
    code = json.loads(made.stdout)["short_code"]
    assert run(tmp_path, "expand", code, "--data", str(elsewhere)).returncode == 0
    assert run(tmp_path, "expand", code, data=str(elsewhere)).returncode == 0
    assert run(tmp_path, "expand", code).returncode == 1
