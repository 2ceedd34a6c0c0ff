"""A process that takes codes without a pause, or one that keeps them ready: to be killed, stopped and started anew.

    python -m tests.faults.code_worker allocate OUT   given codes are appended to the file OUT, a line each
    python -m tests.faults.code_worker fill

The settings come from the environment, as a server's do. A code counts as given once the database has committed it
under its unique index, as a link's would be. While the file `pause` stands beside OUT nobody takes any.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from laconic.clock import SECOND
from laconic.errors import Unavailable
from laconic.settings import read_settings
from laconic.storage.engines import open_database, open_shared_store
from laconic.upkeep.lease import Lease
from laconic.wiring import Services, open_code_works, open_filler, open_services

_BATCH = 500
# Short, so that a filler that is stopped for seconds has lost it.
LEASE = 2 * SECOND


async def allocate(out: Path) -> None:
    async with open_services(read_settings(base_url="http://localhost:8000")) as services:
        log, pause = out.with_suffix(".log"), out.with_name("pause")
        with out.open("a") as given:
            while True:
                if pause.exists():
                    await asyncio.sleep(0.02)
                    continue
                try:
                    codes = await _give(services)
                except Unavailable as error:
                    with log.open("a") as told:
                        told.write(json.dumps({"at": time.time(), "refused": str(error)}) + "\n")
                    await asyncio.sleep(0.05)
                    continue
                if services.codes.conflicts:
                    # No custom code is there that could have come first.
                    raise AssertionError("the unique index had to refuse a code of the pool")
                given.write("".join(f"{code}\n" for code in codes))
                given.flush()


async def _give(services: Services) -> list[str]:
    """A batch of codes that the database has taken; those that it refuses are replaced, unseen by whoever waits."""
    codes = await services.codes.take(_BATCH)
    refused = set(codes) - await _insert(services, codes)
    codes = [code for code in codes if code not in refused]
    for _ in refused:
        services.codes.refused()
        new = await services.codes.replace()
        assert await _insert(services, new) == set(new)
        codes += new
    return codes


async def _insert(services: Services, codes: list[str]) -> set[str]:
    rows = await services.database.fetch_all(
        "INSERT INTO given (code) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING RETURNING code", codes
    )
    return {row[0] for row in rows}


async def fill() -> None:
    settings = read_settings()
    database = await open_database(settings.effective_database_url)
    works = await open_code_works(settings, database)
    lease = Lease(database, works.maker.job, duration=LEASE)
    await open_filler(settings, works, lease, open_shared_store(settings.redis_url)).run(asyncio.Event())


def main() -> None:
    """When the database goes away during the start, the program is started anew, as a supervisor would."""
    try:
        asyncio.run(fill() if sys.argv[1] == "fill" else allocate(Path(sys.argv[2])))
    except Unavailable:
        time.sleep(0.1)
        os.execv(sys.executable, [sys.executable, "-m", "tests.faults.code_worker", *sys.argv[1:]])


if __name__ == "__main__":
    main()
