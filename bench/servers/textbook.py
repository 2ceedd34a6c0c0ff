"""The textbook shortener and the two servers that it needs."""

import asyncio
import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import asyncpg
from redis.asyncio import Redis

from bench import proc, requests
from bench.processes import ROOT, free_port, python
from bench.servers.server import Server
from bench.textbook.app import Shortener
from tests.servers import PostgresServer, RedisServer

_AT_ONCE = 100
_URL = "https://example.com/articles/{:012}"
# As Laconic's own in `bench.stores`: the comparison is of programs, not of settings.
_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "2GB"}


class TextbookStore:
    """A PostgreSQL of its own, synced, and a Redis. Outlive the program in front of them."""

    def __init__(self, cores: frozenset[int]) -> None:
        self._cores = cores
        self._stack = ExitStack()
        self.postgres = PostgresServer(durable=True, settings=_SETTINGS)
        self.redis = RedisServer()

    @property
    def roots(self) -> list[int]:
        return [self.postgres.process_id, self.redis.process_id]

    def clicks(self) -> int:
        """Rows and counters say the same, or the reference is wrong."""
        ((rows, counted),) = self._ask(
            "SELECT (SELECT count(*) FROM clicks), (SELECT coalesce(sum(click_count), 0)::bigint FROM links)"
        )
        if rows != counted:
            raise RuntimeError(f"The textbook shortener has {rows} clicks and counts {counted}.")
        return int(rows)

    def codes(self) -> list[str]:
        return [row[0] for row in self._ask("SELECT short_code FROM links")]

    def make_links(self, count: int) -> list[str]:
        """Straight into the table that a running program has made, and looked up once: all of them are in the cache."""
        codes = [f"t{number:06}" for number in range(count)]
        asyncio.run(self._make_links(codes))
        return codes

    async def _make_links(self, codes: list[str]) -> None:
        rows = [(code, _URL.format(number)) for number, code in enumerate(codes)]
        cache = Redis.from_url(self.redis.url(), decode_responses=True)
        async with asyncpg.create_pool(self.postgres.url()) as pool:
            await pool.copy_records_to_table("links", records=rows, columns=("short_code", "original_url"))
            await pool.execute("VACUUM ANALYZE links")
            shortener = Shortener(pool, cache)
            for first in range(0, len(codes), _AT_ONCE):
                await asyncio.gather(*map(shortener.find, codes[first : first + _AT_ONCE]))
        await cache.aclose()

    def _ask(self, query: str) -> list[Any]:
        async def ask() -> list[Any]:
            connection = await asyncpg.connect(self.postgres.url())
            try:
                return await connection.fetch(query)
            finally:
                await connection.close()

        return asyncio.run(ask())

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.postgres)
            stack.enter_context(self.redis)
            for root in self.roots:
                for pid in proc.tree(root):
                    os.sched_setaffinity(pid, self._cores or os.sched_getaffinity(0))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()


class Textbook(Server):
    def __init__(self, store: TextbookStore, log: Path, *, cores: frozenset[int]) -> None:
        port = free_port()
        where = ("--database-url", store.postgres.url(), "--redis-url", store.redis.url())
        super().__init__(
            "textbook",
            python("bench.textbook", "--port", str(port), *where),
            port,
            log,
            is_up=lambda: requests.get_status(port, "/health") == 200,
            cores=cores,
            environment={**os.environ, "PYTHONPATH": str(ROOT)},
            helpers=store.roots,
        )
