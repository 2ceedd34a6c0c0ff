"""What recording each click before its answer costs the web worker: the same load with the journal and without."""

from bench import requests
from bench.report import Report, at_most, ratios
from bench.rounds import Round, interleave, measure_round
from bench.run import Run
from bench.scenarios.hit import BROWSER
from bench.servers.laconic import ForgettingLaconic, Laconic

_LINKS = 10_000


def measure(run: Run) -> Report:
    report = Report(
        "journal", f"cached redirects over {_LINKS:,} links by the web worker, with the journal and without"
    )
    kept, forgotten = run.engine.new_store(), run.engine.new_store()
    with (
        run.laconic(kept) as journaling,
        ForgettingLaconic(
            forgotten, run.file("laconic.log"), cores=run.options.server_cores
        ) as without_journal,
    ):
        servers: dict[Laconic, list[str]] = {
            server: run.make_links(server, _LINKS).codes for server in (journaling, without_journal)
        }
        for title, headers in (("bare headers", ""), ("browser's headers", BROWSER)):
            _measure_headers(run, report, servers, title, headers)
    report.add("clicks of the server without a journal", [forgotten.clicks()], target=at_most(0))
    for store in (kept, forgotten):
        store.remove()
    return report


def _measure_headers(
    run: Run, report: Report, servers: dict[Laconic, list[str]], title: str, headers: str
) -> None:
    lines = run.file("headers")
    lines.write_bytes(headers.replace("\n", "\r\n").encode())
    files = {server: run.file("codes", codes) for server, codes in servers.items()}

    def turn(server: Laconic) -> Round:
        # As in `hit`: no entry comes due for a check in the pause between turns.
        requests.visit_each(server.port, servers[server])
        arguments = (str(files[server]), str(lines))
        return measure_round(
            server, lambda: run.wrk.run("cycle", server.port, run.options.seconds, *arguments)
        )

    journaling, without_journal = servers
    turns = interleave(
        f"journal, {title}",
        run.options.rounds,
        {"with": lambda: turn(journaling), "without": lambda: turn(without_journal)},
    )
    rates = {name: [one.per_answering_cpu for one in some] for name, some in turns.items()}
    for name, values in rates.items():
        report.add(f"{title}, {name} journal: requests per CPU-second of the worker", values)
    cost = [100 * (1 - ratio) for ratio in ratios(rates["with"], rates["without"])]
    report.add(f"{title}, cost of the journal", cost, "%", at_most(15))
    errors = sum(one.load.errors for some in turns.values() for one in some)
    report.add(f"{title}, errors", [errors], target=at_most(0))
