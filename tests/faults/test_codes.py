"""Codes are given out while everything that makes them is killed, stopped and put back: none comes twice.

The short run is part of `make test`. The long one (`make faults`) gives ten million from sixteen allocators;
`LACONIC_TEST_CODES` sets another number, and `-s` shows what became of the rest.
"""

import itertools
import os
import time
from pathlib import Path

import pytest

from tests.faults.code_run import CodeRun, Result
from tests.promises import Recorder
from tests.servers import PostgresServer, RedisServer

FAULTS = [
    "kill_allocator",
    "kill_redis",
    "back_up",
    "kill_filler",
    "keep_redis",
    "kill_allocator",
    "stop_filler",
    "promote_old_redis",
    "restore",
    "kill_allocator",
]
_SMALL = ["kill_allocator", "kill_filler", "kill_redis", "stop_filler", "kill_allocator", "keep_redis"]


def run(folder: Path, *, allocators: int, codes: int, pool: int, faults: list[str]) -> Result:
    with PostgresServer() as postgres, RedisServer() as redis:
        run = CodeRun(folder, postgres, redis, pool=pool)
        began = time.monotonic()
        try:
            run.start(allocators)
            for fault in faults:
                # Since the last one, which may have taken its time while others were given.
                run.wait_for(run.given() + codes // (len(faults) + 1))
                run.do(fault)
            run.wait_for(max(codes, run.given() + codes // (len(faults) + 1)))
            result = run.finish()
        finally:
            run.close()
        result.seconds = time.monotonic() - began
        return result


def test_p2_no_code_twice_whatever_is_killed(tmp_path: Path) -> None:
    """Allocators, the filler and Redis killed, the filler stopped past its lease, an old Redis, an old backup."""
    result = run(tmp_path, allocators=4, codes=120_000, pool=10_000, faults=FAULTS)
    assert result.duplicates == 0
    assert result.refusals == []
    assert result.given >= 120_000
    assert result.skipped >= 10**9


def test_p2_old_redis_and_at_once_an_old_backup(tmp_path: Path) -> None:
    """Redis brings back codes that the database has forgotten to have given: nobody is left who knows of them."""
    faults = ["back_up", "keep_redis", "promote_old_redis+restore"]
    result = run(tmp_path, allocators=2, codes=40_000, pool=10_000, faults=faults)
    assert result.duplicates == 0
    assert result.refusals == []
    assert result.skipped >= 10**9


@pytest.mark.long
def test_p2_no_code_twice_in_ten_million(tmp_path: Path, record_property: Recorder) -> None:
    """Sixteen allocators, and something happens seventy times on the way."""
    codes = int(os.environ.get("LACONIC_TEST_CODES", "10000000"))
    rounds = max(1, codes // 1_000_000)
    faults = [*itertools.chain.from_iterable(_SMALL for _ in range(rounds)), *FAULTS]
    result = run(tmp_path, allocators=16, codes=codes, pool=100_000, faults=faults)
    figure = (
        f"{result.duplicates} twice of {result.given:,} codes given in {result.seconds:.0f} s,"
        f" {len(result.refusals)} refused, {len(faults)} faults;"
        f" {result.burnt:,} counters burnt or ready, {result.skipped:,} jumped over"
    )
    print(figure)
    record_property("figure", figure)
    assert result.duplicates == 0
    assert result.refusals == []
