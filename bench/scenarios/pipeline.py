"""The whole way of a redirect until its click is in the database, beside the textbook shortener's whole way."""

from collections.abc import Callable, Sequence

from bench import requests
from bench.report import Report, at_least, at_most, ratios
from bench.rounds import REDIRECT_P99, Round, add_rounds, interleave, measure_round
from bench.run import Run
from bench.scenarios.hit import BROWSER
from bench.servers.server import Server
from bench.servers.textbook import TextbookStore
from bench.wrk import CONNECTIONS

_LINKS = 10_000


def cached_turn(
    run: Run, server: Server, codes: Sequence[str], headers: str = "", *, visits: bool = True
) -> Callable[[], Round]:
    """Turns of redirects that the cache knows by then. Laconic's entries are visited first, as in `hit`: so that none
    comes due in the pause between turns."""
    file, lines = run.file("codes", codes), run.file("headers")
    lines.write_bytes(headers.replace("\n", "\r\n").encode())

    def turn() -> Round:
        if visits:
            requests.visit_each(server.port, codes)
        return measure_round(
            server, lambda: run.wrk.run("cycle", server.port, run.options.seconds, str(file), str(lines))
        )

    return turn


def measure(run: Run) -> Report:
    report = Report(
        "pipeline",
        f"cached redirects over {_LINKS:,} links with a browser's headers until every click is written,"
        f" {run.options.engine}, beside the textbook shortener",
    )
    store = run.engine.new_store()
    with (
        TextbookStore(run.options.server_cores) as shelf,
        run.textbook(shelf) as textbook,
        run.laconic(store) as ours,
    ):
        codes = {
            ours.name: run.make_links(ours, _LINKS).codes,
            textbook.name: shelf.make_links(_LINKS),
        }
        turns = interleave(
            "pipeline",
            run.options.rounds,
            {
                ours.name: cached_turn(run, ours, codes[ours.name], BROWSER),
                textbook.name: cached_turn(run, textbook, codes[textbook.name], BROWSER, visits=False),
            },
        )
        written = {ours.name: store.clicks(), textbook.name: shelf.clicks()}
    add_rounds(report, ours.name, turns[ours.name], REDIRECT_P99)
    add_rounds(report, textbook.name, turns[textbook.name])
    report.add(
        "ratio: requests per CPU-second, all processes and databases, every click written",
        ratios([turn.per_cpu for turn in turns[ours.name]], [turn.per_cpu for turn in turns[textbook.name]]),
        target=at_least(20),
    )
    for name, some in turns.items():
        report.add(f"{name}: errors", [turn.load.errors for turn in some], target=at_most(0))
        # At least these: the first turn, whose figures do not count, has made clicks too.
        answered = sum(turn.load.requests for turn in some)
        report.add(
            f"{name}: clicks answered and not written", [max(0, answered - written[name])], target=at_most(0)
        )
    report.notes.append(
        f"{CONNECTIONS} connections; the textbook shortener has PostgreSQL and Redis of its own."
    )
    store.remove()
    return report
