"""Redirects with no cache at all, each code looked up among a million, beside a framework route that looks up nothing."""

import random

from bench.report import Report, at_least, at_most, ratios
from bench.rounds import REDIRECT_P99, Round, add_rounds, interleave, measure_round
from bench.run import Run
from bench.servers.references import start_bare_fastapi
from bench.servers.server import Server

# More than a round asks for, so that no row is read twice in one.
_CODES = 200_000
_SEED = 2


def measure(run: Run) -> Report:
    filled = run.filled
    links = f"{len(filled.bulk.codes):,} links on {run.options.engine}"
    report = Report("cold", f"redirects with the cache off, {links}, beside a bare FastAPI route")
    some = random.Random(_SEED).sample(filled.bulk.codes, min(_CODES, len(filled.bulk.codes)))
    codes, no_headers = run.file("codes", some), run.file("headers")

    def load(server: Server) -> Round:
        return measure_round(
            server,
            lambda: run.wrk.run("cycle", server.port, run.options.seconds, str(codes), str(no_headers)),
        )

    with (
        run.laconic(filled.store, {"LACONIC_CACHE_ENTRIES": "0"}) as ours,
        start_bare_fastapi(run.folder, run.options.server_cores) as bare,
    ):
        turns = interleave(
            "cold", run.options.rounds, {ours.name: lambda: load(ours), bare.name: lambda: load(bare)}
        )
    add_rounds(report, ours.name, turns[ours.name], REDIRECT_P99)
    add_rounds(report, bare.name, turns[bare.name])
    # Promised for SQLite, where a look-up is a read in the same thread; PostgreSQL's is a trip to another process.
    floor = at_least(1) if run.options.engine == "sqlite" else None
    route = [turn.per_answering_cpu for turn in turns[bare.name]]
    report.add(
        "ratio: web worker, click journaled",
        ratios([turn.per_answering_cpu for turn in turns[ours.name]], route),
        target=floor,
    )
    report.add(
        "ratio: all processes, click in the database",
        ratios([turn.per_cpu for turn in turns[ours.name]], route),
        target=floor,
    )
    errors = sum(turn.load.errors for some_turns in turns.values() for turn in some_turns)
    report.add("errors", [errors], target=at_most(0))
    return report
