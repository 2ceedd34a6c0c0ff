"""What a backup says of itself: `manifest.json`, with the sum of each file, and its own.

    <backup>/manifest.json
    <backup>/laconic.db, clicks.db, clicks-2026-11.db   or   laconic.dump
    <backup>/journal/<journal id>-<n>.segment           clicks that were not counted yet

A backup that is older may be compressed: a file `x` is then `x.gz`, and its sum is that of `x` all the same.
"""

import dataclasses
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from laconic.errors import BackupUnusable

NAME = "manifest.json"
FORMAT = 1
_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class File:
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Range:
    """How far the codes of a region had come."""

    region: str
    code_length: int
    next: int


@dataclass(frozen=True, slots=True)
class Manifest:
    laconic: str
    engine: str
    schema: int
    began_at: int
    finished_at: int
    counts: dict[str, int]
    ranges: tuple[Range, ...]
    files: tuple[File, ...]
    format: int = FORMAT

    @property
    def bytes(self) -> int:
        return sum(file.bytes for file in self.files)

    def write(self, folder: Path) -> None:
        document = dataclasses.asdict(self)
        text = json.dumps({**document, "sha256": _sum_of(document)}, indent=1) + "\n"
        path = folder / NAME
        path.touch(mode=0o600)
        path.write_text(text)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        path = folder / NAME
        try:
            document = json.loads(path.read_text())
        except FileNotFoundError:
            raise BackupUnusable(f"{folder} is no backup of Laconic: it has no {NAME}.") from None
        except (OSError, ValueError) as error:
            raise BackupUnusable(f"{path} cannot be read: {error}") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise BackupUnusable(f"{path} is of a format that this release does not know.")
        if document.pop("sha256", None) != _sum_of(document):
            raise BackupUnusable(f"{path} is damaged: its sum is another one.")
        ranges = tuple(Range(**one) for one in document.pop("ranges"))
        files = tuple(File(**one) for one in document.pop("files"))
        return cls(**document, ranges=ranges, files=tuple(_safe(files)))


def _safe(files: tuple[File, ...]) -> Iterator[File]:
    """A name must not lead out of the folder, whoever wrote it."""
    for file in files:
        path = PurePosixPath(file.name)
        if path.is_absolute() or ".." in path.parts:
            raise BackupUnusable(f"The manifest names a file that is not the backup's: {file.name!r}.")
        yield file


def describe(folder: Path, path: Path) -> File:
    """Read back from the disk: what is summed is what is there."""
    size, digest = 0, hashlib.sha256()
    with path.open("rb") as source:
        while some := source.read(_CHUNK_BYTES):
            digest.update(some)
            size += len(some)
    return File(path.relative_to(folder).as_posix(), size, digest.hexdigest())


def opened(folder: Path, file: File) -> BinaryIO:
    """The file's bytes, compressed or not."""
    path = folder / file.name
    packed = path.with_name(f"{path.name}.gz")
    if path.exists() or not packed.exists():
        return path.open("rb")
    return cast("BinaryIO", gzip.open(packed, "rb"))


def verify(folder: Path, file: File, sink: Callable[[bytes], Any] = len) -> None:
    """Reads a file, gives its bytes to `sink`, and raises BackupUnusable when it is not what was written."""
    size, digest = 0, hashlib.sha256()
    try:
        with opened(folder, file) as source:
            while some := source.read(_CHUNK_BYTES):
                digest.update(some)
                size += len(some)
                sink(some)
    except FileNotFoundError:
        raise BackupUnusable(f"{file.name} of the backup is missing.") from None
    except (gzip.BadGzipFile, EOFError) as error:
        raise BackupUnusable(f"{file.name} of the backup is damaged: {error}") from None
    if (size, digest.hexdigest()) != (file.bytes, file.sha256):
        raise BackupUnusable(f"{file.name} of the backup is damaged: its sum is another one.")


def _sum_of(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
