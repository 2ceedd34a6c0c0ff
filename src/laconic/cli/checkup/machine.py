"""What the machine gives: room on the disks, files that may be open, a clock that is right."""

import ctypes
import os
import resource
from collections.abc import Iterator
from pathlib import Path

from laconic.settings import Settings
from laconic.storage.examine import Finding

_LITTLE_BYTES, _LITTLE_SHARE = 1024**3, 0.10
_NONE_BYTES, _NONE_SHARE = 100 * 1024**2, 0.02
_LITTLE_INODES, _NONE_INODES = 10_000, 1_000
_FEW_FILES = 4_096
# What adjtimex(2) returns when nobody sets the clock.
_CLOCK_ERROR = 5


def look_at_machine(settings: Settings) -> Iterator[Finding]:
    yield from _rooms(settings)
    yield from _owners(settings.data_folder)
    yield _open_files(settings.data_folder)
    yield _clock()


def _rooms(settings: Settings) -> Iterator[Finding]:
    places = {"data folder": settings.data_folder}
    if settings.backup_dir:
        places["backup folder"] = Path(settings.backup_dir).resolve()
    if settings.click_archive_dir:
        places["archive folder"] = Path(settings.click_archive_dir).resolve()
    for name, path in places.items():
        if not path.is_dir():
            remedy = f"Make it, for the user who runs Laconic: install -d -m 700 -o USER {path}"
            yield Finding("disk", "warning", f"the {name} {path} is not there yet", remedy)
            continue
        if not os.access(path, os.W_OK):
            remedy = f"chown it to whoever runs Laconic (user {os.geteuid()})."
            yield Finding("disk", "problem", f"the {name} {path} cannot be written", remedy)
        yield from _room(name, path)
    if settings.backup_dir and _same_disk(places["backup folder"], settings.data_folder):
        remedy = "Put backups on another disk, or copy them to another machine."
        yield Finding("backup_disk", "warning", "backups lie on the same disk as the data", remedy)


def _owners(folder: Path) -> Iterator[Finding]:
    """A command that root has run on the server's folder may leave what the server cannot open."""
    if not folder.is_dir():
        return
    owner = folder.stat().st_uid
    strange = sorted(path.name for path in folder.iterdir() if path.lstat().st_uid != owner)
    if strange:
        text = f"not of the same user as {folder} itself (user {owner}): {', '.join(strange)}"
        remedy = f"chown -R {owner} {folder}; and run commands as the user who runs the server."
        yield Finding("file_owners", "problem", text, remedy)


def _same_disk(one: Path, other: Path) -> bool:
    return one.is_dir() and other.is_dir() and one.stat().st_dev == other.stat().st_dev


def _room(name: str, path: Path) -> Iterator[Finding]:
    figures = os.statvfs(path)
    free, whole = figures.f_bavail * figures.f_frsize, figures.f_blocks * figures.f_frsize
    text = f"{free / 1024**3:.1f} GiB free of {whole / 1024**3:.1f} ({name})"
    share = free / max(1, whole)
    is_little = (share < _LITTLE_SHARE and free < 10 * _LITTLE_BYTES) or free < _LITTLE_BYTES
    remedy = "Remove what is not needed, or give it a larger disk."
    yield _judged("disk", text, share < _NONE_SHARE or free < _NONE_BYTES, is_little, remedy)
    # Some file systems have as many as they want, and say 0.
    if figures.f_files:
        left = figures.f_favail
        remedy = "Remove many small files on this disk."
        text = f"{left:,} inodes free ({name})"
        yield _judged("inodes", text, left < _NONE_INODES, left < _LITTLE_INODES, remedy)


def _judged(subject: str, text: str, is_none: bool, is_little: bool, remedy: str) -> Finding:
    if is_none:
        return Finding(subject, "problem", text, f"{remedy} Creates are refused when it is full.")
    if is_little:
        return Finding(subject, "warning", text, remedy)
    return Finding(subject, "ok", text)


def _open_files(folder: Path) -> Finding:
    limit, whose = _limit_of_server(folder), "the server"
    if limit is None:
        limit, whose = resource.getrlimit(resource.RLIMIT_NOFILE)[0], "a server started from here"
    text = f"{whose} may have {limit:,} files and connections open"
    if 0 <= limit < _FEW_FILES:
        remedy = "Raise it: LimitNOFILE=65536 in the systemd unit, or `ulimit -n 65536`."
        return Finding("open_files", "warning", text, remedy)
    return Finding("open_files", "ok", text)


def _limit_of_server(folder: Path) -> int | None:
    """Of the server that runs on the folder; None when none does, or it is another's."""
    try:
        pid = int((folder / "server.lock").read_text())
        lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
        return next(int(line.split()[3]) for line in lines if line.startswith("Max open files"))
    except (OSError, ValueError, StopIteration):
        return None


def _clock() -> Finding:
    """By the kernel: does anything keep the clock right?"""
    try:
        state = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512))
    except (OSError, AttributeError):
        state = -1
    if state == _CLOCK_ERROR:
        remedy = "Run chrony or systemd-timesyncd. (In a container: on its host.)"
        return Finding("clock", "warning", "nothing keeps this machine's clock right", remedy)
    return Finding("clock", "ok", "the clock is kept right" if state >= 0 else "the clock cannot be asked")
