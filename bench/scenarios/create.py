"""Single creates, and the proof that every one that was answered is in the database."""

import itertools

from bench.report import Report, at_least, at_most
from bench.rounds import Round, interleave, measure_round
from bench.run import Run
from bench.servers.laconic import Laconic
from bench.stores import Store
from bench.wrk import CONNECTIONS


class _Creates:
    """Turns of creates, each with URLs of its own; keeps the codes that were answered."""

    def __init__(self, run: Run, server: Laconic) -> None:
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
        "create", f"POST /api/v1/urls, {CONNECTIONS} connections, {run.options.engine}, every answer durable"
    )
    store = run.engine.new_store()
    with run.laconic(store) as server:
        creates = _Creates(run, server)
        turns = interleave("create", run.options.rounds, {"laconic": creates.turn})["laconic"]
    report.add("creates/s", [turn.load.created / turn.load.seconds for turn in turns], target=at_least(3_000))
    report.add("p50", [turn.load.p50 for turn in turns], "ms")
    report.add("p95", [turn.load.p95 for turn in turns], "ms")
    report.add("p99", [turn.load.p99 for turn in turns], "ms", at_most(50))
    worker = [turn.cpu.answering / turn.load.requests * 1e6 for turn in turns]
    report.add("CPU a create, web worker", worker, "µs")
    everything = [turn.cpu.all / turn.load.requests * 1e6 for turn in turns]
    report.add("CPU a create, all processes", everything, "µs")
    report.add("wrk busy, of one core", [turn.load.client_share for turn in turns])
    report.add("answers other than 201", [turn.load.errors for turn in turns], target=at_most(0))
    _check_rows(report, store, creates.answered)
    return report


def _check_rows(report: Report, store: Store, answered: list[str]) -> None:
    rows = set(store.codes())
    report.add("codes answered twice", [len(answered) - len(set(answered))], target=at_most(0))
    report.add("answered and not in the database", [len(set(answered) - rows)], target=at_most(0))
    report.notes.append(
        f"{len(answered):,} creates were answered, {len(rows):,} rows are there: the {len(rows) - len(set(answered))}"
        " more were under way when wrk stopped listening."
    )
    store.remove()
