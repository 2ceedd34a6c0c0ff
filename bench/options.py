"""The command line."""

import argparse
import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Options:
    scenarios: tuple[str, ...]
    seconds: float
    rounds: int
    links: int
    sizes: tuple[int, ...]
    clicks: tuple[int, ...]
    journaled: int
    engine: Literal["sqlite", "postgres"]
    is_pinned: bool
    folder: Path | None
    json: Path | None
    publishes: bool
    label: str
    minutes: float
    command: str

    @property
    def server_cores(self) -> frozenset[int]:
        """Empty: wherever the kernel likes."""
        return frozenset(sorted(os.sched_getaffinity(0))[:1]) if self.is_pinned else frozenset()

    @property
    def load_cores(self) -> frozenset[int]:
        return frozenset(sorted(os.sched_getaffinity(0))[1:]) if self.is_pinned else frozenset()


# What `make bench` alone does: a choice that two cores get through in a quarter of an hour, most telling first.
_USUAL = [
    *"hit hot pipeline killed create bulk cold lookups start memory mix ingest analytics tenants unknown quiet".split(),
    *("--rounds", "3", "--seconds", "2", "--links", "200000", "--sizes", "1000000,5000000"),
    *("--clicks", "10000,1000000", "--journaled", "300000", "--publish", "--minutes", "14"),
]


def parse(arguments: Sequence[str], known: Sequence[str]) -> Options:
    command = " ".join(["make bench", *([f'ARGS="{shlex.join(arguments)}"'] if arguments else [])])
    arguments = arguments or _USUAL
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description="Measures Laconic beside other servers, on this machine's loopback only. See docs/benchmarks.md.",
        epilog="Scenarios: "
        + ", ".join(known)
        + ". With options and no scenario, all of them; with neither, what the page shows: "
        + " ".join(_USUAL),
    )
    parser.add_argument("scenarios", nargs="*", metavar="scenario", help="what to measure")
    parser.add_argument("--seconds", type=_between(1, 600), default=5, help="of each round (default 5)")
    parser.add_argument("--rounds", type=_between(1, 100), default=5, help="of each participant (default 5)")
    parser.add_argument(
        "--links",
        type=_between(1_000, 10_000_000),
        default=1_000_000,
        help="in the filled database (default 1,000,000)",
    )
    parser.add_argument(
        "--sizes",
        type=_sizes(1_000, 200_000_000),
        default=(1_000_000, 10_000_000),
        metavar="N,N…",
        help="numbers of links that `lookups` compares (default 1000000,10000000)",
    )
    parser.add_argument(
        "--clicks",
        type=_sizes(10_000, 1_000_000_000),
        default=(10_000, 1_000_000, 20_000_000),
        metavar="N,N…",
        help="that reports are made of (default 10000,1000000,20000000)",
    )
    parser.add_argument(
        "--journaled",
        type=_between(1_000, 1_000_000_000),
        default=1_000_000,
        help="clicks that ingest is given (default 1,000,000)",
    )
    parser.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--pin", action="store_true", help="servers on the first core, load on the others")
    parser.add_argument(
        "--folder", type=Path, help="where the data lies meanwhile (default: the temporary folder)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures of every round there")
    parser.add_argument(
        "--publish",
        action="store_true",
        help="keep the figures in docs/benchmarks.json and write the pages anew",
    )
    parser.add_argument(
        "--label",
        default="",
        metavar="WORDS",
        help="with --publish: keep the figures under this name, beside the usual ones and not instead of them",
    )
    parser.add_argument(
        "--minutes",
        type=_between(1, 10_000),
        default=10_000,
        help="begin no scenario that would end later, judged by how long it took the last time",
    )
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.scenarios if name not in known]
    if unknown:
        parser.error(f"there is no scenario {unknown[0]!r}; there are {', '.join(known)}")
    if asked.pin and len(os.sched_getaffinity(0)) == 1:
        parser.error("--pin needs two cores")
    return Options(
        scenarios=tuple(name for name in known if name in asked.scenarios or not asked.scenarios),
        seconds=asked.seconds,
        rounds=asked.rounds,
        links=asked.links,
        sizes=asked.sizes,
        clicks=asked.clicks,
        journaled=asked.journaled,
        engine=asked.engine,
        is_pinned=asked.pin,
        folder=asked.folder,
        json=asked.json,
        publishes=asked.publish,
        label=asked.label,
        minutes=asked.minutes,
        command=command,
    )


class _between:  # noqa: N801  a type, to argparse
    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def __call__(self, text: str) -> int:
        number = int(text)
        if not self._least <= number <= self._most:
            raise argparse.ArgumentTypeError(f"must be from {self._least:,} to {self._most:,}")
        return number


class _sizes:  # noqa: N801  a type, to argparse
    def __init__(self, least: int, most: int) -> None:
        self._one = _between(least, most)

    def __call__(self, text: str) -> tuple[int, ...]:
        return tuple(sorted({self._one(part) for part in text.split(",")}))
