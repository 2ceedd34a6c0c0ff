"""Clicks per CPU-second on their way from a journal into the database: of all processes, the database included."""

import asyncio
import random
import time
from pathlib import Path

from bench import proc
from bench.click_maker import Shape, find_links, write_journal
from bench.report import Report, Target, at_least, at_most
from bench.run import Run, say
from bench.stores import Store
from laconic.clock import DAY, now
from laconic.storage.engines import open_database

_LINKS = 100_000
_ADDRESSES = 100_000
_SEED = 7
_TARGETS: dict[str, Target] = {
    "sqlite": at_least(30_000, goal=50_000),
    "postgres": at_least(15_000, goal=25_000),
}
_LOOK_SECONDS = 0.2
# A bound far above what it should take, against waiting for ever.
_LONGEST_SECONDS = 3_600.0


def measure(run: Run) -> Report:
    clicks = run.options.journaled
    links = min(_LINKS, clicks)
    report = Report(
        "ingest",
        f"{clicks:,} clicks of one day on {links:,} links, from a dead worker's journal, {run.options.engine}",
    )
    store = run.engine.new_store()
    with run.laconic(store) as server:
        run.make_links(server, links)
    say("ingest: a start without clicks")
    alone, _ = _serve(run, store)
    say(f"ingest: writing a journal of {clicks:,} clicks")
    ids = asyncio.run(_link_ids(store, links))
    # Else the most followed links would be neighbours in every index.
    random.Random(_SEED).shuffle(ids)
    shape = Shape(clicks, 1, links, _SEED, visitors=_ADDRESSES, slope=1.0)
    # Of yesterday: none of them is ahead of the clock.
    written = write_journal(store.folder / "journal", ids, shape, now() // DAY - 1)
    say("ingest: applying it")
    with_clicks, seconds = _serve(run, store)
    used = with_clicks - alone
    report.add("clicks per CPU-second, all processes", [written / used], target=_TARGETS[run.options.engine])
    report.add("clicks/s, from the start of the server", [written / seconds])
    report.add("CPU of a start without clicks, taken off", [alone], "s")
    report.add("clicks journaled and not counted", [abs(written - store.clicks())], target=at_most(0))
    store.remove()
    return report


def _serve(run: Run, store: Store) -> tuple[float, float]:
    """CPU-seconds from a server's start until the journals it found are applied and all is at rest; and how long the
    applying took."""
    locks = list((store.folder / "journal").glob("*.lock"))
    before = proc.tree_cpu_seconds(store.roots)
    began = time.monotonic()
    with run.laconic(store) as server:
        # By the files: to ask the database again and again would be work for it.
        while any(map(Path.exists, locks)):
            if time.monotonic() > began + _LONGEST_SECONDS:
                raise RuntimeError("The journal is never applied.")
            time.sleep(_LOOK_SECONDS)
        seconds = time.monotonic() - began
        server.settle()
        return server.cpu().all - before, seconds


async def _link_ids(store: Store, most: int) -> list[int]:
    database = await open_database(store.url)
    try:
        return [link_id for link_id, _, _ in await find_links(database, most)]
    finally:
        await database.close()
