"""SIGKILL in the middle of the load: which answered clicks are never counted."""

import time

from bench import requests
from bench.report import Report, at_most
from bench.run import Run, say
from bench.servers.server import Server
from bench.servers.textbook import TextbookStore
from bench.wrk import CONNECTIONS

_LINKS = 1_000


def measure(run: Run) -> Report:
    report = Report(
        "killed",
        f"every process of the program killed (SIGKILL) under {CONNECTIONS} connections, then started again,"
        f" {run.options.engine}, beside the textbook shortener",
    )
    ours, theirs = [], []
    for number in range(run.options.rounds):
        say(f"killed: round {number + 1} of {run.options.rounds}")
        ours.append(_ours(run))
        theirs.append(_textbook(run))
    for name, lost, target in (("laconic", ours, at_most(0)), ("textbook", theirs, None)):
        report.add(f"{name}: clicks answered", [answered for answered, _ in lost])
        report.add(f"{name}: answered and lost", [missing for _, missing in lost], target=target)
        report.add(f"{name}: lost", [100 * missing / answered for answered, missing in lost], "%", target)
    return report


def _ours(run: Run) -> tuple[int, int]:
    store = run.engine.new_store()
    with run.laconic(store) as server:
        codes = run.make_links(server, _LINKS).codes
        requests.visit_each(server.port, codes)
        answered = _LINKS + _load_and_kill(run, server, codes)
    with run.laconic(store) as server:
        server.settle()
    missing = answered - store.clicks()
    store.remove()
    return answered, max(0, missing)


def _textbook(run: Run) -> tuple[int, int]:
    with TextbookStore(run.options.server_cores) as shelf:
        with run.textbook(shelf) as server:
            codes = shelf.make_links(_LINKS)
            answered = _load_and_kill(run, server, codes)
        with run.textbook(shelf) as server:
            server.settle()
        return answered, max(0, answered - shelf.clicks())


def _load_and_kill(run: Run, server: Server, codes: list[str]) -> int:
    """How many redirects were answered. Every link is in the cache when the load begins."""
    server.settle()
    files = (str(run.file("codes", codes)), str(run.file("headers")))
    load = run.wrk.start("cycle", server.port, run.options.seconds, *files)
    # The kill comes when the load is well under way; that nobody answers afterwards is no error of anybody.
    time.sleep(run.options.seconds * 0.8)
    server.kill()
    return load.result().requests
