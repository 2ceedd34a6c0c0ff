"""A B A B …: participants take turns, so that a machine that slows down slows all of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.report import Report, Target, at_most
from bench.run import say
from bench.servers.server import Cpu, Server
from bench.wrk import Load

# Milliseconds: what a redirect is allowed to take.
REDIRECT_P99 = at_most(100)


@dataclass(frozen=True, slots=True)
class Round:
    """One turn of one participant."""

    load: Load
    cpu: Cpu

    @property
    def rate(self) -> float:
        return self.load.requests / self.load.seconds

    @property
    def per_answering_cpu(self) -> float:
        """Requests per CPU-second of the processes that answer."""
        return self.load.requests / self.cpu.answering

    @property
    def per_cpu(self) -> float:
        """Requests per CPU-second of everything, until nothing was left to do: clicks stored, pages written."""
        return self.load.requests / self.cpu.all


def measure_round(server: Server, make_load: Callable[[], Load]) -> Round:
    server.settle()
    before = server.cpu()
    load = make_load()
    server.settle()
    return Round(load, server.cpu().since(before))


def interleave(
    name: str, rounds: int, participants: Mapping[str, Callable[[], Round]]
) -> dict[str, list[Round]]:
    """The first turn of each warms up and does not count."""
    done: dict[str, list[Round]] = {participant: [] for participant in participants}
    for number in range(rounds + 1):
        say(f"{name}: round {number} of {rounds}" if number else f"{name}: warming up")
        for participant, take_turn in participants.items():
            done[participant].append(take_turn())
    return {participant: turns[1:] for participant, turns in done.items()}


def add_rounds(report: Report, prefix: str, turns: Sequence[Round], p99: Target | None = None) -> None:
    """Rates and latencies of one participant."""
    report.add(f"{prefix}: requests/s", [turn.rate for turn in turns])
    report.add(
        f"{prefix}: requests per CPU-second, processes that answer",
        [turn.per_answering_cpu for turn in turns],
    )
    if any(turn.cpu.all > turn.cpu.answering for turn in turns):
        report.add(f"{prefix}: requests per CPU-second, all processes", [turn.per_cpu for turn in turns])
    report.add(f"{prefix}: p50", [turn.load.p50 for turn in turns], "ms")
    report.add(f"{prefix}: p95", [turn.load.p95 for turn in turns], "ms")
    report.add(f"{prefix}: p99", [turn.load.p99 for turn in turns], "ms", p99)
    report.add(f"{prefix}: bytes an answer", [turn.load.bytes / turn.load.requests for turn in turns])
    report.add(f"{prefix}: wrk busy, of one core", [turn.load.client_share for turn in turns])
