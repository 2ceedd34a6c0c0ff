"""Redirects with no cache at all, each code looked up among a million, beside a framework route that looks up nothing and
the textbook shortener that has everything in its cache."""

import random

from bench.report import Report, at_least, at_most, ratios
from bench.rounds import REDIRECT_P99, Round, add_rounds, interleave, measure_round
from bench.run import Run
from bench.scenarios.pipeline import cached_turn
from bench.servers.references import start_bare_fastapi
from bench.servers.server import Server
from bench.servers.textbook import TextbookStore

_TEXTBOOK_LINKS = 10_000
# More than a round asks for, so that no row is read twice in one.
_CODES = 200_000
_SEED = 2


def measure(run: Run) -> Report:
    filled = run.filled
    links = f"{len(filled.bulk.codes):,} links on {run.options.engine}"
    report = Report(
        "cold",
        f"redirects with the cache off, {links}, beside a bare FastAPI route and the textbook's cached",
    )
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
        TextbookStore(run.options.server_cores) as shelf,
        run.textbook(shelf) as textbook,
    ):
        cached = cached_turn(run, textbook, shelf.make_links(_TEXTBOOK_LINKS), visits=False)
        turns = interleave(
            "cold",
            run.options.rounds,
            {ours.name: lambda: load(ours), bare.name: lambda: load(bare), textbook.name: cached},
        )
    add_rounds(report, ours.name, turns[ours.name], REDIRECT_P99)
    add_rounds(report, bare.name, turns[bare.name])
    add_rounds(report, textbook.name, turns[textbook.name])
    # Promised for SQLite, where a look-up is a read in the same thread; PostgreSQL's is a trip to another process.
    floor = at_least(1) if run.options.engine == "sqlite" else None
    route = [turn.per_answering_cpu for turn in turns[bare.name]]
    report.add(
        "ratio to the bare route: web worker, click journaled",
        ratios([turn.per_answering_cpu for turn in turns[ours.name]], route),
        target=floor,
    )
    report.add(
        "ratio to the bare route: all processes, click in the database",
        ratios([turn.per_cpu for turn in turns[ours.name]], route),
        target=floor,
    )
    report.add(
        "ratio to the textbook's cached: all processes and databases, click in the database",
        ratios([turn.per_cpu for turn in turns[ours.name]], [turn.per_cpu for turn in turns[textbook.name]]),
        target=at_least(5) if run.options.engine == "sqlite" else None,
    )
    errors = sum(turn.load.errors for some_turns in turns.values() for turn in some_turns)
    report.add("errors", [errors], target=at_most(0))
    return report
