"""Is an SQLite data folder whole, and does it look as it should?"""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path

from laconic.errors import Unavailable
from laconic.storage.examine import Finding
from laconic.storage.folder import disk_kind, is_network_disk
from laconic.storage.sqlite import OLDEST_SQLITE, library_version
from laconic.storage.sqlite_checkpoint import log_of
from laconic.storage.sqlite_connect import connect_existing, rows_of, translated
from laconic.storage.sqlite_events import event_file, months_in
from laconic.storage.sqlite_snapshot import CLICKS, LINKS

_LARGE_WAL_BYTES = 256 * 1024 * 1024
# Comparing indexes with their tables reads at random: of 12 GB it had not ended after six minutes (measured), and the log
# grows meanwhile, because a reader keeps it.
_MOST_COMPARED_PAGES = 1024 * 1024 * 1024 // 4096
_RESTORE = "Stop the server, keep a copy of the folder, and restore the last backup (`laconic restore`)."


async def check_sqlite(folder: Path, *, is_thorough: bool = True) -> list[str]:
    """What is damaged, in SQLite's own words; off the loop, beside whoever works. Thorough: files of a usual size are
    asked as well whether each index holds what its table does."""
    return await asyncio.to_thread(_check_files, folder, is_thorough)


def _check_files(folder: Path, is_thorough: bool) -> list[str]:
    found = []
    for path in _files(folder):
        try:
            with translated():
                connection = connect_existing(path, read_only=True)
                if connection is None:
                    continue
                with contextlib.closing(connection):
                    ((pages,),) = rows_of(connection, "PRAGMA page_count")
                    is_compared = is_thorough and pages <= _MOST_COMPARED_PAGES
                    pragma = "integrity_check" if is_compared else "quick_check"
                    said = [str(row[0]) for row in rows_of(connection, f"PRAGMA {pragma}(10)")]
        except Unavailable as error:
            said = [str(error)]
        found += [f"{path.name}: {line}" for line in said if line != "ok"]
    return found


def _files(folder: Path) -> list[Path]:
    return [folder / LINKS, folder / CLICKS, *(event_file(folder, month) for month in months_in(folder))]


async def examine_sqlite(folder: Path) -> list[Finding]:
    findings = [_version(), *_disk(folder), *_logs(folder), *_modes(folder)]
    damage = await check_sqlite(folder, is_thorough=False)
    if damage:
        return [*findings, Finding("integrity", "problem", "; ".join(damage), _RESTORE)]
    return [*findings, Finding("integrity", "ok", f"{len(_files(folder))} files are whole")]


def _version() -> Finding:
    text = f"SQLite {'.'.join(map(str, library_version()))}"
    if library_version() < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        return Finding("sqlite_version", "problem", text, f"Install apsw {oldest} or newer.")
    return Finding("sqlite_version", "ok", text)


def _disk(folder: Path) -> Iterator[Finding]:
    kind = disk_kind(folder)
    if is_network_disk(kind):
        remedy = "Use a folder on a local disk (--data), or PostgreSQL."
        yield Finding("disk_kind", "problem", f"{folder} lies on a network disk ({kind})", remedy)


def _logs(folder: Path) -> Iterator[Finding]:
    logs = [log_of(path) for path in _files(folder)]
    size = sum(log.stat().st_size for log in logs if log.exists())
    text = f"{size / 1024 / 1024:.1f} MiB wait in the logs (WAL)"
    if size > _LARGE_WAL_BYTES:
        remedy = "Does upkeep run (--role all)? A reader that never ends, such as an open sqlite3 shell, keeps it too."
        yield Finding("wal_size", "warning", text, remedy)
    else:
        yield Finding("wal_size", "ok", text)


def _modes(folder: Path) -> Iterator[Finding]:
    open_to_others = [path.name for path in (folder, *_files(folder)) if path.stat().st_mode & 0o077]
    if folder.stat().st_mode & 0o077 and open_to_others:
        names = ", ".join(open_to_others)
        yield Finding("file_modes", "warning", f"others may look into {names}", f"chmod -R go= {folder}")
