"""Reports of a link and of a workspace, with few clicks and with many: both over the same days and links."""

import asyncio
import http.client
import time
from dataclasses import dataclass

from bench.click_maker import Shape, fill
from bench.report import Report, at_most, ratios
from bench.run import Run, say
from bench.servers.laconic import Laconic
from bench.stores import Store

_FEW = 20_000
_DAYS = 60
_LINKS = 1_000
_REQUESTS = 20


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A store with so many clicks in it, and the code that has most of them."""

    store: Store
    clicks: int
    code: str
    seconds: float


def measure(run: Run) -> Report:
    report = Report(
        "analytics",
        f"GET …/analytics, 30 days and the 30 before, {_LINKS:,} links, {run.options.engine}, milliseconds",
    )
    few, many = (_load(run, clicks) for clicks in (_FEW, run.options.clicks))
    with run.laconic(few.store) as small, run.laconic(many.store) as large:
        for name, path in (("link", "/api/v1/urls/{}/analytics"), ("workspace", "/api/v1/analytics")):
            times: dict[str, list[float]] = {"few": [], "many": []}
            for number in range(run.options.rounds + 1):
                say(f"analytics: {name}, round {number} of {run.options.rounds}")
                for kind, server, loaded in (("few", small, few), ("many", large, many)):
                    times[kind].append(_median_ms(server, path.format(loaded.code)))
            few_ms, many_ms = times["few"][1:], times["many"][1:]
            report.add(f"{name}, {few.clicks:,} clicks", few_ms, "ms")
            report.add(f"{name}, {many.clicks:,} clicks", many_ms, "ms", at_most(100))
            report.add(f"{name}, ratio", ratios(many_ms, few_ms), target=at_most(2))
    report.notes.append(
        f"{many.clicks:,} clicks were put into the tables in {many.seconds:.0f} s, raw clicks included."
    )
    for loaded in (few, many):
        loaded.store.remove()
    return report


def _load(run: Run, clicks: int) -> _Loaded:
    store = run.engine.new_store()
    with run.laconic(store) as server:
        run.make_links(server, _LINKS)
    say(f"analytics: loading {clicks:,} clicks")
    seconds = asyncio.run(fill(store.url, Shape(clicks, _DAYS, _LINKS)))
    return _Loaded(store, clicks, store.oldest_code(), seconds)


def _median_ms(server: Laconic, path: str) -> float:
    """Of requests one after the other on one connection."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    taken = []
    for _ in range(_REQUESTS):
        began = time.perf_counter()
        connection.request("GET", path, headers={"Host": "localhost"})
        response = connection.getresponse()
        response.read()
        taken.append((time.perf_counter() - began) * 1000)
        if response.status != 200:
            raise RuntimeError(f"{path} was answered {response.status}")
    connection.close()
    return sorted(taken)[len(taken) // 2]
