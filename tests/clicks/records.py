"""What journal tests share: visitors, reading a journal's files back, a disk that takes no more."""

import contextlib
import os
import resource
import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from laconic.clicks.click import Click, Visitor, read_record
from laconic.clicks.enrich import Enricher
from laconic.clicks.ingest import Ingest
from laconic.clicks.journal import SEGMENT_HEAD, Journal
from laconic.clicks.store import ClickStore


@cache
def enricher() -> Enricher:
    """Made once: its tables take a moment to load."""
    return Enricher.from_settings("truncate", "")


def open_ingest(folder: Path, store: ClickStore, **clocks: Any) -> Ingest:
    return Ingest(folder, store, enricher(), **clocks)


VISITOR = Visitor(b"203.0.113.9", b"Mozilla/5.0", b"https://news.example/", b"de")
MOMENT = 1_750_000_000_000_000


def click_on(journal: Journal, link_id: int, count: int = 1, moment: int = MOMENT) -> None:
    """One batch, as one loop tick writes it."""
    journal.write([(moment + number, link_id, VISITOR) for number in range(count)])


def die_after_clicks(folder: Path, link_id: int, count: int) -> None:
    """A process that writes clicks and is killed."""
    pid = os.fork()
    if pid == 0:
        click_on(Journal(folder), link_id, count=count)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def open_descriptors() -> int:
    return len(files(Path("/proc/self/fd")))


def segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.segment"))


def clicks_of(folder: Path) -> list[Click]:
    """Every sound record from the beginning of each segment."""
    found = []
    for path in segments(folder):
        data = path.read_bytes()
        offset = SEGMENT_HEAD.size
        while record := read_record(data, offset):
            click, offset = record
            found.append(click)
    return found


def record_places(path: Path) -> list[tuple[int, int]]:
    """Where each record of a segment begins and ends."""
    data = path.read_bytes()
    offset = SEGMENT_HEAD.size
    places = []
    while record := read_record(data, offset):
        places.append((offset, record[1]))
        offset = record[1]
    return places


def flip_byte(path: Path, offset: int) -> None:
    with path.open("r+b") as file:
        byte = os.pread(file.fileno(), 1, offset)
        os.pwrite(file.fileno(), bytes([byte[0] ^ 0xFF]), offset)


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow or be written past `size`: a write across it is cut short, one behind it is refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
