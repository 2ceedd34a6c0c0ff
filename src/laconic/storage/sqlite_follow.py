"""Follows the changes of links in an SQLite file. The connection comes from `sqlite`, which alone knows the driver."""

import asyncio
import contextlib
from collections.abc import Callable

from laconic import clock
from laconic.errors import Unavailable
from laconic.storage.database import ChangeListener, Row

_POLL_SECONDS = 0.05

Read = Callable[..., list[Row]]
"""Runs one statement in the loop's thread."""


async def follow(read: Read, changed: ChangeListener, history: int) -> None:
    """`data_version` moves with any commit of another connection; asking costs about 2 us."""
    version = _data_version(read)
    last = int(read("SELECT coalesce(max(seq), 0) FROM link_change")[0][0])
    if history:
        _tell_history(read, changed, clock.now() - history, last)
    changed.following()
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        with contextlib.suppress(Unavailable):
            if (seen := _data_version(read)) != version:
                last = _tell(read, changed, last)
                version = seen


def _data_version(read: Read) -> int:
    return int(read("PRAGMA main.data_version")[0][0])


def _tell_history(read: Read, changed: ChangeListener, since: int, last: int) -> None:
    sql = "SELECT domain_id, short_code, version FROM link_change WHERE changed_at >= ? AND seq <= ? ORDER BY seq"
    for domain_id, short_code, version in read(sql, since, last):
        changed.changed(domain_id, short_code, version, None)


def _tell(read: Read, changed: ChangeListener, last: int) -> int:
    rows = read(
        "SELECT seq, domain_id, short_code, version, changed_at FROM link_change WHERE seq > ? ORDER BY seq",
        last,
    )
    for _, domain_id, short_code, version, changed_at in rows:
        changed.changed(domain_id, short_code, version, changed_at)
    return int(rows[-1][0]) if rows else last
