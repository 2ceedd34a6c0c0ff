"""What a web worker takes: at rest, with a million links behind it, and after many of them were asked for."""

import random

from bench import proc, requests
from bench.report import Report, at_most
from bench.run import Run, say
from bench.servers.laconic import Laconic

_REDIRECTS = 30_000
_SEED = 5
_MEBIBYTE = 1 << 20


def measure(run: Run) -> Report:
    filled = run.filled
    report = Report("memory", "of one web worker, and of all processes of the server together")
    say("memory")
    store = run.engine.new_store()
    with run.laconic(store) as server:
        _add(report, "fresh database, at rest", server)
    store.remove()
    links = f"{len(filled.bulk.codes):,} links"
    with run.laconic(filled.store) as server:
        _add(report, f"{links}, at rest", server)
        codes = random.Random(_SEED).choices(filled.bulk.codes, k=_REDIRECTS)
        statuses = requests.visit_each(server.port, codes)
        _add(report, f"{links}, after {_REDIRECTS:,} redirects", server)
    report.add("answers other than 302", [_REDIRECTS - statuses[302]], target=at_most(0))
    return report


def _add(report: Report, when: str, server: Laconic) -> None:
    server.settle()
    (worker,) = server.answering()
    taken = proc.memory(worker)
    report.add(f"{when}: worker's RSS", [taken.rss / _MEBIBYTE], "MiB", at_most(80))
    report.add(f"{when}: worker's PSS", [taken.pss / _MEBIBYTE], "MiB")
    report.add(f"{when}: PSS of all processes", [proc.tree_pss(server.roots) / _MEBIBYTE], "MiB")
