"""Bounded cleaning steps: what has served its time is removed, a little at a time."""

from laconic import clock
from laconic.clock import DAY, HOUR
from laconic.links.store import LinkStore
from laconic.storage.database import Database

_EVERY_SECONDS = 60.0
# Workers read a change within a second; an hour lets even a stopped machine catch up by what is left.
_KEEP_CHANGES = HOUR
# How long a retry with the same Idempotency-Key gets the first answer.
_KEEP_KEYS = DAY
_BATCH = 1_000
_MOST_BATCHES = 50


class Sweeps:
    def __init__(self, database: Database) -> None:
        self._links = LinkStore(database)
        self._due = 0.0

    async def run_when_due(self) -> None:
        if clock.monotonic() < self._due:
            return
        self._due = clock.monotonic() + _EVERY_SECONDS
        await self.run()

    async def run(self) -> int:
        """How many rows were removed."""
        removed = 0
        for _ in range(_MOST_BATCHES):
            step = await self._links.drop_old_changes(clock.now() - _KEEP_CHANGES, _BATCH)
            step += await self._links.drop_old_keys(clock.now() - _KEEP_KEYS, _BATCH)
            removed += step
            if step == 0:
                break
        return removed
