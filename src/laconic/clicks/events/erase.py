"""Erasing raw clicks on request, as the GDPR asks for (article 17). Counts stay: nobody can be read out of them."""

import re

from laconic.clicks.events.store import EventStore
from laconic.clock import DAY
from laconic.errors import ChoiceRefused
from laconic.storage.months import begin_of

# So much at once that ingest, which writes the same files, hardly waits.
_BATCH = 5_000
_VISITOR = re.compile(r"(?:[0-9a-fA-F]{2}){4,64}")


class Eraser:
    """The verb "erase"."""

    def __init__(self, store: EventStore) -> None:
        self._store = store

    async def link(self, workspace_id: int, link_id: int) -> int:
        """All raw clicks of one link; says how many there were."""
        erased = 0
        for month in await self._store.months():
            while some := await self._store.erase_link(workspace_id, link_id, month, _BATCH):
                erased += some
        return erased

    async def visitor(self, workspace_id: int, digest: bytes) -> int:
        """All raw clicks of one visitor, told by the hash that `clicks` shows; says how many there were.

        A hash is of one day, but which day it does not tell: all that is kept is looked through, day by day.
        """
        erased = 0
        for month in reversed(await self._store.months()):
            for start in range(begin_of(month), begin_of(month + 1), DAY):
                erased += await self._store.erase_visitor(workspace_id, digest, month, start, start + DAY)
        return erased


def visitor_digest(visitor: str) -> bytes:
    if not _VISITOR.fullmatch(visitor):
        raise ChoiceRefused("visitor", "A visitor is told by the hexadecimal digits that clicks show.")
    return bytes.fromhex(visitor)
