"""Follows the changes of links that PostgreSQL announces.

A message on the channel holds lines `domain_id short_code version changed_at`, or `#first-last` for a bulk change:
the rows of `link_change` between these two `seq`.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager

from laconic import clock
from laconic.errors import Unavailable
from laconic.storage.database import ChangeListener, Statements

CHANNEL = "laconic_change"

_FIRST_PAUSE_SECONDS = 0.1
_LAST_PAUSE_SECONDS = 2.0
# A network that is cut without a word is noticed when this question stays unanswered.
_ASK_EVERY_SECONDS = 1.0

Hear = Callable[[str | None], None]
Listen = Callable[[Hear], AbstractAsyncContextManager[Statements]]
"""Opens a connection that hands every message to `Hear`, and None when the connection has ended."""

_Change = tuple[int, str, int, int | None]
_PAGE = 2_000


async def follow(listen: Listen, changed: ChangeListener, history: int = 0) -> None:
    """Keeps a listening connection, for ever; says when it is up and when it is lost."""
    pause = _FIRST_PAUSE_SECONDS
    while True:
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        try:
            async with listen(heard.put_nowait) as statements:
                if history:
                    await _tell_history(statements, changed, clock.now() - history)
                changed.following()
                pause = _FIRST_PAUSE_SECONDS
                await _tell(heard, statements, changed)
        except Unavailable:
            pass  # said by `lost`; the next attempt follows
        changed.lost()
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LAST_PAUSE_SECONDS)


async def _tell_history(statements: Statements, changed: ChangeListener, since: int) -> None:
    """What was committed before the connection listened; what is committed from now on is heard."""
    last = 0
    while True:
        rows = await statements.fetch_all(
            "SELECT seq, domain_id, short_code, version FROM link_change"
            " WHERE seq > $1 AND changed_at >= $2 ORDER BY seq LIMIT $3",
            last,
            since,
            _PAGE,
        )
        for _, domain_id, short_code, version in rows:
            changed.changed(domain_id, short_code, version, None)
        if len(rows) < _PAGE:
            return
        last = rows[-1][0]


async def _tell(heard: asyncio.Queue[str | None], statements: Statements, changed: ChangeListener) -> None:
    """Returns when the connection has ended or said what nobody understands."""
    while True:
        try:
            async with asyncio.timeout(_ASK_EVERY_SECONDS):
                message = await heard.get()
        except TimeoutError:
            await statements.fetch_one("SELECT 1")
            continue
        if message is None:
            return
        try:
            changes = await _read(message, statements)
        except ValueError:
            return  # a stranger's message may hide a change: to be lost for a moment is the safe reading
        for change in changes:
            changed.changed(*change)


async def _read(message: str, statements: Statements) -> Iterable[_Change]:
    if not message.startswith("#"):
        return [_read_line(line) for line in message.splitlines()]
    first, last = map(int, message[1:].split("-"))
    rows = await statements.fetch_all(
        "SELECT domain_id, short_code, version, changed_at FROM link_change WHERE seq BETWEEN $1 AND $2 ORDER BY seq",
        first,
        last,
    )
    return [(row[0], row[1], row[2], row[3]) for row in rows]


def _read_line(line: str) -> _Change:
    domain_id, short_code, version, *rest = line.split(" ")
    # Without a time while the schema is an earlier release's.
    return int(domain_id), short_code, int(version), int(rest[0]) if rest else None
