"""From `laconic serve` to the first redirect answered: in an empty folder, and again."""

import time
from collections.abc import Callable

from bench import requests
from bench.processes import free_port
from bench.report import Report, at_most
from bench.run import Run, say
from bench.servers.laconic import serve_command, serve_environment
from bench.servers.server import Server
from bench.stores import Store

_URL = "https://example.com/articles/000000000001"


def measure(run: Run) -> Report:
    report = Report("start", f"from `laconic serve` to the first redirect, {run.options.engine}")
    first, second = [], []
    for number in range(run.options.rounds):
        say(f"start: round {number + 1} of {run.options.rounds}")
        store = run.engine.new_store()
        codes: list[str] = []

        def create_and_follow(port: int, codes: list[str] = codes) -> bool:
            codes.append(requests.create(port, _URL))
            return requests.get_status(port, f"/{codes[0]}") == 302

        def follow(port: int, codes: list[str] = codes) -> bool:
            return requests.get_status(port, f"/{codes[0]}") == 302

        first.append(_seconds(run, store, create_and_follow))
        second.append(_seconds(run, store, follow))
        store.remove()
    report.add("first start, the schema made and a link created", first, "s")
    report.add("second start", second, "s", at_most(2))
    return report


def _seconds(run: Run, store: Store, is_answered: Callable[[int], bool]) -> float:
    port = free_port()
    began = time.perf_counter()
    with Server(
        "laconic",
        serve_command(port, store),
        port,
        run.file("start.log"),
        is_up=lambda: is_answered(port),
        cores=run.options.server_cores,
        environment=serve_environment(store, {}),
    ):
        return time.perf_counter() - began
