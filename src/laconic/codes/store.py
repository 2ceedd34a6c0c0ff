"""The SQL of codes: the range cursor and the secret of the permutation."""

import secrets

from laconic.clock import now
from laconic.codes.permutation import SECRET_BYTES
from laconic.errors import Unavailable
from laconic.storage.database import Database, Row, Statements


class CodeStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def lease(self, region: str, code_length: int, count: int) -> range:
        """The next `count` counters, for this caller alone: the row's update is the referee."""

        async def work(statements: Statements) -> Row | None:
            return await statements.fetch_one(
                "INSERT INTO kgs_range (region, code_length, next) VALUES ($1, $2, $3)"
                " ON CONFLICT (region, code_length) DO UPDATE SET next = kgs_range.next + excluded.next"
                " RETURNING next",
                region,
                code_length,
                count,
            )

        row = await self._database.transaction(work)
        if row is None:
            raise Unavailable("The code cursor did not answer.")
        end = int(row[0])
        return range(end - count, end)

    async def permutation_secret(self) -> bytes:
        """Made at first start, whoever comes first; the same for every process of the installation."""
        await self._database.execute(
            "INSERT INTO secret (name, value, created_at) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING",
            "permutation",
            secrets.token_bytes(SECRET_BYTES),
            now(),
        )
        row = await self._database.fetch_one("SELECT value FROM secret WHERE name = $1", "permutation")
        if row is None:
            raise Unavailable("The permutation's secret cannot be read.")
        return bytes(row[0])
