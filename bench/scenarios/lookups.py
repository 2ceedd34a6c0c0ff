"""What grows with the number of links: looking one up, redirecting without a cache, creating, listing, starting, bytes."""

import asyncio
import itertools
import json
import statistics
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench import link_maker, proc
from bench.report import Report, at_most, ratios
from bench.requests import times_of
from bench.rounds import measure_round
from bench.run import Run, say
from bench.stores import Store

_CODES = 100_000
_LOOK_UPS = 20_000
_LISTS = 20
_LIST = "/api/v1/urls?limit=50"
# From here on the disk bears only the indexes that redirects and creates need; lists are left out.
_LEAN_FROM = 50_000_000
# The integrity check of every week would be due, and read the whole file while something else is measured.
_SETTINGS = {"LACONIC_CACHE_ENTRIES": "0", "LACONIC_INTEGRITY_INTERVAL": "0"}
_PIECE_BYTES = 1 << 22
_words = itertools.count(1)

_LOOK_UP = "look-up, CPU"
# Name, unit, how it is told.
_MEASURES = {
    _LOOK_UP: "µs",
    "look-up, p50": "µs",
    "look-up, p95": "µs",
    "look-up, p99": "µs",
    "redirect without a cache, CPU of all processes": "µs",
    "redirect without a cache, p99": "ms",
    "create, CPU of all processes": "µs",
    "create, p99": "ms",
    "list of the newest 50": "ms",
    "start": "s",
}
# Milliseconds of a look-up that are allowed, here in microseconds.
_LOOK_UP_P99 = at_most(10_000)


@dataclass(slots=True)
class _Sized:
    """A store with so many links, some of their codes, and what was measured with it."""

    links: int
    store: Store
    made: link_maker.Made
    codes: Path
    few_codes: Path
    taken: dict[str, list[float]] = field(default_factory=dict)


def measure(run: Run) -> Report:
    report = Report("lookups", f"cost against the number of links, {run.options.engine}, cache off")
    sized = [_make(run, links) for links in run.options.sizes]
    for one in sized:
        _read_through(one.store.folder)
    for number in range(run.options.rounds + 1):
        say(f"lookups: round {number} of {run.options.rounds}" if number else "lookups: warming up")
        for one in sized:
            found = _measure(run, one)
            if number:
                for name, value in found.items():
                    one.taken.setdefault(name, []).append(value)
    for name, unit in _MEASURES.items():
        _add(report, sized, name, unit)
    for one in sized:
        report.add(
            f"disk, {_indexes(one)}, {one.links:,} links", [one.made.bytes / one.links], "bytes a link"
        )
        report.notes.append(f"{one.links:,} links were made in {one.made.seconds:.0f} s, {_indexes(one)}.")
    whole = [one for one in sized if one.links < _LEAN_FROM]
    report.add_series(
        "disk", "links", "bytes a link", {one.links: one.made.bytes / one.links for one in whole}
    )
    for one in sized:
        one.store.remove()
    return report


def _indexes(one: _Sized) -> str:
    return "without the indexes of lists" if one.links >= _LEAN_FROM else "with all indexes"


def _make(run: Run, links: int) -> _Sized:
    say(f"lookups: making {links:,} links")
    store = run.engine.new_store()
    made = asyncio.run(link_maker.make(store, links, lean=links >= _LEAN_FROM))
    codes = link_maker.sample(links, _CODES)
    return _Sized(links, store, made, run.file("codes", codes), run.file("codes", codes[:_LOOK_UPS]))


def _read_through(folder: Path) -> None:
    """Making a hundred million links leaves other things in the system's page cache than these."""
    for file in folder.glob("*.db"):
        with file.open("rb", buffering=0) as data:
            while data.read(_PIECE_BYTES):
                pass


def _measure(run: Run, one: _Sized) -> Mapping[str, float]:
    found = _look_up(run, one)
    began = time.perf_counter()
    with run.laconic(one.store, _SETTINGS) as server:
        found["start"] = time.perf_counter() - began
        files = (str(one.codes), str(run.file("headers")))
        followed = measure_round(
            server, lambda: run.wrk.run("cycle", server.port, run.options.seconds, *files)
        )
        word = f"size{next(_words)}"
        made = measure_round(
            server,
            lambda: run.wrk.run("create", server.port, run.options.seconds, str(run.file("answered")), word),
        )
        if followed.load.errors or made.load.errors:
            raise RuntimeError(f"{followed.load.errors} redirects and {made.load.errors} creates failed.")
        if one.links < _LEAN_FROM:
            found["list of the newest 50"] = statistics.median(
                times_of(server.port, [("GET", _LIST, None)] * _LISTS, 200)
            )
    found["redirect without a cache, CPU of all processes"] = 1e6 / followed.per_cpu
    found["redirect without a cache, p99"] = followed.load.p99
    found["create, CPU of all processes"] = 1e6 / made.per_cpu
    found["create, p99"] = made.load.p99
    return found


def _look_up(run: Run, one: _Sized) -> dict[str, float]:
    """In a process of its own; on PostgreSQL with the server's time."""
    before = proc.tree_cpu_seconds(one.store.roots)
    told = json.loads(
        run.client("look_ups", "--url", one.store.url, "--codes", one.few_codes).result(seconds=600)
    )
    # The client looks half of them up once more, to warm up.
    servers = (proc.tree_cpu_seconds(one.store.roots) - before) / (1.5 * _LOOK_UPS) * 1e6
    return {
        _LOOK_UP: told["cpu"] + servers,
        **{f"look-up, {share}": told[share] for share in ("p50", "p95", "p99")},
    }


def _add(report: Report, sized: list[_Sized], name: str, unit: str) -> None:
    having = [one for one in sized if name in one.taken]
    for one in having:
        target = _LOOK_UP_P99 if name == "look-up, p99" else None
        report.add(f"{name}, {one.links:,} links", one.taken[name], unit, target)
    report.add_series(name, "links", unit, {one.links: statistics.median(one.taken[name]) for one in having})
    if len(having) > 1:
        first, last = having[0], having[-1]
        report.add(
            f"{name}, ratio of {last.links:,} to {first.links:,} links",
            ratios(last.taken[name], first.taken[name]),
            target=at_most(1.5) if name == _LOOK_UP else None,
        )
