"""Deleting all links of a workspace, in bounded steps."""

from laconic import clock
from laconic.links import store as statements_of
from laconic.redirect.cache import RedirectCache
from laconic.storage.database import Database, Statements

_BATCH = 1_000


async def delete_links_of(
    database: Database, workspace_id: int, *, cache: RedirectCache | None = None, most_batches: int = 10
) -> int:
    """A thousand at a time, so that nobody waits long for a lock; says how many. What is left, the next call takes."""
    deleted = 0

    async def work(statements: Statements) -> list[tuple[int, str, int]]:
        moment = clock.now()
        gone = await statements_of.delete_batch(statements, workspace_id, moment, _BATCH)
        await statements_of.announce_changes(statements, gone, moment)
        return gone

    for _ in range(most_batches):
        gone = await database.for_workspace(workspace_id).transaction(work)
        deleted += len(gone)
        if cache is not None:
            for domain_id, code, version in gone:
                cache.changed(domain_id, code, version)
        if len(gone) < _BATCH:
            break
    return deleted
