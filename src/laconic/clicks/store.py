"""The SQL of clicks: totals, and how far each journal has been applied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from laconic.clock import now
from laconic.errors import Conflict
from laconic.storage.database import Database, Statements


@dataclass(frozen=True, slots=True)
class Position:
    """Everything before this place of a journal has been applied."""

    segment: int
    offset: int
    sequence: int


BEGINNING = Position(0, 0, 0)


@dataclass(slots=True)
class LinkClicks:
    """What a batch adds to one link."""

    clicks: int
    last_clicked_at: int


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
        found: dict[int, int] = {}
        for start in range(0, len(link_ids), 500):
            some = link_ids[start : start + 500]
            marks = ",".join(f"${number}" for number in range(1, len(some) + 1))
            rows = await self._database.fetch_all(
                f"SELECT id, workspace_id FROM short_link WHERE id IN ({marks})",
                *some,
            )
            found.update((link_id, workspace_id) for link_id, workspace_id in rows)
        return found

    async def apply(
        self,
        journal_id: str,
        since: Position,
        reached: Position,
        added: Mapping[int, LinkClicks],
        workspaces: Mapping[int, int],
    ) -> None:
        """Adds a batch to the totals and moves the position, in one transaction: all of it once, or not at all.

        Raises Conflict when the position is no longer `since`: somebody else has applied what lies behind it.
        """
        rows = [
            # In id order, so that two machines that add to the same links never deadlock.
            (link_id, workspaces[link_id], added[link_id].clicks, added[link_id].last_clicked_at)
            for link_id in sorted(added)
            if link_id in workspaces
        ]

        async def work(statements: Statements) -> None:
            await self._move(statements, journal_id, since, reached)
            await statements.execute_many(
                "INSERT INTO link_total (link_id, workspace_id, clicks, bot_clicks, last_clicked_at)"
                " VALUES ($1, $2, $3, 0, $4) ON CONFLICT (link_id) DO UPDATE SET"
                " clicks = link_total.clicks + excluded.clicks,"
                " last_clicked_at = CASE WHEN link_total.last_clicked_at > excluded.last_clicked_at"
                " THEN link_total.last_clicked_at ELSE excluded.last_clicked_at END",
                rows,
            )

        await self._database.transaction(work)

    async def _move(
        self, statements: Statements, journal_id: str, since: Position, reached: Position
    ) -> None:
        """The WHERE clause is the referee: a batch whose commit was in doubt cannot go in a second time."""
        place = (journal_id, reached.segment, reached.offset, reached.sequence, now())
        if since == BEGINNING:
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
                since.segment,
                since.offset,
            )
        if not moved:
            raise Conflict("journal_position")

    async def forget(self, journal_id: str) -> None:
        """After the journal's files are gone: its id never comes again."""
        await self._database.execute("DELETE FROM journal_position WHERE journal_id = $1", journal_id)
