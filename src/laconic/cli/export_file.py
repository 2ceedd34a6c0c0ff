"""The file of an export: it has its name only when it is whole and on the disk; until then it is called FILE.part, and
`--resume` goes on with it."""

import contextlib
import fcntl
import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from laconic.cli.failures import CommandRefused
from laconic.cli.private_files import private

_LONGEST_LINE = 16 * 1024 * 1024
_CHUNK = 1024 * 1024


def part_of(output: str) -> Path:
    return Path(f"{output}.part")


def lines_of(part: Path) -> Iterator[bytes]:
    """As far as the file can be read: a compressed one that was cut off ends in the middle."""
    with part.open("rb") as raw:
        _claim(raw, part)
        with _unpacked(raw, part) as file, contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile):
            while line := file.readline(_LONGEST_LINE):
                yield line


@contextlib.contextmanager
def written_to(output: str | None, kept_bytes: int = 0) -> Iterator[IO[str]]:
    """A text file whose first `kept_bytes` are those of the part that is there."""
    if output is None:
        yield sys.stdout
        return
    part = part_of(output)
    # What was kept is copied, so that the part stays as it is until another one has as much.
    fresh = Path(f"{part}.new") if kept_bytes else part
    with open(fresh, "wb", opener=_not_emptied) as raw:
        _claim(raw, fresh)
        raw.truncate()
        with _packed(raw, output) as target:
            if kept_bytes:
                _copy(part, target, kept_bytes)
                fresh.replace(part)
            text = io.TextIOWrapper(cast(IO[bytes], target), "utf-8", write_through=True)
            yield text
            text.flush()
            text.detach()
        raw.flush()
        os.fsync(raw.fileno())
    part.replace(output)


def _copy(part: Path, target: io.BufferedIOBase, size: int) -> None:
    with part.open("rb") as raw:
        _claim(raw, part)
        with _unpacked(raw, part) as file:
            while size > 0:
                chunk = file.read1(min(size, _CHUNK))
                target.write(chunk)
                size -= len(chunk)


def _packed(raw: io.BufferedWriter, output: str) -> contextlib.AbstractContextManager[io.BufferedIOBase]:
    if not output.endswith(".gz"):
        return contextlib.nullcontext(raw)
    # No name and no time inside: the same records make the same bytes.
    return gzip.GzipFile("", "wb", 6, raw, mtime=0)


def _unpacked(raw: io.BufferedReader, part: Path) -> contextlib.AbstractContextManager[io.BufferedIOBase]:
    return gzip.GzipFile(fileobj=raw) if part.name.endswith(".gz.part") else contextlib.nullcontext(raw)


def _not_emptied(path: str, flags: int) -> int:
    """That happens only when it is certain that nobody else writes to it."""
    return private(path, flags & ~os.O_TRUNC)


def _claim(file: IO[bytes], path: Path) -> None:
    """Until it is closed."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CommandRefused("export_running", f"Another export is writing to {path}.") from None
