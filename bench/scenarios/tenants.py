"""The same links in one workspace and in ten thousand: what a tenant pays for the others."""

import asyncio
import hashlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass

from bench import link_maker
from bench.report import Report, at_most, ratios
from bench.rounds import Round, interleave, measure_round
from bench.run import Run, say
from bench.servers.laconic import Laconic
from bench.stores import Store
from laconic.clock import now
from laconic.storage.engines import open_database

_WORKSPACES = 10_000
_CODES = 100_000
# No key may be slowed down by its limit: that one key meets it and ten thousand do not is not the question.
_SETTINGS = {"LACONIC_CACHE_ENTRIES": "0", "LACONIC_RATE_API": "999999/s burst 999999"}
_COLUMNS = ("id", "workspace_id", "key_hash", "key_prefix", "name", "created_at", "scopes")
_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class _Shared:
    store: Store
    keys: list[str]


def measure(run: Run) -> Report:
    links = min(run.options.links, 1_000_000)
    report = Report(
        "tenants",
        f"{links:,} links in one workspace and in {_WORKSPACES:,}, each with an API key, {run.options.engine}, cache off",
    )
    one, many = (_make(run, links, workspaces) for workspaces in (1, _WORKSPACES))
    file = str(run.file("codes", link_maker.sample(links, _CODES)))
    with run.laconic(one.store, _SETTINGS) as alone, run.laconic(many.store, _SETTINGS) as crowded:
        servers = {"one workspace": (alone, one), f"{_WORKSPACES:,} workspaces": (crowded, many)}
        for name, turn in (("redirect", _redirects(run, file)), ("create with a key", _creates(run))):
            turns = interleave(
                f"tenants, {name}",
                run.options.rounds,
                {title: turn(server, shared) for title, (server, shared) in servers.items()},
            )
            _add(report, name, turns)
    for shared in (one, many):
        shared.store.remove()
    return report


def _make(run: Run, links: int, workspaces: int) -> _Shared:
    say(f"tenants: making {workspaces:,} workspaces with {links:,} links")
    store = run.engine.new_store()
    return _Shared(store, asyncio.run(_fill(store, links, workspaces)))


async def _fill(store: Store, links: int, workspaces: int) -> list[str]:
    await link_maker.make(store, links, workspaces=workspaces)
    owners = link_maker.workspace_ids(workspaces)
    keys = [f"lac_live_{number:032}" for number in owners]
    rows = [
        (
            owner,
            owner,
            hashlib.sha256(key.encode()).digest(),
            f"{owner:016}",
            "bench",
            now(),
            '["links:write"]',
        )
        for owner, key in zip(owners, keys, strict=True)
    ]
    database = await open_database(store.url)
    try:
        await database.copy_in("api_key", _COLUMNS, rows)
    finally:
        await database.close()
    return keys


Turns = Callable[[Laconic, _Shared], Callable[[], Round]]


def _redirects(run: Run, codes: str) -> Turns:
    headers = str(run.file("headers"))
    return lambda server, shared: (
        lambda: measure_round(
            server, lambda: run.wrk.run("cycle", server.port, run.options.seconds, codes, headers)
        )
    )


def _creates(run: Run) -> Turns:
    def turns_of(server: Laconic, shared: _Shared) -> Callable[[], Round]:
        keys = str(run.file("keys", shared.keys))

        def turn() -> Round:
            arguments = (str(run.file("answered")), f"tenants{next(_numbers)}", keys)
            return measure_round(
                server, lambda: run.wrk.run("create", server.port, run.options.seconds, *arguments)
            )

        return turn

    return turns_of


def _add(report: Report, name: str, turns: dict[str, list[Round]]) -> None:
    for title, some in turns.items():
        report.add(f"{name}, {title}: CPU of all processes", [1e6 / turn.per_cpu for turn in some], "µs")
        for share in ("p50", "p95", "p99"):
            report.add(f"{name}, {title}: {share}", [getattr(turn.load, share) for turn in some], "ms")
    one, many = turns.values()
    report.add(
        f"{name}, ratio: CPU with many workspaces to one",
        ratios([1 / turn.per_cpu for turn in many], [1 / turn.per_cpu for turn in one]),
        target=at_most(1.5),
    )
    errors = [turn.load.errors for some in turns.values() for turn in some]
    report.add(f"{name}, errors", errors, target=at_most(0))
