"""Codes that nobody ever made, one after another: what a worker remembers of them, and what the database is asked."""

import random

from bench import proc, requests
from bench.report import Report, at_most
from bench.run import Run, say
from bench.servers.laconic import Laconic
from bench.wrk import CONNECTIONS
from laconic.codes.alphabet import ALPHABET

_LENGTH = 12
_SEED = 11
_MEBIBYTE = 1 << 20
_STEPS = 4
_SAMPLE = 1_000
# LACONIC_CACHE_BYTES by default, and what a worker takes besides.
_MOST_MEBIBYTES = 128 + 80


def measure(run: Run) -> Report:
    """In each quarter others are asked for, as many as the time allows."""
    report = Report("unknown", f"different codes that do not exist, {CONNECTIONS} connections")
    source = random.Random(_SEED)
    no_headers = run.file("headers")
    store = run.engine.new_store()
    asked, seconds = 0, 0.0
    with run.laconic(store) as server:
        taken = [_rss(server)]
        wrong = _SAMPLE - requests.visit_each(server.port, _codes(source, _SAMPLE))[404]
        for step in range(_STEPS):
            say(f"unknown: part {step + 1} of {_STEPS}")
            codes = run.file("codes", _codes(source, run.options.links // _STEPS))
            load = run.wrk.run("cycle", server.port, run.options.seconds * 3, str(codes), str(no_headers))
            asked += load.requests
            seconds += load.seconds
            taken.append(_rss(server))
    report.add(f"answers other than 404, of {_SAMPLE:,}", [wrong], target=at_most(0))
    report.add("codes asked for", [asked])
    report.add("codes/s", [asked / seconds])
    report.add("worker's RSS before", [taken[0]], "MiB")
    report.add("worker's RSS, after each quarter", taken[1:], "MiB", at_most(_MOST_MEBIBYTES))
    reads = store.look_ups()
    if reads is not None:
        report.add(
            "look-ups of the database for each request", [reads / (asked + _SAMPLE)], target=at_most(1.05)
        )
    store.remove()
    return report


def _codes(source: random.Random, count: int) -> list[str]:
    return ["".join(source.choices(ALPHABET, k=_LENGTH)) for _ in range(count)]


def _rss(server: Laconic) -> float:
    server.settle()
    (worker,) = server.answering()
    return proc.memory(worker).rss / _MEBIBYTE
