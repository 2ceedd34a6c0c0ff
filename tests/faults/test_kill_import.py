"""An import that is killed again and again, and then comes to its end, has added everything once."""

import asyncio
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from laconic.storage.database import Database
from laconic.storage.engines import open_database
from laconic.storage.months import begin_of
from tests.moving.shorteners import clicked_yourls

# Batches are of 2,000 lines.
_LINKS, _CLICKS, _KILLS = 1_000, 20_000, 6
# So much later than it was seen to get on, at the most: somewhere in the next batch.
_LATEST_SECONDS = 0.05


@pytest.mark.long
def test_a_killed_import_goes_on_and_counts_everything_once(migrated_url: str, tmp_path: Path) -> None:
    """kill -9 at moments that nobody chose: totals, rollups and single clicks are those of the source."""
    choose = random.Random(1)
    file = clicked_yourls(tmp_path / "yourls.db", _LINKS, _CLICKS)
    delays = [choose.uniform(0, _LATEST_SECONDS) for _ in range(_KILLS)]
    killed = [asyncio.run(_kill_after_getting_on(file, migrated_url, delay)) for delay in delays]
    assert sum(killed) >= _KILLS // 2
    assert _import(file, migrated_url).wait(timeout=300) == 0
    assert _import(file, migrated_url).wait(timeout=300) == 0
    assert asyncio.run(_totals(migrated_url)) == {
        "link_total": _CLICKS + _LINKS,
        "workspace_total": _CLICKS + _LINKS,
        "click_quarter": _CLICKS,
        "workspace_quarter": _CLICKS,
        "click_daily": 6 * _CLICKS,
        "events": _CLICKS,
        "links": _LINKS,
    }


async def _kill_after_getting_on(file: Path, url: str, delay: float) -> bool:
    """Was it killed before it was done?"""
    database = await open_database(url)
    try:
        before = await _counted(database)
        process = _import(file, url)
        while process.poll() is None:
            if await _counted(database) > before:
                await asyncio.sleep(delay)
                process.kill()
                return process.wait() != 0
        return False
    finally:
        await database.close()


async def _counted(database: Database) -> int:
    row = await database.fetch_one("SELECT coalesce(sum(clicks), 0) FROM click_quarter")
    return int(row[0]) if row else 0


def _import(file: Path, url: str) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "LACONIC_DATABASE_URL": url}
    command = [
        sys.executable,
        "-m",
        "laconic",
        "import",
        str(file),
        "--json",
        "--data",
        str(file.parent / "data"),
    ]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)


async def _totals(url: str) -> dict[str, int]:
    database = await open_database(url)
    try:
        found = {}
        for table in ("link_total", "workspace_total", "click_quarter", "workspace_quarter", "click_daily"):
            row = await database.fetch_one(f"SELECT sum(clicks) FROM {table}")
            found[table] = int(row[0]) if row else 0
        months = await database.event_months()
        events = 0
        for month in months:
            rows = await database.fetch_events(
                month,
                "SELECT count(*) FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2",
                *_bounds(month),
            )
            events += int(rows[0][0]) if rows else 0
        row = await database.fetch_one("SELECT count(*) FROM short_link")
        return {**found, "events": events, "links": int(row[0]) if row else 0}
    finally:
        await database.close()


def _bounds(month: int) -> tuple[int, int]:
    return begin_of(month), begin_of(month + 1)
