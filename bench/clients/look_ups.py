"""Looks codes up as the redirect does on a miss, one after the other, and prints what one takes: microseconds.

Without HTTP and without a cache: the statement, its row, and the way to the engine and back.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path

from laconic.redirect.lookup import Lookup
from laconic.storage.engines import open_database
from laconic.workspaces.model import DEFAULT_DOMAIN_ID


async def _look_up(url: str, codes: list[str]) -> dict[str, float]:
    database = await open_database(url)
    look_up = Lookup(database)
    taken = []
    try:
        for code in codes[: len(codes) // 2]:
            await look_up(DEFAULT_DOMAIN_ID, code)
        used = time.process_time()
        for code in codes:
            began = time.perf_counter_ns()
            if await look_up(DEFAULT_DOMAIN_ID, code) is None:
                raise RuntimeError(f"There is no link {code}.")
            taken.append(time.perf_counter_ns() - began)
        used = time.process_time() - used
    finally:
        await database.close()
    taken.sort()
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    told = {name: taken[int(len(taken) * share)] / 1e3 for name, share in shares.items()}
    return {**told, "cpu": used / len(taken) * 1e6}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--codes", type=Path, required=True)
    asked = parser.parse_args()
    print(json.dumps(asyncio.run(_look_up(asked.url, asked.codes.read_text().split()))))


if __name__ == "__main__":
    main()
