"""Bounded cleaning steps: what has served its time is removed, a little at a time."""

from laconic import clock
from laconic.clock import DAY, HOUR
from laconic.links.retire import delete_links_of
from laconic.links.store import LinkStore
from laconic.storage.database import Database
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.store import WorkspaceStore

_EVERY_SECONDS = 60.0
# Workers read a change within a second; an hour lets even a stopped machine catch up by what is left.
_KEEP_CHANGES = HOUR
# How long a retry with the same Idempotency-Key gets the first answer.
_KEEP_KEYS = DAY
# After their end: a week in which "who was signed in?" can still be answered.
_KEEP_SESSIONS = 7 * DAY
_BATCH = 1_000
_MOST_BATCHES = 50


class Sweeps:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._links = LinkStore(database)
        self._people = PeopleStore(database)
        self._workspaces = WorkspaceStore(database)
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
        await self._links_of_deleted_workspaces()
        return removed + await self._people.drop_old_sessions(clock.now() - _KEEP_SESSIONS)

    async def _links_of_deleted_workspaces(self) -> None:
        """Whoever deleted the workspace did the first ten thousand; these are the rest."""
        for workspace_id in await self._workspaces.deleted_workspaces(10):
            await delete_links_of(self._database, workspace_id, most_batches=_MOST_BATCHES)
