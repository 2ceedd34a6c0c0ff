"""The SQL of what other installations have added: their names, what is here already, totals and sketches."""

from collections.abc import Mapping, Sequence
from typing import Any

from laconic.clicks.moved.model import Claim, Entry, Portion
from laconic.clicks.sketches import join_visitors
from laconic.clicks.store import LINK_TOTAL, UNIQUE, WORKSPACE_TOTAL
from laconic.clock import DAY
from laconic.errors import Unavailable
from laconic.ids import IdSource
from laconic.storage.database import Database, Merge, Statements

_ENTRY = Merge(
    keys=("source_id", "link_id"),
    once=("workspace_id",),
    replaces=("position", "portion", "dated", "dated_bots", "claimed", "claimed_bots"),
)
# A click without a time moves no last one.
_COUNTS = ("clicks", "bot_clicks")
_LINK_COUNTS = Merge(keys=("link_id",), once=("workspace_id",), adds=_COUNTS)


async def find_source(database: Database, workspace_id: int, name: str) -> int | None:
    row = await database.fetch_one(
        "SELECT id FROM moved_source WHERE workspace_id = $1 AND name = $2", workspace_id, name
    )
    return None if row is None else int(row[0])


async def make_source(database: Database, workspace_id: int, name: str, moment: int) -> int:
    """The source's id, by whomever it was made."""
    await database.execute(
        "INSERT INTO moved_source (id, workspace_id, name, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)"
        " ON CONFLICT (workspace_id, name) DO NOTHING",
        IdSource().take(moment),
        workspace_id,
        name,
        moment,
    )
    found = await find_source(database, workspace_id, name)
    if found is None:
        raise Unavailable("The source was not written down.")
    return found


async def lock_source(statements: Statements, source_id: int, moment: int) -> None:
    """Two imports of one source take turns: each reads what the other has added."""
    await statements.execute("UPDATE moved_source SET updated_at = $2 WHERE id = $1", source_id, moment)


async def read_entries(statements: Statements, source_id: int, link_ids: Sequence[int]) -> dict[int, Entry]:
    """Of every link; a new one where nothing was added yet."""
    rows = await statements.fetch_among(
        "SELECT link_id, position, portion, dated, dated_bots, claimed, claimed_bots FROM moved_link"
        " WHERE source_id = $1 AND link_id IN ($ids)",
        link_ids,
        source_id,
    )
    known = {row[0]: Entry(*row[1:]) for row in rows}
    return {link_id: known.get(link_id) or Entry() for link_id in link_ids}


async def write_entries(
    statements: Statements, source_id: int, workspace_id: int, entries: Mapping[int, Entry]
) -> None:
    ids = sorted(entries)
    kept = [entries[link_id] for link_id in ids]
    await statements.merge(
        "moved_link",
        _ENTRY,
        [
            [source_id] * len(ids),
            ids,
            [workspace_id] * len(ids),
            [entry.position for entry in kept],
            [entry.portion for entry in kept],
            [entry.dated for entry in kept],
            [entry.dated_bots for entry in kept],
            [entry.claimed for entry in kept],
            [entry.claimed_bots for entry in kept],
        ],
    )


async def add_totals(statements: Statements, workspace_id: int, claims: Sequence[Claim]) -> None:
    """Adds so many clicks to the totals of links, which come in the order of their ids, and of their workspace."""
    dated = [claim for claim in claims if claim.last_clicked_at is not None]
    others = [claim for claim in claims if claim.last_clicked_at is None]
    for how, some in ((LINK_TOTAL, dated), (_LINK_COUNTS, others)):
        if some:
            links, clicks, bots, last = (list(column) for column in zip(*some, strict=True))
            columns = [
                links,
                [workspace_id] * len(some),
                clicks,
                bots,
                *([last] if how is LINK_TOTAL else []),
            ]
            await statements.merge("link_total", how, columns)
    sums = [
        [workspace_id],
        [sum(claim.clicks for claim in claims)],
        [sum(claim.bot_clicks for claim in claims)],
    ]
    moments = [claim.last_clicked_at for claim in dated]
    if moments:
        await statements.merge("workspace_total", WORKSPACE_TOTAL, [*sums, [max(filter(None, moments))]])
    else:
        await statements.merge("workspace_total", Merge(keys=("workspace_id",), adds=_COUNTS), sums)


async def join_sketches(
    statements: Statements, scope: str, workspace_id: int, day: int, sketches: Mapping[int, Sequence[bytes]]
) -> None:
    """Adds the visitors of a day, by link or by workspace: one who is there already is not counted again."""
    ids = sorted(sketches)
    rows = await statements.fetch_among(
        "SELECT scope_id, sketch FROM click_unique WHERE scope = $1 AND day = $2 AND scope_id IN ($ids)",
        ids,
        scope,
        day,
    )
    known = {row[0]: bytes(row[1]) for row in rows}
    joined, visitors = [], []
    for scope_id in ids:
        sketch, count = known.get(scope_id), 0
        for other in sketches[scope_id]:
            sketch, count = join_visitors(sketch, other)
        joined.append(sketch)
        visitors.append(count)
    size = len(ids)
    columns: list[Sequence[Any]] = [
        [scope] * size,
        ids,
        [day] * size,
        [workspace_id] * size,
        joined,
        visitors,
    ]
    await statements.merge("click_unique", UNIQUE, columns)


# What an export reads, of links of one workspace. Bounds are days, the second one not included.


async def read_bounds(database: Database, workspace_id: int, link_id: int) -> tuple[int, int] | None:
    """The first and the last day with clicks; None: no click has a time."""
    row = await database.for_workspace(workspace_id).fetch_one(
        "SELECT min(quarter), max(quarter) FROM click_quarter WHERE link_id = $1 AND workspace_id = $2",
        link_id,
        workspace_id,
    )
    return None if row is None or row[0] is None else (row[0] // DAY, row[1] // DAY)


async def read_days(
    database: Database, workspace_id: int, link_ids: Sequence[int], first: int, end: int
) -> list[Portion]:
    """By link and day, in order."""
    tenant = database.for_workspace(workspace_id)
    found: dict[tuple[int, int], Portion] = {}

    def portion(link_id: int, day: int) -> Portion:
        return found.setdefault((link_id, day), Portion(link_id, day, day, {}))

    quarters = await tenant.fetch_among(
        "SELECT link_id, quarter, clicks, bot_clicks FROM click_quarter"
        " WHERE workspace_id = $1 AND quarter >= $2 AND quarter < $3 AND link_id IN ($ids)",
        link_ids,
        workspace_id,
        first * DAY,
        end * DAY,
    )
    for link_id, quarter, clicks, bots in sorted(map(tuple, quarters)):
        portion(link_id, quarter // DAY).quarters[quarter] = (clicks, bots)
    values = await tenant.fetch_among(
        "SELECT link_id, day, dimension, value, clicks, bot_clicks FROM click_daily"
        " WHERE workspace_id = $1 AND day >= $2 AND day < $3 AND link_id IN ($ids)",
        link_ids,
        workspace_id,
        first,
        end,
    )
    for link_id, day, dimension, value, clicks, bots in sorted(map(tuple, values)):
        portion(link_id, day).dimensions.setdefault(dimension, {})[value] = (clicks, bots)
    sketches = await tenant.fetch_among(
        "SELECT scope_id, day, sketch FROM click_unique"
        " WHERE workspace_id = $1 AND scope = 'link' AND day >= $2 AND day < $3 AND scope_id IN ($ids)",
        link_ids,
        workspace_id,
        first,
        end,
    )
    for link_id, day, sketch in sketches:
        portion(link_id, day).visitors = bytes(sketch)
    return [found[key] for key in sorted(found)]
