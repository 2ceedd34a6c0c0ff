"""Puts the clicks of a day into the tables as ingest would leave them, in bulk.

Sketches of visitors are bytes of the right size and nothing more: reports read the number beside them.
"""

import itertools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from datasketches import frequent_strings_sketch

from laconic.clicks.events.model import COLUMNS
from laconic.clock import MINUTE
from laconic.storage.database import Database, Merge
from laconic.storage.months import month_of

if TYPE_CHECKING:
    from bench.click_maker import Clicks

Numbers = np.ndarray[Any, np.dtype[Any]]
Links = Sequence[tuple[int, int, str]]

_QUARTER = 15 * MINUTE
_COUNTS = ("clicks", "bot_clicks")
_TOTAL = Merge(keys=("link_id",), once=("workspace_id",), adds=_COUNTS, largest=("last_clicked_at",))
_EVENTS = ("workspace_id", *COLUMNS)
_ROWS_AT_ONCE = 50_000
# A sketch of 2^12 registers; fewer visitors are kept one by one.
_LARGEST_SKETCH = 2_088
_journals = itertools.count(1)


async def load_day(database: Database, links: Links, clicks: "Clicks", *, raw: bool) -> None:
    """All links are of one workspace."""
    workspace_id = links[0][1]
    ids = [link_id for link_id, _, _ in links]
    await _load_totals(database, ids, workspace_id, clicks)
    await _load_quarters(database, ids, workspace_id, clicks)
    for name, (places, values) in clicks.dimensions.items():
        await _load_dimension(database, ids, workspace_id, clicks, name, places, values)
    await _load_visitors(database, ids, workspace_id, clicks)
    await _load_top(database, ids, workspace_id, clicks)
    if raw:
        await _load_events(database, ids, workspace_id, clicks)


def _counted(keys: Numbers, is_bot: Numbers) -> tuple[Numbers, list[int], list[int]]:
    """Different keys, how often each comes, and how often with a bot."""
    found, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    bots = np.bincount(places, weights=is_bot, minlength=len(found)).astype(np.int64)
    return found, counts.tolist(), bots.tolist()


async def _copy(database: Database, table: str, columns: Sequence[str], rows: list[Any]) -> None:
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        await database.copy_in(table, columns, rows[start : start + _ROWS_AT_ONCE])


async def _load_totals(database: Database, ids: list[int], workspace_id: int, clicks: "Clicks") -> None:
    found, counts, bots = _counted(clicks.links, clicks.is_bot)
    last = int(clicks.moments[-1])
    rows = [
        (ids[link], workspace_id, count, bot, last)
        for link, count, bot in zip(found.tolist(), counts, bots, strict=True)
    ]

    await database.merge("link_total", _TOTAL, list(zip(*sorted(rows), strict=True)))


async def _load_quarters(database: Database, ids: list[int], workspace_id: int, clicks: "Clicks") -> None:
    quarters = clicks.moments // _QUARTER
    first = int(quarters[0])
    found, counts, bots = _counted(clicks.links * 100 + (quarters - first), clicks.is_bot)
    rows: list[Any] = [
        (ids[key // 100], workspace_id, (first + key % 100) * _QUARTER, count, bot)
        for key, count, bot in zip(found.tolist(), counts, bots, strict=True)
    ]
    await _copy(database, "click_quarter", ("link_id", "workspace_id", "quarter", *_COUNTS), rows)
    found, counts, bots = _counted(quarters, clicks.is_bot)
    rows = [
        (workspace_id, key * _QUARTER, count, bot)
        for key, count, bot in zip(found.tolist(), counts, bots, strict=True)
    ]
    await _copy(database, "workspace_quarter", ("workspace_id", "quarter", *_COUNTS), rows)


async def _load_dimension(
    database: Database,
    ids: list[int],
    workspace_id: int,
    clicks: "Clicks",
    name: str,
    places: Numbers,
    values: list[str],
) -> None:
    size = len(values)
    found, counts, bots = _counted(clicks.links * size + places, clicks.is_bot)
    rows: list[Any] = [
        (ids[key // size], workspace_id, clicks.day, name, values[key % size], count, bot)
        for key, count, bot in zip(found.tolist(), counts, bots, strict=True)
    ]
    columns = ("link_id", "workspace_id", "day", "dimension", "value", *_COUNTS)
    await _copy(database, "click_daily", columns, rows)
    found, counts, bots = _counted(places, clicks.is_bot)
    rows = [
        (workspace_id, clicks.day, name, values[key], count, bot)
        for key, count, bot in zip(found.tolist(), counts, bots, strict=True)
    ]
    await _copy(database, "workspace_daily", columns[1:], rows)


async def _load_visitors(database: Database, ids: list[int], workspace_id: int, clicks: "Clicks") -> None:
    people = ~clicks.is_bot
    pairs = np.unique(clicks.links[people] * 1_000_000 + clicks.visitors[people])
    found, counts = np.unique(pairs // 1_000_000, return_counts=True)
    rows: list[Any] = [
        ("link", ids[link], workspace_id, clicks.day, _sketch(count), count)
        for link, count in zip(found.tolist(), counts.tolist(), strict=True)
    ]
    everybody = int(np.unique(clicks.visitors[people]).size)
    rows.append(("workspace", workspace_id, workspace_id, clicks.day, _sketch(everybody), everybody))
    columns = ("scope", "scope_id", "workspace_id", "day", "sketch", "visitors")
    await _copy(database, "click_unique", columns, rows)


def _sketch(visitors: int) -> bytes:
    return os.urandom(min(8 + 4 * visitors, _LARGEST_SKETCH))


async def _load_top(database: Database, ids: list[int], workspace_id: int, clicks: "Clicks") -> None:
    sketch = frequent_strings_sketch(10)
    found, counts = np.unique(clicks.links, return_counts=True)
    for link, count in zip(found.tolist(), counts.tolist(), strict=True):
        sketch.update(str(ids[link]), count)
    row = (workspace_id, clicks.day, bytes(sketch.serialize()))
    await _copy(database, "workspace_top", ("workspace_id", "day", "sketch"), [row])


async def _load_events(database: Database, ids: list[int], workspace_id: int, clicks: "Clicks") -> None:
    journal_id = f"made{next(_journals)}-{clicks.day}"
    names = {name: (places.tolist(), values) for name, (places, values) in clicks.dimensions.items()}
    moments, links, visitors = (column.tolist() for column in (clicks.moments, clicks.links, clicks.visitors))
    for start in range(0, len(moments), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        some = {name: [values[place] for place in places[part]] for name, (places, values) in names.items()}
        count = len(moments[part])
        columns = {
            "workspace_id": [workspace_id] * count,
            "id": range((clicks.day << 36) + start, (clicks.day << 36) + start + count),
            "short_link_id": [ids[link] for link in links[part]],
            "clicked_at": moments[part],
            "ip_address": [f"{1 + who % 200}.{who >> 8 & 255}.{who & 255}.0/24" for who in visitors[part]],
            "visitor_hash": [(who * 2_654_435_761).to_bytes(8) for who in visitors[part]],
            "user_agent": [f"Mozilla/5.0 (X11; Linux x86_64) {name}" for name in some["browser"]],
            "referer": [f"https://{host}/" if host else None for host in some["referer"]],
            "city": [None] * count,
            **{name: some[name] for name in ("country", "device_type", "browser", "os", "language")},
        }
        sequences = range(start + 1, start + 1 + count)
        month = month_of(moments[start])
        await database.append_events(
            month, journal_id, sequences, _EVENTS, [columns[name] for name in _EVENTS]
        )
