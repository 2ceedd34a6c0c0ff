"""How far the cursor has ever come, kept in a file outside the database.

A database that was put back from an older backup does not know what it has forgotten; the file beside it does. It
is a second witness: without it only what the database itself notices is noticed.
"""

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DIGITS = 20
_NAME = re.compile(r"codes-([a-z0-9-]+)-(\d{1,2})\.high-water")


def mark_file(folder: Path, region: str, code_length: int) -> Path:
    return folder / f"codes-{region}-{code_length}.high-water"


def marks_in(folder: Path) -> list[tuple[str, int, int]]:
    """Region, code length and mark of every file there."""
    found = ((_NAME.fullmatch(path.name), path) for path in sorted(folder.glob("codes-*.high-water")))
    return [(match[1], int(match[2]), HighWater(path).read()) for match, path in found if match]


class HighWater:
    """One number, which only grows, shared by the processes of one machine."""

    def __init__(self, path: Path | None) -> None:
        """None, or a folder that does not exist: nothing is kept, and the mark is always 0."""
        self._path = path if path is not None and path.parent.is_dir() else None

    def read(self) -> int:
        try:
            return _number(self._path.read_bytes()) if self._path else 0
        except OSError:
            return 0

    def raise_to(self, mark: int) -> None:
        """Durable on return. It is written in place, twenty bytes within a sector, so it is never half a number."""
        if self._path is None:
            return
        with _locked(self._path) as file:
            if mark > _number(os.pread(file, _DIGITS, 0)):
                os.pwrite(file, f"{mark:0{_DIGITS}d}\n".encode(), 0)
                os.fdatasync(file)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _number(text: bytes) -> int:
    text = text.strip()
    return int(text) if text.isdigit() else 0
