"""Redirects while the reaper retires a million expired links, beside the same redirects before. Run last: it spoils the
links that the other scenarios ask for."""

import json
from typing import Any

from bench import requests
from bench.processes import Client, python
from bench.report import Report, at_most
from bench.run import Run, say
from bench.servers.laconic import Laconic

_RATE = 1_000
_LIVE = 1_000
_REAP_SECONDS = 600.0


def measure(run: Run) -> Report:
    filled = run.filled
    expired = len(filled.store.codes())
    report = Report("reap", f"{_RATE:,} cached redirects/s while {expired:,} expired links are retired")
    say("reap: expiring all links")
    filled.store.expire_all()
    with run.laconic(filled.store, {"LACONIC_CLEANUP_ENABLED": "false"}) as server:
        live = run.make_links(server, _LIVE).codes
        file = run.file("codes", live)
        requests.visit_each(server.port, live)
        server.settle()
        say("reap: before")
        quiet = [_redirects(run, server, file) for _ in range(run.options.rounds)]
        say("reap: meanwhile")
        busy, outcome = _while_reaping(run, server, file)
        statuses = requests.visit_each(server.port, live)
        gone = requests.visit_each(server.port, filled.bulk.codes[:_LIVE])
    report.add("before: p99", [told["p99"] for told in quiet], "ms")
    report.add("meanwhile: p99", [told["p99"] for told in busy], "ms")
    before = sorted(told["p99"] for told in quiet)[len(quiet) // 2]
    report.add("ratio: p99 meanwhile to before", [told["p99"] / before for told in busy], target=at_most(2))
    wrong = sum(told["bad"] + told["missing"] for told in (*quiet, *busy))
    report.add("unanswered or no redirect", [wrong], target=at_most(0))
    report.add("links retired", [outcome["retired"]])
    report.add("links retired/s", [outcome["retired"] / outcome["duration_ms"] * 1000])
    retired, active = filled.store.counts()
    report.add("expired links not retired", [expired - retired], target=at_most(0))
    report.add("live links lost", [_LIVE - active, _LIVE - statuses[302]], target=at_most(0))
    report.add("expired links not answered 410", [min(_LIVE, expired) - gone[410]], target=at_most(0))
    return report


def _redirects(run: Run, server: Laconic, file: Any) -> dict[str, Any]:
    where = ("--port", server.port, "--codes", file)
    client = run.client("steady", *where, "--rate", _RATE, "--seconds", run.options.seconds)
    told: dict[str, Any] = json.loads(client.result(seconds=300))
    return told


def _while_reaping(run: Run, server: Laconic, file: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The reaper in a process of its own, as in the background of a server."""
    store = run.filled.store
    # One run to the end: by default it would stop after five minutes and go on a quarter of an hour later.
    environment = {**store.environment, "LACONIC_CLEANUP_MAX_DURATION": "1h"}
    settings = [f"{name}={value}" for name, value in environment.items()]
    command = ["env", *settings, *python("laconic", "reap", "--json", "--data", str(store.folder))]
    busy = []
    with Client(command, cores=run.options.server_cores) as reaper:
        while reaper.is_running():
            busy.append(_redirects(run, server, file))
        outcome: dict[str, Any] = json.loads(reaper.result(seconds=_REAP_SECONDS))
    # The last round may have gone on after the reaper.
    return busy[:-1] or busy, outcome
