"""The SQL of codes: the range cursor, the durable pool and the secret of the permutation."""

import secrets
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from laconic.clock import now
from laconic.codes.permutation import SECRET_BYTES
from laconic.errors import SettingInvalid, Unavailable
from laconic.storage.database import Database, Row, Statements

# How far the cursor jumps when the database may have forgotten leases: a day's creates at 10,000 a second.
JUMP = 1_000_000_000
_LONGEST_CODE = 12
_CLAIMS = "SELECT region, code_length, prefix FROM kgs_range"

Fence = Callable[[Statements], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Leased:
    counters: range
    has_jumped: bool


@dataclass(frozen=True, slots=True)
class Taken:
    codes: list[str]
    # Where the cursor is now: further than before, so that whoever remembers it knows a database that forgot this.
    next: int


@dataclass(frozen=True, slots=True)
class RangeState:
    """One region's codes of one length, as the database has them."""

    region: str
    code_length: int
    prefix: str
    next: int
    pooled: int
    taken: int
    skipped: int
    has_own_pool: bool  # or 0, 1
    """Was the pool filled on this very database? Otherwise it must be discarded."""

    @property
    def unused(self) -> int:
        return max(0, self.pooled - self.taken) if self.has_own_pool else 0


class Reads(Protocol):
    async def fetch_all(self, sql: str, *args: Any) -> list[Row]: ...


async def read_ranges(database: Reads) -> list[Row]:
    """Region, length and next counter of every cursor."""
    return await database.fetch_all(
        "SELECT region, code_length, next FROM kgs_range ORDER BY region, code_length"
    )


def jump_statements(marks: Iterable[tuple[str, int, int]], distance: int) -> list[str]:
    """As plain text, for a restored copy that nobody uses yet: every cursor goes so far beyond where it is, or beyond
    its mark (region, length, counter), and the pool is discarded, as after `jump`."""
    floors = [
        f"UPDATE kgs_range SET skipped = skipped + {mark} - next, next = {mark}"
        f" WHERE region = '{region}' AND code_length = {length} AND next < {mark}"
        for region, length, mark in marks
    ]
    jump = (
        f"UPDATE kgs_range SET next = next + {distance}, skipped = skipped + {distance},"
        " lineage = database_lineage(), pool_lineage = NULL"
    )
    return [*floors, jump]


class CodeStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def has_row_locks(self) -> bool:
        """If not, whoever makes links waits while the pool is filled."""
        return bool(self._database.skip_locked)

    async def permutation_secret(self) -> bytes:
        """It is never changed: codes made with another one could be codes that were given out and forgotten."""
        return await self._secret("permutation")

    async def signing_secret(self) -> bytes:
        """Behind what is sealed for a while: forms, sign-in by a provider, counts of wrong sign-ins."""
        return await self._secret("signing")

    async def rotate_signing_secret(self) -> None:
        """Processes that run go on with the old one until they are started again."""
        await self._database.execute("DELETE FROM secret WHERE name = $1", "signing")
        await self.signing_secret()

    async def _secret(self, name: str) -> bytes:
        """Made at first start, whoever comes first; the same for every process of the installation."""
        wanted = "SELECT value FROM secret WHERE name = $1"
        # Read first: it is nearly always there, and a read may be repeated when the database goes away meanwhile.
        row = await self._database.fetch_one(wanted, name)
        if row is None:
            await self._database.execute(
                "INSERT INTO secret (name, value, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
                name,
                secrets.token_bytes(SECRET_BYTES),
                now(),
            )
            row = await self._database.fetch_one(wanted, name)
        if row is None:
            raise Unavailable(f"The secret {name!r} cannot be read.")
        return bytes(row[0])

    # The range cursor

    async def claim_length(self, region: str, prefix: str, wanted: int) -> int:
        """The length of this region's codes: the one that is wanted, or the next longer one that nobody else's codes
        have. It is the region's from now on."""
        rows = await self._database.fetch_all(_CLAIMS)
        owned = [row[1] for row in rows if (row[0], row[2]) == (region, prefix) and row[1] >= wanted]
        if owned:
            return int(min(owned))

        async def work(statements: Statements) -> int:
            # Regions that start at the same time claim one after the other: this row is always there.
            await statements.execute("UPDATE secret SET value = value WHERE name = $1", "permutation")
            rows = await statements.fetch_all(_CLAIMS)
            for length in range(wanted, _LONGEST_CODE + 1):
                if any(_meet(row, region, prefix, length) for row in rows):
                    continue
                await statements.execute(
                    "INSERT INTO kgs_range (region, code_length, prefix, lineage)"
                    " VALUES ($1, $2, $3, database_lineage()) ON CONFLICT (region, code_length) DO NOTHING",
                    region,
                    length,
                    prefix,
                )
                return length
            raise SettingInvalid("LACONIC_REGION_PREFIXES leaves no code length free for this region.")

        return await self._database.transaction(work)

    async def lease(self, region: str, code_length: int, count: int, floor: int = 0) -> Leased:
        """The next `count` counters, for this caller alone: the row's update is the referee.

        A cursor below `floor`, or on another lineage than last time, has forgotten leases: it jumps first.
        """

        async def work(statements: Statements) -> Leased:
            row = await statements.fetch_one(
                "INSERT INTO kgs_range (region, code_length, next, lineage)"
                " VALUES ($1, $2, $3, database_lineage())"
                " ON CONFLICT (region, code_length) DO UPDATE SET next = kgs_range.next + excluded.next,"
                " lineage = coalesce(kgs_range.lineage, excluded.lineage)"
                " RETURNING next, lineage = database_lineage()",
                region,
                code_length,
                count,
            )
            if row is None:
                raise Unavailable("The code cursor did not answer.")
            start, is_known = int(row[0]) - count, bool(row[1])
            if is_known and start >= floor:
                return Leased(range(start, start + count), has_jumped=False)
            landing = max(start, floor) + JUMP
            await _jump(statements, region, code_length, landing + count, landing - start)
            return Leased(range(landing, landing + count), has_jumped=True)

        return await self._database.transaction(work)

    async def jump(self, region: str, code_length: int) -> int:
        """For an operator who knows of a restore that nothing else can notice; gives the new place."""

        async def work(statements: Statements) -> int:
            lock = "UPDATE kgs_range SET next = next WHERE region = $1 AND code_length = $2 RETURNING next"
            row = await statements.fetch_one(lock, region, code_length)
            landing = (int(row[0]) if row else 0) + JUMP
            await _jump(statements, region, code_length, landing, JUMP)
            return landing

        return await self._database.transaction(work)

    async def states(self) -> list[RangeState]:
        rows = await self._database.fetch_all(
            "SELECT region, code_length, prefix, next, pooled, taken, skipped,"
            " coalesce(pool_lineage, '') = database_lineage() FROM kgs_range ORDER BY region, code_length"
        )
        return [RangeState(*row) for row in rows]

    async def state(self, region: str, code_length: int) -> RangeState:
        for state in await self.states():
            if (state.region, state.code_length) == (region, code_length):
                return state
        return RangeState(region, code_length, "", 0, 0, 0, 0, has_own_pool=False)

    # The durable pool

    async def put(self, region: str, code_length: int, codes: Sequence[str], fence: Fence) -> None:
        """Adds unused codes, unless the pool must be discarded first or another process fills it by now.

        In the order of codes, which is that of both indexes, it is least work.
        """

        async def work(statements: Statements) -> None:
            await fence(statements)
            rows = [(code,) for code in codes]
            same = {"region": region, "created_at": now()}
            await statements.insert_many("kgs_keys", ("short_code",), rows, same)
            added = await statements.execute(
                "UPDATE kgs_range SET pooled = pooled + $3"
                " WHERE region = $1 AND code_length = $2 AND pool_lineage = database_lineage()",
                region,
                code_length,
                len(codes),
            )
            if not added:
                raise Unavailable("The pool of codes must be discarded before it is filled.")

        await self._database.transaction(work)

    async def reserve(
        self,
        region: str,
        code_length: int,
        count: int,
        holder: str,
        *,
        pivot: str,
        floor: int = 0,
        finished: Sequence[str] = (),
    ) -> Taken:
        """Up to `count` unused codes, for this holder alone, from `pivot` on in the order of codes.

        Raises Unavailable when the pool must be discarded: it is from before a failover, or the cursor of this
        database stands below `floor`, where it has been before. `finished` names holders whose codes are all used or burnt: their rows go.
        """

        async def work(statements: Statements) -> Taken:
            for name in finished:
                await statements.execute(
                    "DELETE FROM kgs_keys WHERE allocated_to_service = $1 AND status <> 'unused'", name
                )
            codes: list[str] = []
            for comparison in (">=", "<"):
                rows = await statements.fetch_all(
                    "WITH chosen AS MATERIALIZED (SELECT short_code FROM kgs_keys WHERE region = $1"
                    f" AND status = 'unused' AND short_code {comparison} $2 ORDER BY short_code LIMIT $3"
                    f" {self._database.skip_locked})"
                    " UPDATE kgs_keys SET status = 'reserved', allocated_at = $4, allocated_to_service = $5"
                    " WHERE short_code IN (SELECT short_code FROM chosen) RETURNING short_code",
                    region,
                    pivot,
                    count - len(codes),
                    now(),
                    holder,
                )
                codes += [row[0] for row in rows]
                if len(codes) == count:
                    break
            return await _taken(statements, region, code_length, codes, floor)

        return await self._database.transaction(work)

    async def claim(self, region: str, code_length: int, codes: Sequence[str], *, floor: int = 0) -> Taken:
        """Those of the codes that are unused, for this caller alone: their rows go. Raises as `reserve` does."""
        # Two may claim the same code when Redis went back: neither waits for the other.
        claim = (
            "WITH chosen AS MATERIALIZED (SELECT short_code FROM kgs_keys WHERE short_code IN ($ids)"
            f" AND region = $1 AND status = 'unused' {self._database.skip_locked})"
            " DELETE FROM kgs_keys WHERE short_code IN (SELECT short_code FROM chosen) RETURNING short_code"
        )

        async def work(statements: Statements) -> Taken:
            rows = await statements.fetch_among(claim, codes, region)
            return await _taken(statements, region, code_length, [row[0] for row in rows], floor)

        return await self._database.transaction(work)

    # Looking after the pool

    async def renew_pool(self, region: str, code_length: int, limit: int, fence: Fence) -> bool:
        """One bounded step of discarding a pool from before a failover or restore, or of another code length.

        True when nothing of it is left, and the pool may be filled again; its count is right from then on.
        """

        async def work(statements: Statements) -> bool:
            await fence(statements)
            row = await statements.fetch_one(
                "SELECT coalesce(pool_lineage, '') = database_lineage() FROM kgs_range"
                " WHERE region = $1 AND code_length = $2",
                region,
                code_length,
            )
            arguments: tuple[object, ...]
            if row is not None and row[0]:
                old, arguments = "length(short_code) <> $3", (region, limit, code_length)
            else:
                old, arguments = "status <> 'used'", (region, limit)
            discarded = await statements.execute(
                "DELETE FROM kgs_keys WHERE short_code IN"
                f" (SELECT short_code FROM kgs_keys WHERE region = $1 AND {old} LIMIT $2)",
                *arguments,
            )
            if discarded:
                return False
            await statements.execute(
                "UPDATE kgs_range SET pool_lineage = database_lineage(), pooled = taken +"
                " (SELECT count(*) FROM kgs_keys WHERE kgs_keys.region = $1 AND status = 'unused')"
                " WHERE region = $1 AND code_length = $2",
                region,
                code_length,
            )
            return True

        return await self._database.transaction(work)

    async def unused_page(self, region: str, after: str, limit: int) -> list[str]:
        """Unused codes in their order, for whoever checks them."""
        rows = await self._database.fetch_all(
            "SELECT short_code FROM kgs_keys WHERE region = $1 AND status = 'unused' AND short_code > $2"
            " ORDER BY short_code LIMIT $3",
            region,
            after,
            limit,
        )
        return [row[0] for row in rows]

    async def unused_counts(self, region: str, code_length: int) -> tuple[int, int]:
        """Unused codes as the cursor's row counts them, and as there are, at the same moment."""
        row = await self._database.fetch_one(
            "SELECT pooled - taken, (SELECT count(*) FROM kgs_keys WHERE kgs_keys.region = $1 AND status = 'unused')"
            " FROM kgs_range WHERE region = $1 AND code_length = $2 AND pool_lineage = database_lineage()",
            region,
            code_length,
        )
        return (int(row[0]), int(row[1])) if row else (0, 0)

    async def unused_in_use(self, region: str) -> int:
        """Unused codes that a link has: only a custom code can have come first."""
        row = await self._database.fetch_one(
            "SELECT count(*) FROM kgs_keys JOIN short_link ON short_link.short_code = kgs_keys.short_code"
            " WHERE kgs_keys.region = $1 AND kgs_keys.status = 'unused'",
            region,
        )
        return int(row[0]) if row else 0

    async def drop_finished(self, limit: int, *, blocks_before: int, keys_before: int) -> int:
        """Removes rows that have served: used ones, blocks of workers that have died, keys nobody came for."""
        return await self._database.execute(
            "DELETE FROM kgs_keys WHERE short_code IN (SELECT short_code FROM kgs_keys WHERE status <> 'unused' AND"
            " (status = 'used' OR allocated_at < $1 OR (allocated_at < $2 AND allocated_to_service LIKE $3))"
            " LIMIT $4)",
            keys_before,
            blocks_before,
            "worker:%",
            limit,
        )


def _meet(row: Row, region: str, prefix: str, length: int) -> bool:
    """Could codes of this length, with this prefix, be those of another region, or of this one's earlier prefix?"""
    if row[1] != length or (row[0] == region and row[2] == prefix):
        return False
    return row[0] == region or not (row[2] and prefix) or row[2] == prefix


async def _taken(
    statements: Statements, region: str, code_length: int, codes: list[str], floor: int
) -> Taken:
    """Counts them, and burns one counter, so that the cursor has moved."""
    row = await statements.fetch_one(
        "UPDATE kgs_range SET taken = taken + $3, next = next + 1 WHERE region = $1 AND code_length = $2"
        " RETURNING pool_lineage = database_lineage() AND next > $4, next",
        region,
        code_length,
        len(codes),
        floor,
    )
    if row is None or not row[0]:
        # Codes that this database believes unused may have been used on the one it was before.
        raise Unavailable("The pool of codes is from before a failover or a restore.")
    return Taken(codes, int(row[1]))


async def _jump(statements: Statements, region: str, code_length: int, landing: int, skipped: int) -> None:
    """The pool is marked as another's: nobody takes from it until it has been discarded."""
    await statements.execute(
        "UPDATE kgs_range SET next = $3, skipped = skipped + $4, lineage = database_lineage(), pool_lineage = NULL"
        " WHERE region = $1 AND code_length = $2",
        region,
        code_length,
        landing,
        skipped,
    )
