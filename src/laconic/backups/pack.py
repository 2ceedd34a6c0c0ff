"""Compresses a backup file by file, in place: killed at any moment, it is still a backup."""

import gzip
import os
import shutil
from pathlib import Path

from laconic.backups.manifest import File, Manifest

# What its own program has compressed already.
_PACKED = ".dump"
_LEVEL = 6


def is_packed(folder: Path) -> bool:
    return not any((folder / file.name).exists() for file in _to_pack(folder))


def pack(folder: Path) -> None:
    """Each file is replaced when its compressed form is on the disk."""
    for file in _to_pack(folder):
        path = folder / file.name
        packed = path.with_name(f"{path.name}.gz")
        if path.exists():
            if not packed.exists():
                _compress(path, packed)
            path.unlink()


def _to_pack(folder: Path) -> list[File]:
    return [file for file in Manifest.read(folder).files if not file.name.endswith(_PACKED)]


def _compress(path: Path, packed: Path) -> None:
    hidden = packed.with_name(f".{packed.name}")
    fd = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as target:
        with path.open("rb") as source, gzip.GzipFile("", "wb", _LEVEL, target, mtime=0) as compressed:
            shutil.copyfileobj(source, compressed, 1024 * 1024)
        target.flush()
        os.fsync(target.fileno())
    hidden.rename(packed)
