"""A replica that reports may read, so that their work is not the primary's.

It is never needed: until it is open, and when it cannot be used, the primary is asked.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from laconic.errors import LaconicError, Unavailable
from laconic.storage.database import Database, Row

# The plain logger: commands load this room too, and structlog would double their start.
log = logging.getLogger(__name__)

_PAUSE_SECONDS = 10.0

Open = Callable[[], Awaitable[Database]]


class Reader(Protocol):
    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...


class Readable(Protocol):
    """What reports need of a database."""

    def for_workspace(self, workspace_id: int) -> Reader: ...


class Replica:
    """See `Readable`. Belongs to the loop that made it, and is opened beside whatever else is done."""

    def __init__(self, primary: Database, open_replica: Open) -> None:
        self._primary = primary
        self._replica: Database | None = None
        self._is_away = False
        self._opening = asyncio.create_task(self._open(open_replica))

    async def _open(self, open_replica: Open) -> None:
        while self._replica is None:
            try:
                self._replica = await open_replica()
            except LaconicError as error:
                self._note_away(error)
                await asyncio.sleep(_PAUSE_SECONDS)

    def for_workspace(self, workspace_id: int) -> Reader:
        return _ReplicaReader(self, workspace_id)

    async def fetch_all(self, workspace_id: int, sql: str, *args: Any) -> list[Row]:
        if self._replica is not None:
            try:
                rows = await self._replica.for_workspace(workspace_id).fetch_all(sql, *args)
            except Unavailable as error:
                self._note_away(error)
            else:
                self._is_away = False
                return rows
        return await self._primary.for_workspace(workspace_id).fetch_all(sql, *args)

    def _note_away(self, error: LaconicError) -> None:
        if not self._is_away:
            log.warning("the replica cannot be used; reports ask the primary: %s", error)
        self._is_away = True

    async def close(self) -> None:
        self._opening.cancel()
        await asyncio.gather(self._opening, return_exceptions=True)
        if self._replica is not None:
            await self._replica.close()


class _ReplicaReader:
    def __init__(self, replica: Replica, workspace_id: int) -> None:
        self._replica = replica
        self._workspace_id = workspace_id

    async def fetch_all(self, sql: str, *args: Any) -> list[Row]:
        return await self._replica.fetch_all(self._workspace_id, sql, *args)
