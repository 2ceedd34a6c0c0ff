"""The SQL of clicks: what a batch adds, and how far each journal has been applied."""

import secrets
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress
from operator import not_
from typing import TYPE_CHECKING, Any, Protocol

from laconic.clicks.choices import Choice
from laconic.clicks.events.model import COLUMNS
from laconic.clicks.position import BEGINNING, Position
from laconic.clicks.sketches import add_links, add_visitors
from laconic.clock import now
from laconic.errors import Conflict
from laconic.storage.database import Database, Merge, Row, Statements
from laconic.storage.months import month_of

if TYPE_CHECKING:
    from laconic.clicks.columns import Columns
    from laconic.clicks.reading import Batch
    from laconic.clicks.rollups import Sums

Column = Sequence[Any]

# What is shown of a click, and whose it is.
EVENT_COLUMNS = (*COLUMNS[:2], "workspace_id", *COLUMNS[2:])

_COUNTS = ("clicks", "bot_clicks")
LINK_TOTAL = Merge(keys=("link_id",), once=("workspace_id",), adds=_COUNTS, largest=("last_clicked_at",))
_QUARTER = Merge(keys=("link_id", "quarter"), once=("workspace_id",), adds=_COUNTS)
_DAILY = Merge(keys=("link_id", "dimension", "day", "value"), once=("workspace_id",), adds=_COUNTS)
WORKSPACE_TOTAL = Merge(keys=("workspace_id",), adds=_COUNTS, largest=("last_clicked_at",))
_WORKSPACE_QUARTER = Merge(keys=("workspace_id", "quarter"), adds=_COUNTS)
_WORKSPACE_DAILY = Merge(keys=("workspace_id", "dimension", "day", "value"), adds=_COUNTS)
_WORKSPACE_TOP = Merge(keys=("workspace_id", "day"), replaces=("sketch",))
UNIQUE = Merge(keys=("scope", "scope_id", "day"), once=("workspace_id",), replaces=("sketch", "visitors"))
_RETENTION = Merge(keys=("workspace_id",), replaces=("kept_since",))
_SALT_BYTES = 16


class Reads(Protocol):
    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...


async def read_positions(database: Reads) -> dict[str, Position]:
    """How far each journal has been applied."""
    rows = await database.fetch_all("SELECT journal_id, segment, position, sequence FROM journal_position")
    return {row[0]: Position(*row[1:]) for row in rows}


class Summed(Protocol):
    """Sums of owners, which stand in order: see `Sums`."""

    totals: tuple[Column, Column, Column]
    quarters: tuple[Column, Column, Column, Column]
    daily: tuple[Column, Column, Column, Column, Column]
    people: Mapping[int, Sequence[int]]

    @property
    def owners(self) -> Sequence[int]: ...


class Countable(Protocol):
    """What the clicks of one UTC day add; clicks counted elsewhere can be added, too."""

    day: int
    workspaces: Mapping[int, int]
    links_by_workspace: Mapping[int, Mapping[int, int]]

    @property
    def of_links(self) -> Summed: ...

    @property
    def of_workspaces(self) -> Summed: ...


class Addition:
    """The clicks of one UTC day, ready to be added: whatever a transaction need not wait for is done before it."""

    def __init__(self, columns: "Columns", first_id: int, too_old: Sequence[bool] | None = None) -> None:
        """Clicks that are `too_old` are counted, and no more is kept of them."""
        # Here, because web workers load this room too and have no use for numpy's 13 MiB.
        from laconic.clicks.rollups import Sums, clicks_by_link

        self.day = columns.day
        self.month = month_of(int(columns.moments[0]))
        self.sequences = columns.sequences
        self.events: Sequence[Column] = columns.events(first_id)
        if too_old is not None:
            self.sequences, *self.events = (_without(too_old, one) for one in (self.sequences, *self.events))
        links, workspaces = columns.links, columns.workspaces
        self.workspaces: Mapping[int, int] = dict(zip(links.values, workspaces.values, strict=True))
        self.of_links = _Rows(Sums(columns, links))
        self.of_workspaces = _Rows(Sums(columns, workspaces.ordered()))
        self.links_by_workspace = clicks_by_link(columns)


def _without(left_out: Sequence[bool], column: Column) -> list[Any]:
    return list(compress(column, map(not_, left_out)))


class _Rows:
    """Sums, worked out."""

    def __init__(self, sums: "Sums") -> None:
        self.owners = sums.owners
        self.totals: tuple[Column, Column, Column] = sums.totals()
        self.quarters: tuple[Column, Column, Column, Column] = sums.quarters()
        self.daily: tuple[Column, Column, Column, Column, Column] = sums.daily()
        self.people = sums.people()


class ClickStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def position(self, journal_id: str) -> Position:
        row = await self._database.fetch_one(
            "SELECT segment, position, sequence FROM journal_position WHERE journal_id = $1", journal_id
        )
        return Position(*row) if row else BEGINNING

    async def workspaces_of(self, link_ids: Sequence[int]) -> dict[int, int]:
        """Which workspace each link belongs to."""
        rows = await self._database.fetch_among(
            "SELECT id, workspace_id FROM short_link WHERE id IN ($ids)", link_ids
        )
        return {row[0]: row[1] for row in rows}

    async def choices(self) -> list[Choice]:
        """Of the workspaces that have chosen something about their clicks."""
        rows = await self._database.fetch_all(
            "SELECT id, settings ->> 'privacy', settings ->> 'click_retention_days' FROM workspace"
            " WHERE (settings ->> 'privacy') IS NOT NULL OR (settings ->> 'click_retention_days') IS NOT NULL"
        )
        return [Choice(row[0], row[1], None if row[2] is None else int(row[2])) for row in rows]

    async def kept_since(self) -> dict[int, int]:
        """By workspace: how far its own retention is done."""
        rows = await self._database.fetch_all("SELECT workspace_id, kept_since FROM click_retention")
        return {row[0]: row[1] for row in rows}

    async def keep_since(self, done: Mapping[int, int]) -> None:
        owners = sorted(done)
        await self._database.merge("click_retention", _RETENTION, [owners, [done[one] for one in owners]])

    async def salt(self, day: int) -> bytes:
        """What visitors of that UTC day are hashed with: the same on every machine, forgotten soon after."""
        await self._database.execute(
            "INSERT INTO visitor_salt (day, salt) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING",
            day,
            secrets.token_bytes(_SALT_BYTES),
        )
        row = await self._database.fetch_one("SELECT salt FROM visitor_salt WHERE day = $1", day)
        return bytes(row[0]) if row else secrets.token_bytes(_SALT_BYTES)

    async def forget_salts(self, before_day: int) -> int:
        return await self._database.execute("DELETE FROM visitor_salt WHERE day < $1", before_day)

    async def prepare_months(self, first: int, count: int) -> None:
        await self._database.prepare_months(first, count)

    async def apply(self, batch: "Batch", additions: Sequence[Addition]) -> None:
        """Adds a batch and moves the journal's position, in one transaction: all of it once, or not at all.

        Raises Conflict when the position is no longer `batch.since`: somebody else has applied what lies behind it.
        """

        by_month = _events_by_month(additions)

        async def work(statements: Statements) -> None:
            await self._move(statements, batch)
            for month, sequences, events in by_month:
                await statements.append_events(month, batch.journal_id, sequences, EVENT_COLUMNS, events)
            await self.add(statements, additions)

        await self._database.transaction(work)

    async def add(self, statements: Statements, additions: Sequence[Countable]) -> None:
        """To totals, rollups and sketches, in a transaction that the caller has opened."""
        for addition in additions:
            await self._add_to_links(statements, addition)
        for addition in additions:
            await self._add_to_workspaces(statements, addition)

    async def _add_to_links(self, statements: Statements, addition: Countable) -> None:
        """Totals first and in id order: they are the lock of all that belongs to a link, so that machines which add
        to the same links never deadlock and never read a sketch that another is about to write."""
        rows = addition.of_links

        def workspaces(links: Sequence[int]) -> list[int]:
            return [addition.workspaces[link_id] for link_id in links]

        await statements.merge("link_total", LINK_TOTAL, [rows.owners, workspaces(rows.owners), *rows.totals])
        links, quarters, *counts = rows.quarters
        await statements.merge("click_quarter", _QUARTER, [links, quarters, workspaces(links), *counts])
        links, dimensions, values, *counts = rows.daily
        days = [addition.day] * len(links)
        await statements.merge(
            "click_daily", _DAILY, [links, dimensions, days, values, workspaces(links), *counts]
        )
        await self._add_uniques(statements, "link", addition.day, rows.people, addition.workspaces)

    async def _add_to_workspaces(self, statements: Statements, addition: Countable) -> None:
        """Last, for all machines add to the same few rows: each holds them for as short as can be."""
        rows = addition.of_workspaces
        await statements.merge("workspace_total", WORKSPACE_TOTAL, [rows.owners, *rows.totals])
        await statements.merge("workspace_quarter", _WORKSPACE_QUARTER, rows.quarters)
        owners, dimensions, values, *counts = rows.daily
        days = [addition.day] * len(owners)
        await statements.merge(
            "workspace_daily", _WORKSPACE_DAILY, [owners, dimensions, days, values, *counts]
        )
        own = {workspace_id: workspace_id for workspace_id in rows.owners}
        await self._add_uniques(statements, "workspace", addition.day, rows.people, own)
        await self._add_top(statements, addition.day, addition.links_by_workspace)

    async def _add_uniques(
        self,
        statements: Statements,
        scope: str,
        day: int,
        people: Mapping[int, Sequence[int]],
        workspaces: Mapping[int, int],
    ) -> None:
        if not people:
            return
        ids = sorted(people)
        rows = await statements.fetch_among(
            "SELECT scope_id, sketch FROM click_unique WHERE scope = $1 AND day = $2 AND scope_id IN ($ids)",
            ids,
            scope,
            day,
        )
        known = {row[0]: row[1] for row in rows}
        grown = [add_visitors(known.get(scope_id), people[scope_id]) for scope_id in ids]
        sketches, visitors = zip(*grown, strict=True)
        scopes, days = [scope] * len(ids), [day] * len(ids)
        owners = [workspaces[scope_id] for scope_id in ids]
        await statements.merge("click_unique", UNIQUE, [scopes, ids, days, owners, sketches, visitors])

    async def _add_top(
        self, statements: Statements, day: int, links: Mapping[int, Mapping[int, int]]
    ) -> None:
        ids = sorted(links)
        rows = await statements.fetch_among(
            "SELECT workspace_id, sketch FROM workspace_top WHERE day = $1 AND workspace_id IN ($ids)",
            ids,
            day,
        )
        known = {row[0]: row[1] for row in rows}
        sketches = [add_links(known.get(workspace_id), links[workspace_id]) for workspace_id in ids]
        await statements.merge("workspace_top", _WORKSPACE_TOP, [ids, [day] * len(ids), sketches])

    async def _move(self, statements: Statements, batch: "Batch") -> None:
        """The WHERE clause is the referee: a batch whose commit was in doubt cannot go in a second time."""
        place = (batch.journal_id, *batch.reached, now())
        if batch.since == BEGINNING:
            moved = await statements.execute(
                "INSERT INTO journal_position (journal_id, segment, position, sequence, updated_at)"
                " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (journal_id) DO NOTHING",
                *place,
            )
        else:
            moved = await statements.execute(
                "UPDATE journal_position SET segment = $2, position = $3, sequence = $4, updated_at = $5"
                " WHERE journal_id = $1 AND segment = $6 AND position = $7",
                *place,
                batch.since.segment,
                batch.since.offset,
            )
        if not moved:
            raise Conflict("journal_position")

    async def forget(self, journal_id: str) -> None:
        """After the journal's files are gone: its id never comes again."""
        await self._database.execute("DELETE FROM journal_position WHERE journal_id = $1", journal_id)


def _events_by_month(additions: Sequence[Addition]) -> list[tuple[int, Sequence[int], Sequence[Column]]]:
    """Month, sequences and columns of events: all of a month at once, for the engine may keep them only together."""
    months: dict[int, list[Addition]] = defaultdict(list)
    for addition in additions:
        if addition.sequences:
            months[addition.month].append(addition)
    return [
        (month, _joined(day.sequences for day in days), _all_joined(day.events for day in days))
        for month, days in months.items()
    ]


def _all_joined(days: Iterable[Sequence[Column]]) -> list[Column]:
    return [_joined(parts) for parts in zip(*days, strict=True)]


def _joined(parts: Iterable[Column]) -> Column:
    return list(chain.from_iterable(parts))
