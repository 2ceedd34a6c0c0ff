"""One link that everybody follows, beside as many redirects spread over many links: a hot link must not be slower."""

from bench.report import Report, at_least, at_most, ratios
from bench.rounds import REDIRECT_P99, add_rounds, interleave
from bench.run import Run
from bench.scenarios.pipeline import cached_turn
from bench.wrk import CONNECTIONS

_LINKS = 10_000


def measure(run: Run) -> Report:
    report = Report("hot", f"cached redirects of one link and of {_LINKS:,}, {CONNECTIONS} connections")
    store = run.engine.new_store()
    with run.laconic(store) as server:
        codes = run.make_links(server, _LINKS).codes
        turns = interleave(
            "hot",
            run.options.rounds,
            {"one link": cached_turn(run, server, codes[:1]), "many links": cached_turn(run, server, codes)},
        )
    for name, some in turns.items():
        add_rounds(report, name, some, REDIRECT_P99)
    one, many = turns["one link"], turns["many links"]
    report.add(
        "ratio: one to many, requests per CPU-second of the worker",
        ratios([turn.per_answering_cpu for turn in one], [turn.per_answering_cpu for turn in many]),
        target=at_least(0.95),
    )
    report.add(
        "ratio: one to many, requests/s",
        ratios([turn.rate for turn in one], [turn.rate for turn in many]),
        target=at_least(0.95),
    )
    report.add(
        "ratio: one to many, requests per CPU-second of all processes",
        ratios([turn.per_cpu for turn in one], [turn.per_cpu for turn in many]),
        target=at_least(0.95),
    )
    report.add("errors", [turn.load.errors for some in turns.values() for turn in some], target=at_most(0))
    store.remove()
    return report
