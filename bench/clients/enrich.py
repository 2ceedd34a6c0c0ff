"""Reads headers as ingest does, in a process of its own, and says what it took. One JSON object on standard output."""

import argparse
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench import proc

_ADDRESSES = 100_000
_SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--people", type=Path, required=True)
    asked = parser.parse_args()
    programs, people = _lines(asked.programs), _lines(asked.people)
    print(json.dumps(_measure(programs, people)))


def _lines(file: Path) -> list[bytes]:
    return file.read_bytes().splitlines()


def _measure(programs: list[bytes], people: list[bytes]) -> dict[str, Any]:
    before, began = proc.memory(os.getpid()).rss, time.process_time()
    from laconic.clicks.enrich import Enricher
    from laconic.clicks.visitors import VisitorHashes

    enricher = Enricher.from_settings("truncate", "")
    said: dict[str, Any] = {"load_seconds": time.process_time() - began}
    said["load_bytes"] = proc.memory(os.getpid()).rss - before
    agents = random.Random(_SEED).sample(programs + people, len(programs) + len(people))
    addresses = _addresses()
    for name, known, keys in (
        ("agent", enricher.agents, agents),
        ("address", enricher.places, addresses),
        ("language", enricher.languages, [b"de-AT,de;q=0.9,en;q=0.%d" % number for number in range(1_000)]),
        (
            "referrer",
            enricher.referrers,
            [b"https://www.example.com/%d?q=1" % number for number in range(10_000)],
        ),
    ):
        said[f"{name}_new"] = _each(known.__getitem__, keys)
        said[f"{name}_known"] = _each(known.__getitem__, keys)
    hashes = VisitorHashes(lambda day: b"salt")
    said["visitor"] = _each(lambda address: hashes.of(1, address, agents[0]), addresses)
    said["full_bytes"] = proc.memory(os.getpid()).rss - before
    said["recall"] = sum(enricher.agents[agent].is_bot for agent in programs) / len(programs)
    said["wrong"] = sum(enricher.agents[agent].is_bot for agent in people) / max(1, len(people))
    return said


def _addresses() -> list[bytes]:
    chance = random.Random(_SEED)
    return [b"%d.%d.%d.%d" % tuple(chance.choices(range(1, 224), k=4)) for _ in range(_ADDRESSES)]


def _each(read: Callable[[bytes], Any], keys: Sequence[bytes]) -> float:
    """CPU seconds for one."""
    began = time.thread_time()
    for key in keys:
        read(key)
    return (time.thread_time() - began) / len(keys)


if __name__ == "__main__":
    main()
