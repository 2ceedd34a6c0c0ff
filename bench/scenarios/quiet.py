"""Cached redirects at a modest rate, alone and while the same worker does heavy work for others."""

import json
import time
from typing import Any

from bench import requests
from bench.processes import Client
from bench.report import Report, at_most
from bench.rounds import REDIRECT_P99
from bench.run import Run, say
from bench.servers.laconic import HashingLaconic

_RATE = 1_000
_CODES = 1_000
# The heavy work begins before the first redirect is timed (to make its lines takes the client a moment) and ends
# after the last.
_AHEAD_SECONDS = 1.5
_BEHIND_SECONDS = 1.0
# More than it can import, so that the import does not end before its time.
_FASTEST_BULK = 100_000


def measure(run: Run) -> Report:
    filled = run.filled
    what = "a bulk import, lists of 1,000 and ten argon2 hashes in the same worker"
    report = Report("quiet", f"{_RATE:,} cached redirects/s in open loop, alone and during {what}")
    log, cores = run.file("laconic.log"), run.options.server_cores
    quiet, busy = [], []
    with HashingLaconic(filled.store, log, cores=cores) as server:
        phases = _Phases(run, server, filled.bulk.codes[:_CODES])
        for number in range(run.options.rounds):
            say(f"quiet: round {number + 1} of {run.options.rounds}")
            quiet.append(phases.quiet())
            busy.append(phases.busy(number))
    _add_phase(report, "quiet", quiet)
    _add_phase(report, "busy", busy)
    report.add("busy: links imported/s", [told["imported"] for told in busy])
    report.add("busy: lists of 1,000/s", [told["pages"] for told in busy])
    report.add("busy: argon2 hashes/s, ten under way", [told["hashes"] for told in busy])
    p99s = [one["p99"] / other["p99"] for one, other in zip(busy, quiet, strict=True)]
    report.add("ratio: p99 busy to quiet", p99s, target=at_most(3))
    report.notes.append(f"Priority of the timing client: {quiet[0]['priority']}.")
    return report


def _add_phase(report: Report, name: str, phase: list[dict[str, Any]]) -> None:
    report.add(f"{name}: p50", [told["p50"] for told in phase], "ms")
    report.add(f"{name}: p99", [told["p99"] for told in phase], "ms", REDIRECT_P99)
    report.add(f"{name}: longest", [told["longest"] for told in phase], "ms")
    report.add(f"{name}: client behind its schedule, p99", [told["late_p99"] for told in phase], "ms")
    report.add(f"{name}: client busy, of one core", [told["client_share"] for told in phase])
    wrong = [told["bad"] + told["missing"] for told in phase]
    report.add(f"{name}: unanswered or no redirect", wrong, target=at_most(0))


class _Phases:
    def __init__(self, run: Run, server: HashingLaconic, codes: list[str]) -> None:
        self._run = run
        self._server = server
        self._codes = codes
        self._file = run.file("codes", codes)

    def quiet(self) -> dict[str, Any]:
        self._warm()
        return self._time_redirects()

    def busy(self, number: int) -> dict[str, Any]:
        self._warm()
        seconds = _AHEAD_SECONDS + self._run.options.seconds + _BEHIND_SECONDS
        with (
            self._import(number, seconds) as bulk,
            self._run.client("lists", "--port", self._server.port, "--seconds", seconds) as lists,
        ):
            time.sleep(_AHEAD_SECONDS)
            with self._server.hashing():
                told = self._time_redirects()
            imported, listed = _said(bulk), _said(lists)
        return {
            **told,
            "imported": imported["created"] / imported["seconds"],
            "pages": listed["pages"] / seconds,
            "hashes": self._server.hashes() / self._run.options.seconds,
        }

    def _import(self, number: int, seconds: float) -> Client:
        links = int(_FASTEST_BULK * seconds)
        first = self._run.options.links + number * links
        where = ("--port", self._server.port, "--seconds", seconds)
        return self._run.client("bulk", *where, "--links", links, "--first", first)

    def _warm(self) -> None:
        self._server.settle()
        requests.visit_each(self._server.port, self._codes)
        self._server.settle()

    def _time_redirects(self) -> dict[str, Any]:
        seconds = self._run.options.seconds
        where = ("--port", self._server.port, "--codes", self._file)
        return _said(self._run.client("steady", *where, "--rate", _RATE, "--seconds", seconds))


def _said(client: Client) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(client.result(seconds=900))
    return told
