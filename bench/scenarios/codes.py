"""Codes made ahead: how fast they are made, how long a create waits for one, and what the pool costs a create."""

import asyncio
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass

from bench import proc
from bench.report import Report, at_least, at_most, ratios
from bench.rounds import Round, interleave, measure_round
from bench.run import Run
from bench.servers.laconic import Laconic
from bench.stores import Store
from laconic.codes.maker import FEW, MANY, CodeMaker
from laconic.codes.permutation import SECRET_BYTES
from laconic.settings import Settings
from laconic.storage.engines import migrate
from laconic.upkeep.lease import Lease
from laconic.wiring import Services, open_filler, open_services

_MADE = 200_000
_POOL = 100_000
_TAKEN = 50_000


@dataclass(frozen=True, slots=True)
class _Filling:
    codes: int
    seconds: float
    cpu: float
    cpu_with_database: float


def measure(run: Run) -> Report:
    report = Report("codes", f"codes made ahead of need, {run.options.engine}")
    rounds = range(run.options.rounds)
    made = [_make(MANY) for _ in rounds]
    report.add("made, codes per CPU-second", made, target=at_least(50_000))
    made = [_make(FEW) for _ in rounds]
    report.add("made, codes per CPU-second, as web workers do when the pool is empty", made)
    filled: list[_Filling] = []
    waits: list[list[int]] = []
    for _ in rounds:
        store = run.engine.new_store()
        filling, wait = asyncio.run(_fill_and_take(store))
        filled.append(filling)
        waits.append(wait)
        store.remove()
    report.add("filled, codes per CPU-second of the filler", [one.codes / one.cpu for one in filled])
    report.add(
        "filled, codes per CPU-second, database included",
        [one.codes / one.cpu_with_database for one in filled],
    )
    report.add("filled, codes per second", [one.codes / one.seconds for one in filled])
    report.add("taking one code, p50", [_share(wait, 0.5) / 1e3 for wait in waits], "µs")
    report.add("taking one code, p99", [_share(wait, 0.99) / 1e3 for wait in waits], "µs", at_most(50))
    report.add("taking one code, p99.9", [_share(wait, 0.999) / 1e3 for wait in waits], "µs")
    _add_creates(report, run)
    return report


def _make(at_a_time: int) -> float:
    maker = CodeMaker(bytes(SECRET_BYTES), 7)
    began = time.process_time()
    made = sum(len(maker.make(range(start, start + at_a_time))) for start in range(0, _MADE, at_a_time))
    return made / (time.process_time() - began)


async def _fill_and_take(store: Store) -> tuple[_Filling, list[int]]:
    settings = Settings(
        data=str(store.folder),
        database_url=store.environment.get("LACONIC_DATABASE_URL", ""),
        base_url="http://localhost:8000",
        kgs_pool_min_size=_POOL,
    )
    await migrate(settings.effective_database_url)
    async with open_services(settings) as services:
        return await _fill(services, store), await _take(services)


async def _fill(services: Services, store: Store) -> _Filling:
    lease = Lease(services.database, services.works.maker.job)
    filler = open_filler(services.settings, services.works, lease, None)
    began, cpu, outside = time.monotonic(), time.process_time(), proc.tree_cpu_seconds(store.roots)
    await filler.run_to_rest()
    seconds, own = time.monotonic() - began, time.process_time() - cpu
    return _Filling(filler.made, seconds, own, own + proc.tree_cpu_seconds(store.roots) - outside)


async def _take(services: Services) -> list[int]:
    """Nanoseconds of each, as a create meets it: one code, then the loop has other work."""
    waits = []
    for _ in range(_TAKEN):
        began = time.perf_counter_ns()
        await services.codes.take()
        waits.append(time.perf_counter_ns() - began)
        await asyncio.sleep(0)
    return waits


def _share(values: list[int], share: float) -> float:
    return sorted(values)[int(len(values) * share)]


def _add_creates(report: Report, run: Run) -> None:
    """Two servers that differ in nothing but the pool, by turns."""
    numbers = itertools.count(1)

    def turns(server: Laconic) -> Callable[[], Round]:
        def turn() -> Round:
            codes, word = run.file("answered"), f"round{next(numbers)}"
            return measure_round(
                server, lambda: run.wrk.run("create", server.port, run.options.seconds, str(codes), word)
            )

        return turn

    stores = [run.engine.new_store() for _ in range(2)]
    with (
        run.laconic(stores[0]) as pooled,
        run.laconic(stores[1], {"LACONIC_KGS_POOL_MIN_SIZE": "0"}) as without,
    ):
        done = interleave(
            "creates", run.options.rounds, {"with the pool": turns(pooled), "without": turns(without)}
        )
    rates = {name: [turn.load.created / turn.load.seconds for turn in some] for name, some in done.items()}
    for name, values in rates.items():
        report.add(f"creates/s {name}", values)
    ratio = ratios(rates["with the pool"], rates["without"])
    report.add("creates/s, with to without", ratio, target=at_least(0.9))
    for name, some in done.items():
        report.add(f"p99 {name}", [turn.load.p99 for turn in some], "ms")
    report.add(
        "answers other than 201",
        [turn.load.errors for some in done.values() for turn in some],
        target=at_most(0),
    )
    for store in stores:
        store.remove()
