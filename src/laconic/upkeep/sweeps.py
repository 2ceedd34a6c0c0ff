"""Bounded cleaning steps: what has served its time is retired, blanked or removed, a little at a time.

"Its time" is judged by the database's clock: one machine whose clock is wrong must not clean too early.
"""

from laconic import clock
from laconic.clock import DAY, HOUR
from laconic.links.ended.store import EndedStore, blank_gone, retire_expired
from laconic.links.retire import delete_links_of
from laconic.storage.database import Database, Statements
from laconic.upkeep.store import add_to_run, database_moment
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.store import WorkspaceStore

_EVERY_SECONDS = 60.0
# How long a retry with the same Idempotency-Key gets the first answer.
_KEEP_ANSWERS = DAY
# An expired API key stays visible that long, so that its owner sees why a program stopped working.
_KEEP_API_KEYS = 30 * DAY
# After their end: a week in which "who was signed in?" can still be answered.
_KEEP_SESSIONS = 7 * DAY
_BATCH = 1_000
_MOST_BATCHES = 50


class Sweeps:
    """Removes what nobody will ask for again. `keep_changes`: how long a worker may have to be told of them."""

    def __init__(self, database: Database, keep_changes: int = 4 * HOUR) -> None:
        self._database = database
        self._ended = EndedStore(database)
        self._people = PeopleStore(database)
        self._workspaces = WorkspaceStore(database)
        self._keep_changes = keep_changes
        self._due = 0.0

    async def run_when_due(self) -> None:
        if clock.monotonic() < self._due:
            return
        self._due = clock.monotonic() + _EVERY_SECONDS
        await self.run()

    async def run(self) -> int:
        """How many rows were removed."""
        moment = await database_moment(self._database)
        removed = 0
        for _ in range(_MOST_BATCHES):
            step = await self._ended.drop_old_changes(moment - self._keep_changes, _BATCH)
            step += await self._ended.drop_old_keys(moment - _KEEP_ANSWERS, _BATCH)
            step += await self._workspaces.drop_expired_keys(moment - _KEEP_API_KEYS, _BATCH)
            step += await self._people.drop_old_sessions(moment - _KEEP_SESSIONS, _BATCH)
            removed += step
            if step == 0:
                break
        await self._links_of_deleted_workspaces()
        return removed

    async def count(self) -> int:
        """How many rows `run` would remove now."""
        moment = await database_moment(self._database)
        return (
            await self._ended.count_old_changes(moment - self._keep_changes)
            + await self._ended.count_old_keys(moment - _KEEP_ANSWERS)
            + await self._workspaces.count_expired_keys(moment - _KEEP_API_KEYS)
            + await self._people.count_old_sessions(moment - _KEEP_SESSIONS)
        )

    async def _links_of_deleted_workspaces(self) -> None:
        """Whoever deleted the workspace did the first ten thousand; these are the rest."""
        for workspace_id in await self._workspaces.deleted_workspaces(10):
            await delete_links_of(self._database, workspace_id, most_batches=_MOST_BATCHES)


# Steps of the reaper, each in a transaction that the caller has opened.


async def retire(statements: Statements, run_id: int, buffer_time: int, limit: int) -> int:
    """Links whose time was over `buffer_time` ago: visitors see no difference."""
    moment = await database_moment(statements)
    retired = await retire_expired(statements, moment - buffer_time, moment, limit)
    if retired:
        await add_to_run(statements, run_id, retired=retired)
    return retired


async def blank(statements: Statements, run_id: int, purge_after: int, limit: int) -> int:
    """Rows of links that were retired or deleted `purge_after` ago."""
    moment = await database_moment(statements)
    blanked = await blank_gone(statements, moment - purge_after, limit)
    if blanked:
        await add_to_run(statements, run_id, blanked=blanked)
    return blanked
