"""Reports of a link and of a workspace, with few clicks and with many: both over the same days and links."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median

from bench.click_maker import Shape, fill
from bench.report import Report, at_most, ratios
from bench.requests import times_of
from bench.run import Run, say
from bench.stores import Store

_DAYS = 60
_LINKS = 1_000
_REQUESTS = 20
# From here on the disk bears the rollups alone.
_LEAN_FROM = 50_000_000


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
    loads = [_load(run, clicks) for clicks in run.options.clicks]
    with ExitStack() as stack:
        servers = [stack.enter_context(run.laconic(loaded.store)) for loaded in loads]
        for name, path in (("link", "/api/v1/urls/{}/analytics"), ("workspace", "/api/v1/analytics")):
            times: list[list[float]] = [[] for _ in loads]
            for number in range(run.options.rounds + 1):
                say(f"analytics: {name}, round {number} of {run.options.rounds}")
                for server, loaded, taken in zip(servers, loads, times, strict=True):
                    asks = [("GET", path.format(loaded.code), None)] * _REQUESTS
                    taken.append(median(times_of(server.port, asks, 200)))
            _add(report, name, loads, [taken[1:] for taken in times])
    for loaded in loads:
        kept = (
            "raw clicks included"
            if loaded.clicks < _LEAN_FROM
            else "without raw clicks, which no chart reads"
        )
        report.notes.append(
            f"{loaded.clicks:,} clicks were put into the tables in {loaded.seconds:.0f} s, {kept}."
        )
        loaded.store.remove()
    return report


def _add(report: Report, name: str, loads: Sequence[_Loaded], times: Sequence[Sequence[float]]) -> None:
    for loaded, taken in zip(loads, times, strict=True):
        report.add(f"{name}, {loaded.clicks:,} clicks", taken, "ms", at_most(100))
    points = {loaded.clicks: median(taken) for loaded, taken in zip(loads, times, strict=True)}
    report.add_series(f"report of a {name}", "clicks", "ms", points)
    if len(loads) > 1:
        between = f"ratio of {loads[-1].clicks:,} to {loads[0].clicks:,} clicks"
        report.add(f"{name}, {between}", ratios(times[-1], times[0]), target=at_most(2))


def _load(run: Run, clicks: int) -> _Loaded:
    store = run.engine.new_store()
    with run.laconic(store) as server:
        run.make_links(server, _LINKS)
    say(f"analytics: loading {clicks:,} clicks")
    seconds = asyncio.run(fill(store.url, Shape(clicks, _DAYS, _LINKS), raw=clicks < _LEAN_FROM))
    return _Loaded(store, clicks, store.oldest_code(), seconds)
