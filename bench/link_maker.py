"""Puts links into a database by the million, as rows: for questions of size, where how they got there is not asked.

The server must not run meanwhile. On SQLite the indexes that hold these links are left away and built at the end, which
is ten times faster than keeping them; `lean` builds none of lists, for sizes that the disk would not bear.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from bench.stores import Store
from laconic.clock import DAY, now
from laconic.codes.alphabet import ALPHABET
from laconic.ids import first_id
from laconic.storage.engines import migrate, open_database
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, DEFAULT_WORKSPACE_ID

_SPACE = len(ALPHABET) ** 7
# Odd, not divisible by 31, hence coprime to 62^7: counting through it meets every code once.
_STEP = 2_654_435_761
_BATCH = 100_000
_DAYS = 360
# The rest has defaults.
_COLUMNS = ("id", "workspace_id", "domain_id", "short_code", "original_url", "created_at", "updated_at")
# The indexes that only lists read, and all that hold such links.
_OF_LISTS = ("short_link_list_idx", "short_link_live_idx")
_HOLDING = ("short_link_code_key", *_OF_LISTS)
_LETTERS = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Made:
    seconds: float
    bytes: int


def codes(first: int, count: int) -> list[str]:
    """Of these numbers: different ones, in no order."""
    places = np.arange(first, first + count, dtype=np.int64) * _STEP % _SPACE
    letters = np.empty((count, 7), dtype=np.uint8)
    for column in range(7):
        letters[:, column] = _LETTERS[places % 62]
        places //= 62
    return [text.decode() for text in letters.view("S7").ravel().tolist()]


def sample(total: int, count: int, seed: int = 3) -> list[str]:
    """Codes of links that `make` makes, at random."""
    chosen = np.random.default_rng(seed).integers(0, total, count).tolist()
    return [codes(number, 1)[0] for number in chosen]


def workspace_ids(count: int) -> list[int]:
    return [DEFAULT_WORKSPACE_ID + number for number in range(count)]


def _rows(total: int, workspaces: int) -> Iterator[list[Any]]:
    """Batches, oldest first; the workspaces by turns."""
    begun, span = now() - _DAYS * DAY, (_DAYS - 1) * DAY
    owners = workspace_ids(workspaces)
    for first in range(0, total, _BATCH):
        count = min(_BATCH, total - first)
        batch: list[Any] = []
        for number, code in zip(range(first, first + count), codes(first, count), strict=True):
            moment = begun + span * number // total
            url = f"https://example.com/articles/{number:012}"
            link_id = first_id(moment) + number % _BATCH
            batch.append((link_id, owners[number % workspaces], DEFAULT_DOMAIN_ID, code, url, moment, moment))
        yield batch


async def make(store: Store, total: int, *, workspaces: int = 1, lean: bool = False) -> Made:
    """So many links in a new store, and how many bytes of disk they take there."""
    began = time.monotonic()
    await migrate(store.url)
    await _make_workspaces(store, workspaces)
    database_file = store.folder / "laconic.db"
    if store.url.startswith("sqlite:"):
        _fill_sqlite(database_file, total, workspaces, lean)
        return Made(time.monotonic() - began, database_file.stat().st_size)
    database = await open_database(store.url)
    try:
        for batch in _rows(total, workspaces):
            await database.copy_in("short_link", _COLUMNS, batch)
        await database.execute("ANALYZE short_link")
        row = await database.fetch_one("SELECT pg_total_relation_size('short_link')")
    finally:
        await database.close()
    return Made(time.monotonic() - began, int(row[0]) if row else 0)


async def _make_workspaces(store: Store, count: int) -> None:
    database = await open_database(store.url)
    moment = now()
    rows = [
        (workspace_id, f"Workspace {workspace_id}", f"workspace-{workspace_id}", moment, moment)
        for workspace_id in workspace_ids(count)[1:]
    ]
    try:
        await database.copy_in("workspace", ("id", "name", "slug", "created_at", "updated_at"), rows)
    finally:
        await database.close()


def _fill_sqlite(file: Path, total: int, workspaces: int, lean: bool) -> None:
    connection = apsw.Connection(str(file))
    try:
        for setting in ("synchronous = OFF", "cache_size = -262144", "wal_autocheckpoint = 20000"):
            connection.execute(f"PRAGMA {setting}").fetchall()
        indexes = connection.execute(
            f"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND name IN {_HOLDING}"
        ).fetchall()
        for name, _ in indexes:
            connection.execute(f"DROP INDEX {name}")
        marks = ", ".join("?" * len(_COLUMNS))
        statement = f"INSERT INTO short_link ({', '.join(_COLUMNS)}) VALUES ({marks})"
        for batch in _rows(total, workspaces):
            with connection:
                connection.executemany(statement, batch)
        for name, sql in indexes:
            if not (lean and name in _OF_LISTS):
                connection.execute(str(sql))
        # Searching is another question: its index would be built behind the server's back while it is measured.
        connection.execute("UPDATE search_position SET past = (SELECT max(id) FROM short_link)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()
