"""What a busy installation does: 95 % redirects, followed by Zipf's law, and 5 % creates."""

import itertools
from collections.abc import Callable, Sequence

import numpy as np

from bench import requests
from bench.report import Report, at_least, at_most, ratios
from bench.rounds import REDIRECT_P99, Round, add_rounds, interleave, measure_round
from bench.run import Run
from bench.servers.server import Server
from bench.servers.textbook import TextbookStore

_TEXTBOOK_LINKS = 10_000
_DRAWS = 300_000
# As many of the most followed as a worker remembers after a while: a fresh one has still to meet most of them.
_REMEMBERED = 50_000
_SEED = 13
_HITS = 'laconic_cache_requests_total{result="hit",tier="memory"}'
_MISSES = 'laconic_cache_requests_total{result="miss",tier="memory"}'


def measure(run: Run) -> Report:
    filled = run.filled
    report = Report(
        "mix",
        f"95 % redirects of {len(filled.bulk.codes):,} links by Zipf's law and 5 % creates, {run.options.engine},"
        f" beside the textbook shortener with {_TEXTBOOK_LINKS:,} links, all cached",
    )
    numbers = itertools.count(1)

    def turns_of(server: Server, codes: Sequence[str]) -> Callable[[], Round]:
        file = run.file("codes", _by_zipf(codes))
        return lambda: measure_round(
            server,
            lambda: run.wrk.run("mix", server.port, run.options.seconds, str(file), f"mix{next(numbers)}"),
        )

    with (
        TextbookStore(run.options.server_cores) as shelf,
        run.textbook(shelf) as textbook,
        run.laconic(filled.store) as ours,
    ):
        requests.visit_each(ours.port, _in_order(filled.bulk.codes)[:_REMEMBERED])
        before = requests.read_metrics(ours.port)
        turns = interleave(
            "mix",
            run.options.rounds,
            {
                ours.name: turns_of(ours, filled.bulk.codes),
                textbook.name: turns_of(textbook, shelf.make_links(_TEXTBOOK_LINKS)),
            },
        )
        after = requests.read_metrics(ours.port)
    for name, some in turns.items():
        add_rounds(report, name, some, REDIRECT_P99 if name == ours.name else None)
    report.add(
        "ratio: requests per CPU-second, all processes and databases, every click written",
        ratios(*([turn.per_cpu for turn in turns[name]] for name in (ours.name, textbook.name))),
    )
    hits, misses = (after[name] - before[name] for name in (_HITS, _MISSES))
    report.add(
        "redirects that the worker's memory answered", [100 * hits / (hits + misses)], "%", at_least(90)
    )
    report.add("errors", [turn.load.errors for some in turns.values() for turn in some], target=at_most(0))
    return report


def _in_order(codes: Sequence[str]) -> list[str]:
    """The most followed first: which they are is left to chance."""
    return [codes[place] for place in np.random.default_rng(_SEED).permutation(len(codes)).tolist()]


def _by_zipf(codes: Sequence[str]) -> list[str]:
    """Draws with exponent 1."""
    ordered = _in_order(codes)
    weights = 1.0 / np.arange(1, len(codes) + 1)
    draws = np.random.default_rng(_SEED + 1).random(_DRAWS)
    places = np.searchsorted(np.cumsum(weights / weights.sum()), draws)
    return [ordered[min(place, len(codes) - 1)] for place in places.tolist()]
