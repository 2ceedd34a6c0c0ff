"""Single creates beside the textbook shortener's, and the proof that every one that was answered is in the database."""

import itertools
import json
from collections.abc import Sequence

from bench.report import Report, Target, at_least, at_most, ratios
from bench.requests import times_of
from bench.rounds import Round, interleave, measure_round
from bench.run import Run
from bench.servers.server import Server
from bench.servers.textbook import TextbookStore
from bench.stores import Store
from bench.wrk import CONNECTIONS

_REQUESTS = 300
# Path and field of what one client asks for, one after the other; milliseconds that are allowed.
_ALONE = {"one client": ("/api/v1/urls", "original_url"), "shorten, one client": ("/shorten", "url")}
_ALONE_P99 = {"one client": at_most(5), "shorten, one client": at_most(100)}


class _Creates:
    """Turns of creates, each with URLs of its own; keeps the codes that were answered."""

    def __init__(self, run: Run, server: Server) -> None:
        self._run = run
        self._server = server
        self._numbers = itertools.count(1)
        self.answered: list[str] = []

    def turn(self) -> Round:
        codes = self._run.file("answered")
        word = f"round{next(self._numbers)}"
        turn = measure_round(
            self._server,
            lambda: self._run.wrk.run(
                "create", self._server.port, self._run.options.seconds, str(codes), word
            ),
        )
        self.answered += codes.read_text().split()
        return turn


def measure(run: Run) -> Report:
    report = Report(
        "create",
        f"POST /api/v1/urls, {CONNECTIONS} connections, {run.options.engine}, every answer durable,"
        " beside the textbook shortener",
    )
    store = run.engine.new_store()
    with (
        TextbookStore(run.options.server_cores) as shelf,
        run.textbook(shelf) as textbook,
        run.laconic(store) as server,
    ):
        creates, theirs = _Creates(run, server), _Creates(run, textbook)
        turns = interleave(
            "create", run.options.rounds, {server.name: creates.turn, textbook.name: theirs.turn}
        )
        alone = {name: _one_client(server.port, *what) for name, what in _ALONE.items()}
        lost = len(set(theirs.answered) - set(shelf.codes()))
    _add(report, "", turns[server.name], at_least(3_000), at_most(50))
    for name, taken in alone.items():
        for share in ("p50", "p95", "p99"):
            mark = _ALONE_P99[name] if share == "p99" else None
            report.add(f"{name}: {share}", [taken[share]], "ms", mark)
    _add(report, "textbook: ", turns[textbook.name], None, None)
    report.add(
        "ratio to the textbook: creates per CPU-second, all processes and databases",
        ratios(*([turn.per_cpu for turn in turns[name]] for name in (server.name, textbook.name))),
        target=at_least(3),
    )
    report.add("textbook: answered and not in the database", [lost], target=at_most(0))
    _check_rows(report, store, creates.answered)
    return report


def _one_client(port: int, path: str, field: str) -> dict[str, float]:
    """Milliseconds from the request to the whole answer, on one connection that stays open. These are no creates of
    `_check_rows`, which looks for lost ones only."""
    bodies = (json.dumps({field: f"https://example.com/alone/{number:09}"}) for number in range(_REQUESTS))
    taken = sorted(times_of(port, (("POST", path, body) for body in bodies), 201))
    return {
        name: taken[int(len(taken) * share)] for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))
    }


def _add(
    report: Report, prefix: str, turns: Sequence[Round], rate: Target | None, p99: Target | None
) -> None:
    report.add(f"{prefix}creates/s", [turn.load.created / turn.load.seconds for turn in turns], target=rate)
    report.add(f"{prefix}p50", [turn.load.p50 for turn in turns], "ms")
    report.add(f"{prefix}p95", [turn.load.p95 for turn in turns], "ms")
    report.add(f"{prefix}p99", [turn.load.p99 for turn in turns], "ms", p99)
    worker = [turn.cpu.answering / turn.load.requests * 1e6 for turn in turns]
    report.add(f"{prefix}CPU a create, web worker", worker, "µs")
    everything = [turn.cpu.all / turn.load.requests * 1e6 for turn in turns]
    report.add(f"{prefix}CPU a create, all processes", everything, "µs")
    report.add(f"{prefix}creates per CPU-second, all processes", [turn.per_cpu for turn in turns])
    report.add(f"{prefix}wrk busy, of one core", [turn.load.client_share for turn in turns])
    report.add(f"{prefix}answers other than 201", [turn.load.errors for turn in turns], target=at_most(0))


def _check_rows(report: Report, store: Store, answered: list[str]) -> None:
    rows = set(store.codes())
    report.add("codes answered twice", [len(answered) - len(set(answered))], target=at_most(0))
    report.add("answered and not in the database", [len(set(answered) - rows)], target=at_most(0))
    report.notes.append(
        f"{len(answered):,} creates of wrk were answered, {len(rows):,} rows are there: the"
        f" {len(rows) - len(set(answered))} more are those of the one client, and what was under way when wrk left."
    )
    store.remove()
