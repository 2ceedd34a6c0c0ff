"""docs/commands.md names every command with all of its options and none that is not there, and its examples work."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from laconic.cli.main import laconic

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
SHARED = {"--data", "--json", "--help", "--version"}


def commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


def section(path: str) -> str:
    return PAGE.partition(f"## {path}\n")[2].partition("\n## ")[0]


def options_of(command: click.Command) -> set[str]:
    return {
        name for one in command.params for name in (*one.opts, *one.secondary_opts) if name.startswith("--")
    }


def test_names_every_command_and_no_other() -> None:
    """What no page names cannot be found."""
    documented = re.findall(r"^## (laconic .+)$", PAGE, re.MULTILINE)
    assert documented == [path for path, _ in commands(laconic, "laconic")]


def test_names_every_option_and_no_other() -> None:
    """In the tables, which people read, and not only in an example."""
    for path, command in commands(laconic, "laconic"):
        rows = "".join(re.findall(r"^\| (`--.+?) \|", section(path), re.MULTILINE))
        assert set(re.findall(r"`(--[a-z-]+)", rows)) == options_of(command) - SHARED, path


def test_the_examples_work(tmp_path: Path) -> None:
    """In an empty folder and in the order of the page, each line that stands behind a prompt."""
    lines = re.findall(r"^\$ (.+)$", PAGE, re.MULTILINE)
    assert len(lines) >= 10
    clean = {name: value for name, value in os.environ.items() if not name.startswith("LACONIC_")}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=tmp_path,
            env={**clean, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{line}: {done.stderr}"


def test_the_help_of_every_command_has_an_example() -> None:
    """Who asks for help wants to see how it is done."""
    for path, command in commands(laconic, "laconic"):
        assert path in (command.help or ""), path
