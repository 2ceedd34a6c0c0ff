"""Fills the index over URLs behind the writers: a create waits for none of it.

Cutting a URL into its pieces takes some 20 us (measured), as much as all the rest of a bulk create. So links are indexed
some seconds after they were made, and a search reads those that are newer itself.
"""

from typing import Protocol

from laconic.clock import SECOND, now
from laconic.ids import first_id
from laconic.storage.database import Statements

# Older than any transaction that may still bring a smaller id.
_SETTLED = 30 * SECOND
# A batch holds the write lock for some 4 ms; this many in a second leave most of it to others.
_BATCH = 200
_MOST_BATCHES = 25


class _Writer(Protocol):
    async def transaction(self, work: "_Work", /) -> int: ...


class _Work(Protocol):
    async def __call__(self, statements: Statements, /) -> int: ...


async def index_urls(database: _Writer, most_batches: int = _MOST_BATCHES) -> int:
    """How many links were indexed."""
    indexed = 0
    for _ in range(most_batches):
        count = await database.transaction(_index_batch)
        indexed += count
        if count < _BATCH:
            break
    return indexed


async def _index_batch(statements: Statements) -> int:
    rows = await statements.fetch_all(
        "SELECT id, original_url FROM short_link"
        " WHERE id > (SELECT past FROM search_position) AND id < $1 ORDER BY id LIMIT $2",
        first_id(now() - _SETTLED),
        _BATCH,
    )
    for link_id, url in rows:
        # Blanked ones have none.
        if url is not None:
            await statements.execute("INSERT INTO short_link_url (rowid, url) VALUES ($1, $2)", link_id, url)
    if rows:
        await statements.execute("UPDATE search_position SET past = $1", rows[-1][0])
    return len(rows)
