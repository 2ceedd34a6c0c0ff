"""python -m bench.pages [links] [engine]: how long the list of links takes on the server, in a workspace of a million.

The whole page, from the request to its last byte, in one process without sockets. Prints milliseconds: the median and the
slowest of a number of requests; and the CPU time of this process, which another's load does not lengthen. (On
PostgreSQL the server's own share is in the wall-clock time only.)
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import httpx

from laconic.clicks.journal import Journal
from laconic.clock import DAY, now
from laconic.ids import IdSource
from laconic.logs import set_up_logs
from laconic.settings import Rate, Settings
from laconic.storage.database import Statements
from laconic.storage.engines import migrate, open_database
from laconic.web.app import App
from laconic.wiring import Services, open_services
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, DEFAULT_WORKSPACE_ID
from tests.servers import PostgresServer

_BASE_URL = "http://localhost:8000"
_REQUESTS = 15
_BATCH = 1_000
_WORDS = (
    "alpha beta gamma delta shop news blog product article user page view item catalog summer winter autumn spring"
    " red blue green offer price list garden music video photo travel food sport"
).split()
# What people do with the list; the last of a million is found as soon as the first.
_VIEWS = {
    "opens": "",
    "search: part of a URL, one link": "?search=/needle-77",
    "search: part of a URL, none": "?search=nowhere.invalid",
    "search: part of a URL, a hundredth": "?search=example7.com/garden",
    "search: part of a URL, all": "?search=example",
    "search: two letters": "?search=ga",
    "search: word of a title": "?search=needlework",
    "search: code": "?search=c0000500",
    "filter: live": "?state=active",
    "filter: expired (none)": "?state=expired",
    "sort: oldest": "?sort=created_at",
    "sort: most clicks": "?sort=-clicks",
    "filter: off (none), most clicks": "?state=disabled&sort=-clicks",
    "search and most clicks": "?search=example7.com/garden&sort=-clicks",
    "sort: fewest clicks": "?sort=clicks",
    "filter: off (none)": "?state=disabled",
    "sort: changed last": "?sort=-updated_at",
}


def _rows(count: int) -> Any:
    """Links of the last year, oldest first; every fifth will expire."""
    ids, chance = IdSource(), random.Random(7)
    begun = now() - 360 * DAY
    step = 359 * DAY // count
    for number in range(count):
        moment = begun + number * step
        word, other = chance.choice(_WORDS), chance.choice(_WORDS)
        url = f"https://{word}{number % 500}.example{number % 20}.com/{other}/{word}-{number}?ref={other}"
        if number == count // 3:
            url = "https://hidden.example.org/needle-77"
        title = "Needlework" if number == count // 2 else None
        yield (
            *(ids.take(moment), DEFAULT_WORKSPACE_ID, DEFAULT_DOMAIN_ID, f"c{number:07}", url, None, None),
            *(
                None,
                title,
                None,
                "{}",
                None,
                moment,
                moment,
                begun + 1_000 * DAY if number % 5 == 0 else None,
                302,
            ),
        )


async def _fill(services: Services, count: int) -> None:
    begun = time.perf_counter()
    batch: list[Any] = []
    for row in _rows(count):
        batch.append(row)
        if len(batch) == _BATCH:
            await services.links.insert_many(DEFAULT_WORKSPACE_ID, batch)
            batch = []
    if batch:
        await services.links.insert_many(DEFAULT_WORKSPACE_ID, batch)
    print(f"  {count:,} links made in {time.perf_counter() - begun:.0f} s", flush=True)


async def _follow(database_url: str) -> None:
    """Three of five links were followed, most of them once or twice."""
    chance = random.Random(5)
    database = await open_database(database_url, writes="clicks")
    links = await database.fetch_all("SELECT id FROM short_link")
    rows = [
        (link_id, DEFAULT_WORKSPACE_ID, int(chance.paretovariate(0.8)))
        for (link_id,) in links
        if chance.random() < 0.6
    ]
    for start in range(0, len(rows), _BATCH):

        async def work(statements: Statements, some: Sequence[Any] = rows[start : start + _BATCH]) -> None:
            await statements.insert_many("link_total", ("link_id", "workspace_id", "clicks"), some)

        await database.transaction(work)
    await database.close()
    print(f"  {len(rows):,} of them were followed", flush=True)


async def _index(services: Services) -> None:
    """What upkeep does behind the writers."""
    begun, past, before = time.process_time(), 0, -1
    while past != before:
        before = past
        await services.database.tidy()
        row = await services.database.fetch_one("SELECT past FROM search_position")
        past = row[0] if row else 0
    print(f"  their URLs indexed in {time.process_time() - begun:.0f} CPU-s of upkeep", flush=True)


async def _measure(client: httpx.AsyncClient) -> None:
    for name, query in _VIEWS.items():
        wall, cpu, shown = [], [], 0
        for number in range(_REQUESTS):
            begun, used = time.perf_counter(), time.process_time()
            answer = await client.get(f"/dashboard/links{query}", headers={"accept": "text/html"})
            if number:
                wall.append((time.perf_counter() - begun) * 1e3)
                cpu.append((time.process_time() - used) * 1e3)
            assert answer.status_code == 200, answer.text
            shown = answer.text.count('name="link"')
        print(
            f"  {name:36} {statistics.median(wall):8.1f} ms   slowest {max(wall):8.1f}"
            f"   CPU {statistics.median(cpu):7.1f} ms   {shown} shown",
            flush=True,
        )


@asynccontextmanager
async def _opened(folder: Path, database_url: str) -> AsyncIterator[tuple[Services, httpx.AsyncClient]]:
    await migrate(database_url)
    unhurried = Rate(per_second=10_000_000, burst=10_000_000)
    settings = Settings(data=str(folder), database_url=database_url, base_url=_BASE_URL, rate_api=unhurried)
    async with open_services(settings) as services:
        journal = Journal(settings.journal_folder)
        try:
            transport = httpx.ASGITransport(App(services, journal), client=("127.0.0.1", 50_000))
            async with httpx.AsyncClient(transport=transport, base_url=_BASE_URL) as client:
                yield services, client
        finally:
            journal.close()


async def sqlite(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/laconic.db"
        async with _opened(Path(folder), url) as (services, client):
            print("SQLite")
            await _fill(services, count)
            await _follow(url)
            await _index(services)
            await _measure(client)


async def postgres(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder, PostgresServer() as server:
        connection = await asyncpg.connect(server.url())
        await connection.execute("CREATE DATABASE pages")
        await connection.close()
        url = server.url("pages")
        async with _opened(Path(folder), url) as (services, client):
            print("PostgreSQL")
            await _fill(services, count)
            await _follow(url)
            for table in ("short_link", "link_total"):
                await services.database.execute(f"VACUUM (ANALYZE) {table}")
            await _measure(client)


def main() -> None:
    runs = {"sqlite": sqlite, "postgres": postgres}
    parser = argparse.ArgumentParser(prog="python -m bench.pages", description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1_000_000, help="links of the workspace")
    parser.add_argument("engines", nargs="*", help="sqlite, postgres or, without any, both")
    options = parser.parse_args()
    set_up_logs("info", "text")
    for engine in options.engines or runs:
        asyncio.run(runs[engine](options.count))


if __name__ == "__main__":
    main()
