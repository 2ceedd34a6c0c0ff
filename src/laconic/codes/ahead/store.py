"""The SQL of codes that programs have taken ahead: rows of the pool's table that are reserved for an API key."""

from collections.abc import Iterator, Sequence

from laconic.clock import now
from laconic.storage.database import Database, Statements


class AheadStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def insert_reserved(self, region: str, codes: Sequence[str], holder: str) -> None:
        """Codes that were made for this holder and have never been in the pool."""
        moment = now()
        await self._database.insert_many(
            "kgs_keys",
            ("short_code",),
            [(code,) for code in codes],
            {
                "region": region,
                "status": "reserved",
                "created_at": moment,
                "allocated_at": moment,
                "allocated_to_service": holder,
            },
        )

    async def give_back(self, region: str, code_length: int, holder: str, codes: Sequence[str]) -> int:
        """Reserved codes of this holder become unused again; gives how many."""

        async def work(statements: Statements) -> int:
            returned = 0
            for some in _slices(codes):
                returned += await statements.execute(
                    "UPDATE kgs_keys SET status = 'unused', allocated_at = NULL, allocated_to_service = NULL"
                    " WHERE region = $1 AND allocated_to_service = $2 AND status = 'reserved'"
                    f" AND short_code IN ({_marks(3, len(some))})",
                    region,
                    holder,
                    *some,
                )
            await statements.execute(
                "UPDATE kgs_range SET pooled = pooled + $3 WHERE region = $1 AND code_length = $2",
                region,
                code_length,
                returned,
            )
            return returned

        return await self._database.transaction(work)

    async def holders(self, codes: Sequence[str]) -> dict[str, str]:
        """Those of the codes that programs have, and whose they are. Blocks of workers are not meant."""
        found: dict[str, str] = {}
        for some in _slices(codes):
            rows = await self._database.fetch_all(
                "SELECT short_code, allocated_to_service FROM kgs_keys WHERE status = 'reserved'"
                f" AND allocated_to_service NOT LIKE $1 AND short_code IN ({_marks(2, len(some))})",
                "worker:%",
                *some,
            )
            found.update((row[0], row[1]) for row in rows)
        return found

    async def mark_used(self, holder: str, code: str, link_id: int) -> None:
        """After the commit of the link."""
        await self._database.execute(
            "UPDATE kgs_keys SET status = 'used', allocated_to_url_id = $3"
            " WHERE short_code = $1 AND allocated_to_service = $2 AND status = 'reserved'",
            code,
            holder,
            link_id,
        )


def _slices(codes: Sequence[str], size: int = 500) -> Iterator[Sequence[str]]:
    return (codes[start : start + size] for start in range(0, len(codes), size))


def _marks(first: int, count: int) -> str:
    return ", ".join(f"${number}" for number in range(first, first + count))
