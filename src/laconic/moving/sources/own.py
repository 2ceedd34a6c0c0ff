"""A file that `laconic export` has written."""

import gzip
import io
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

from laconic.errors import ChoiceRefused
from laconic.moving.lines import FORMAT, read_record
from laconic.moving.records import Record, Unreadable

_LONGEST_LINE = 16 * 1024 * 1024


class OwnFile:
    """See `Source`. Whoever reads it to its end knows whether the file was whole."""

    kind = "laconic"

    def __init__(self, path: Path) -> None:
        self._path = path
        self.is_whole = False
        with self._opened() as file:
            self.name = _name_of(file.readline(_LONGEST_LINE))

    async def size(self) -> int | None:
        return None

    async def records(self) -> AsyncIterator[Record]:
        with self._opened() as file:
            number = 0
            while line := _next_line(file):
                number += 1
                if number == 1 or not line.strip():
                    continue
                record = _read(line, f"line {number}")
                if record == "end":
                    self.is_whole = True
                elif not isinstance(record, str):
                    yield record

    async def close(self) -> None:
        pass

    def _opened(self) -> io.BufferedIOBase:
        with self._path.open("rb") as file:
            is_compressed = file.read(2) == b"\x1f\x8b"
        return gzip.open(self._path, "rb") if is_compressed else self._path.open("rb")


def _next_line(file: io.BufferedIOBase) -> bytes:
    """Empty at the end, also where a compressed file was cut off."""
    try:
        return file.readline(_LONGEST_LINE)
    except (EOFError, zlib.error):
        return b""


def _read(line: bytes, place: str) -> Record | str:
    try:
        kind, record = read_record(line.decode(), place)
    except UnicodeDecodeError:
        return Unreadable(place, "encoding", "The line is not UTF-8.")
    except ValueError as error:
        return Unreadable(place, "malformed", str(error))
    found: Record | str = kind if kind in ("export", "end") else record
    return found


def _name_of(line: bytes) -> str:
    try:
        kind, head = read_record(line.decode(), "line 1")
    except ValueError:
        raise ChoiceRefused("source", "The file does not begin as an export of Laconic does.") from None
    if kind != "export" or not isinstance(head.get("source"), str):
        raise ChoiceRefused("source", "The file does not begin as an export of Laconic does.")
    if head.get("format") != FORMAT:
        raise ChoiceRefused(
            "source", f"The file has format {head.get('format')}; this release reads {FORMAT}."
        )
    return str(head["source"])
