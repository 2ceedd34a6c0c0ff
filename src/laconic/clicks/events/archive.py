"""A month of raw clicks as one compressed file, for the operator to keep when the month is dropped.

    <folder>/clicks-2025-10.ndjson.gz       one click a line, oldest first, of all workspaces
    <folder>/clicks-2025-10-2.ndjson.gz     clicks of that month that came after it was dropped
    <folder>/.clicks-2025-10.ndjson.gz      one being written

A file that can be seen is whole and on the disk, and is never written to again.
"""

import asyncio
import contextlib
import fcntl
import filecmp
import gzip
import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import BinaryIO

from laconic.clicks.events.model import ClickEvent, Place
from laconic.clicks.events.store import EventStore
from laconic.clock import DAY
from laconic.errors import Unavailable
from laconic.storage.months import begin_of, month_name

_PAGE = 5_000


class Archive:
    """The verb "archive"."""

    def __init__(
        self,
        store: EventStore,
        folder: Path,
        *,
        page: int = _PAGE,
        before_page: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`before_page` says by raising that another process has the job now."""
        self._store = store
        self._before_page = before_page
        self._folder = folder
        self._page = page

    async def write(self, month: int) -> Path | None:
        """Where the month's clicks are now, all of them; None when it has none.

        Raises OSError when the folder cannot be written, Unavailable when the clicks cannot be read or have changed
        meanwhile. Nothing that was archived before is touched.
        """
        hidden = self._folder / f".{_file_name(month)}"
        with await asyncio.to_thread(_opened, self._folder, hidden) as file:
            try:
                written = await self._copy(month, file)
                if written != await self._count(month):
                    raise Unavailable("Clicks of the month came or were erased while it was archived.")
                if written:
                    return await asyncio.to_thread(_keep, hidden, file, month)
            except BaseException:
                hidden.unlink(missing_ok=True)
                raise
            hidden.unlink()
            return None

    async def _copy(self, month: int, file: BinaryIO) -> int:
        """A page at a time: whatever their number, only one page is in memory."""
        written = 0
        behind = Place(begin_of(month), -1)
        # No name and no time inside: the same clicks make the same bytes.
        with contextlib.closing(gzip.GzipFile("", "wb", 6, file, mtime=0)) as compressed:
            while page := await self._store.page_of_all(month, behind, self._page):
                # Compressing takes milliseconds, which the loop has not.
                await asyncio.to_thread(_write, compressed, page)
                written += len(page)
                behind = page[-1][2].place
                if self._before_page is not None:
                    await self._before_page()
        return written

    async def _count(self, month: int) -> int:
        """Day by day, so that no statement takes long."""
        days = range(begin_of(month), begin_of(month + 1), DAY)
        return sum([await self._store.count_all(month, start, start + DAY) for start in days])


def _file_name(month: int, number: int = 1) -> str:
    return f"clicks-{month_name(month)}{f'-{number}' if number > 1 else ''}.ndjson.gz"


def _opened(folder: Path, hidden: Path) -> BinaryIO:
    """An empty file that no other process writes to: without a lock two would mix their bytes."""
    folder.mkdir(mode=0o700, exist_ok=True)
    file = os.fdopen(os.open(hidden, os.O_RDWR | os.O_CREAT, 0o600), "r+b")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever held the lock until now may have given the file its name.
        if hidden.stat().st_ino != os.fstat(file.fileno()).st_ino:
            raise BlockingIOError("another process archives the same month")
        os.fchmod(file.fileno(), 0o600)
        file.truncate()
    except BaseException:
        file.close()
        raise
    return file


def _write(compressed: gzip.GzipFile, page: Sequence[tuple[int, str | None, ClickEvent]]) -> None:
    compressed.write("".join(_lines(page)).encode())


def _lines(page: Sequence[tuple[int, str | None, ClickEvent]]) -> Iterator[str]:
    for workspace_id, code, event in page:
        owner = {"workspace_id": str(workspace_id), "short_link_id": str(event.short_link_id)}
        document = owner | event.document(code or "")
        yield json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _keep(hidden: Path, file: BinaryIO, month: int) -> Path:
    """Syncs the file and gives it a name that is free, or finds that one with the same clicks is there already: then
    a run was cut short between archiving and dropping."""
    file.flush()
    os.fsync(file.fileno())
    names = (hidden.with_name(_file_name(month, number)) for number in count(1))
    path = next(name for name in names if not name.exists() or filecmp.cmp(hidden, name, shallow=False))
    if path.exists():
        hidden.unlink()
    else:
        hidden.rename(path)
    _sync_folder(path.parent)
    return path


def _sync_folder(folder: Path) -> None:
    """A name is on the disk only when its folder is."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
