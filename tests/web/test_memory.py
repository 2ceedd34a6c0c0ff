"""How much memory is left, by a group's files as the kernel writes them."""

from pathlib import Path

import pytest

from laconic.web.memory import MemoryRoom

_MEBIBYTE = 1024 * 1024


@pytest.fixture
def group(tmp_path: Path) -> Path:
    """One with a limit of 256 MiB, of which 250 are taken, 200 of these by pages of files."""
    (tmp_path / "memory.max").write_text(f"{256 * _MEBIBYTE}\n")
    (tmp_path / "memory.current").write_text(f"{250 * _MEBIBYTE}\n")
    _tell_of_files(tmp_path, 200)
    return tmp_path


def _tell_of_files(group: Path, mebibytes: int) -> None:
    files = mebibytes * _MEBIBYTE // 2
    (group / "memory.stat").write_text(f"anon 1\nactive_file {files}\ninactive_file {files}\nslab 3\n")


def test_pages_of_files_leave_room(group: Path) -> None:
    """A large database in a small container fills its group with them, and all is well."""
    room = MemoryRoom(group)
    room.look()
    assert room.left() == 206 * _MEBIBYTE
    assert not room.is_short


def test_it_is_short_until_there_is_room_again(group: Path) -> None:
    """What the process itself has taken cannot be taken back."""
    room = MemoryRoom(group)
    _tell_of_files(group, 0)
    room.look()
    assert room.is_short
    _tell_of_files(group, 100)
    room.look()
    assert not room.is_short


@pytest.mark.parametrize(
    ("name", "text"), [("memory.max", "max\n"), ("memory.max", "?"), ("memory.stat", "anon 1\n")]
)
def test_without_a_limit_that_can_be_read_there_is_room(group: Path, name: str, text: str) -> None:
    """No limit, or files of another kernel: nothing is refused for a guess."""
    (group / name).write_text(text)
    room = MemoryRoom(group)
    room.look()
    assert room.left() == float("inf")


def test_no_group_is_no_limit(tmp_path: Path) -> None:
    """As on a machine that has no groups of this version."""
    assert MemoryRoom(tmp_path / "nowhere").left() == float("inf")
