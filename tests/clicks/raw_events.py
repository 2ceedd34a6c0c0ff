"""Raw clicks as ingest stores them."""

import itertools
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from laconic.storage.database import Database
from laconic.storage.months import month_of

COLUMNS = (
    *("id", "short_link_id", "workspace_id", "clicked_at", "ip_address", "visitor_hash", "user_agent"),
    *("referer", "country", "city", "device_type", "browser", "os", "language"),
)
_numbers = itertools.count(1)

VISITOR = bytes(range(16))


def event(link_id: int, moment: int, **fields: Any) -> dict[str, Any]:
    """A click by somebody, with everything that can be known of it."""
    return {
        "id": 10**17 + next(_numbers),
        "short_link_id": link_id,
        "workspace_id": 1,
        "clicked_at": moment,
        "ip_address": "203.0.113.0",
        "visitor_hash": VISITOR,
        "user_agent": "Mozilla/5.0 (X11; Linux x86_64)",
        "referer": "https://news.example/",
        "country": "DE",
        "city": "Köln",
        "device_type": "desktop",
        "browser": "Firefox",
        "os": "Linux",
        "language": "de",
        **fields,
    }


async def store_events(database: Database, events: Sequence[dict[str, Any]]) -> None:
    """Writes them as one journal's batch for each month. `database` was opened with writes="clicks"."""
    ordered = sorted(events, key=lambda one: month_of(one["clicked_at"]))
    for month, some in groupby(ordered, key=lambda one: month_of(one["clicked_at"])):
        rows = list(some)
        columns = [[one[name] for one in rows] for name in COLUMNS]
        sequences = range(1, len(rows) + 1)
        await database.append_events(month, f"journal{next(_numbers)}", sequences, COLUMNS, columns)
