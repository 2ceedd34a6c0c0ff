"""Makes clicks by the million, a day at a time: as journal records for the real ingest, or straight into the tables.

    python -m bench.click_maker --data DIR --clicks 20000000            tables, with raw clicks
    python -m bench.click_maker --data DIR --clicks 1000000 --journal   journals, for a server that runs or will

The links are those that the database has. Links, countries, browsers and the rest are followed by Zipf's law, the
hours of a day by a curve; the same seed makes the same clicks.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from bench.click_tables import load_day
from laconic.clicks.click import Visitor
from laconic.clicks.journal import Journal
from laconic.clock import DAY, now
from laconic.storage.database import Database
from laconic.storage.engines import open_database

Numbers = np.ndarray[Any, np.dtype[Any]]

_COUNTRIES = [first + second for first in "ABCDEFGIKLMNPRSTUVZ" for second in "AEGKLMNRSTUZ"][:200]
_HOSTS = ["", *(f"{word}{number}.example" for number in range(200) for word in ("news", "blog", "search"))]
_BROWSERS = [
    "Chrome",
    "Safari",
    "Firefox",
    "Edge",
    "Samsung Internet",
    "Opera",
    *(f"Browser {n}" for n in range(20)),
]
_SYSTEMS = ["Windows", "Android", "iOS", "macOS", "Linux", "Chrome OS", *(f"System {n}" for n in range(9))]
_LANGUAGES = ["en", "de", "fr", "es", "pt", "ja", "zh", "it", *(f"l{n}" for n in range(40))]
_DEVICES = ["desktop", "mobile", "tablet", "unknown"]
_BOTS_SHARE = 0.12
_AGENTS = 1_000


@dataclass(frozen=True, slots=True)
class Shape:
    """How many of what."""

    clicks: int
    days: int
    links: int
    seed: int = 1
    visitors: int = 400_000
    slope: float = 1.1
    """Zipf's exponent for links."""


@dataclass(frozen=True)
class Clicks:
    """The clicks of one UTC day, in the order of time: a place in its list for each."""

    day: int
    moments: Numbers
    links: Numbers
    is_bot: Numbers
    visitors: Numbers
    country: Numbers
    referer: Numbers
    browser: Numbers
    os: Numbers
    language: Numbers
    device_type: Numbers

    @cached_property
    def dimensions(self) -> dict[str, tuple[Numbers, list[str]]]:
        """Places and what they mean."""
        return {
            "country": (self.country, _COUNTRIES),
            "referer": (self.referer, _HOSTS),
            "browser": (self.browser, _BROWSERS),
            "os": (self.os, _SYSTEMS),
            "language": (self.language, _LANGUAGES),
            "device_type": (self.device_type, [*_DEVICES, "bot"]),
        }


def _zipf(chance: np.random.Generator, choices: int, size: int, slope: float = 1.1) -> Numbers:
    """Places from 0 on, the first the most frequent."""
    weights = 1.0 / np.arange(1, choices + 1) ** slope
    bounds = np.cumsum(weights / weights.sum())
    return np.minimum(np.searchsorted(bounds, chance.random(size)), choices - 1)


def _moments(chance: np.random.Generator, day: int, size: int) -> Numbers:
    """Few at night, many in the afternoon."""
    hours = np.clip(chance.normal(14, 6, size) % 24, 0, 23.999)
    return np.sort(day * DAY + (hours * 3_600_000_000).astype(np.int64))


def make_days(shape: Shape, last_day: int) -> Iterator[Clicks]:
    """Oldest first; some days have more clicks than others."""
    chance = np.random.default_rng(shape.seed)
    weights = chance.uniform(0.7, 1.3, shape.days)
    counts = np.floor(weights / weights.sum() * shape.clicks).astype(int)
    counts[-1] += shape.clicks - counts.sum()
    for place, size in enumerate(counts.tolist()):
        day = last_day - shape.days + 1 + place
        is_bot = chance.random(size) < _BOTS_SHARE
        devices = _zipf(chance, len(_DEVICES), size)
        yield Clicks(
            day=day,
            moments=_moments(chance, day, size),
            links=_zipf(chance, shape.links, size, shape.slope),
            is_bot=is_bot,
            visitors=_zipf(chance, shape.visitors, size, slope=0.6),
            country=_zipf(chance, len(_COUNTRIES), size),
            referer=_zipf(chance, len(_HOSTS), size, slope=1.3),
            browser=_zipf(chance, len(_BROWSERS), size, slope=1.5),
            os=_zipf(chance, len(_SYSTEMS), size, slope=1.5),
            language=_zipf(chance, len(_LANGUAGES), size, slope=1.4),
            device_type=np.where(is_bot, len(_DEVICES), devices),
        )


async def find_links(database: Database, most: int) -> list[tuple[int, int, str]]:
    """Id, workspace and code of links that are there, oldest first."""
    rows = await database.fetch_all(
        "SELECT id, workspace_id, short_code FROM short_link WHERE NOT is_deleted ORDER BY id LIMIT $1", most
    )
    return [(row[0], row[1], row[2]) for row in rows]


async def fill(url: str, shape: Shape, *, raw: bool = True) -> float:
    """Fills the tables and says how many seconds that took. The days must not have clicks yet."""
    began = time.perf_counter()
    database = await open_database(url, writes="clicks")
    try:
        links = await find_links(database, shape.links)
        for clicks in make_days(replace(shape, links=len(links)), now() // DAY):
            await load_day(database, links, clicks, raw=raw)
            await database.tidy()  # no server runs that would do it
        # What engines do by themselves some time after so many rows.
        await database.execute("ANALYZE")
    finally:
        await database.close()
    return time.perf_counter() - began


_REFERRERS = [f"https://{host}/page".encode() if host else b"" for host in _HOSTS]
_AGENT_NAMES = [
    f"Mozilla/5.0 (compatible; Googlebot/{n}.1; +http://www.google.com/bot.html)".encode()
    if n % 8 == 0
    else f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{n}.0 Safari/537.36".encode()
    for n in range(_AGENTS)
]


def write_journal(folder: Path, links: Sequence[int], shape: Shape, last_day: int | None = None) -> int:
    """Writes the clicks as a worker would, which is then dead; says how many records there are.

    Clicks of today may be ahead of the clock, and ingest takes them for clicks of now.
    """
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(folder)
    written = 0
    known: dict[tuple[int, int], Visitor] = {}
    for clicks in make_days(replace(shape, links=len(links)), last_day or now() // DAY):
        columns = (clicks.moments, clicks.links, clicks.visitors, clicks.referer, clicks.language)
        records = []
        for moment, link, who, referer, language in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            visitor = known.get((who, referer))
            if visitor is None:
                address = f"{1 + who % 200}.{who >> 8 & 255}.{who & 255}.{who % 251}".encode()
                agent = _AGENT_NAMES[who % _AGENTS]
                visitor = Visitor(address, agent, _REFERRERS[referer], _LANGUAGES[language].encode())
                known[who, referer] = visitor
            records.append((moment, links[link], visitor))
            if len(records) == 500:
                journal.write(records)
                written += len(records)
                records = []
        journal.write(records)
        written += len(records)
        if len(known) > 2_000_000:
            known.clear()
    journal.close()
    return written - journal.missed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.click_maker", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="a data folder whose server is stopped")
    parser.add_argument("--database-url", default="", help="default: the SQLite database of the data folder")
    parser.add_argument("--clicks", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--links", type=int, default=1_000, help="at most so many of those that are there")
    parser.add_argument("--journal", action="store_true", help="journal records, for ingest to apply")
    parser.add_argument("--no-raw", action="store_true", help="rollups alone")
    asked = parser.parse_args()
    url = asked.database_url or f"sqlite:///{asked.data}/laconic.db"
    shape = Shape(asked.clicks, asked.days, asked.links)
    if asked.journal:
        links = asyncio.run(_links_at(url, asked.links))
        print(f"{write_journal(asked.data / 'journal', links, shape):,} records")
        return 0
    seconds = asyncio.run(fill(url, shape, raw=not asked.no_raw))
    print(f"{asked.clicks:,} clicks in {seconds:.0f} s")
    return 0


async def _links_at(url: str, most: int) -> list[int]:
    database = await open_database(url)
    try:
        return [link_id for link_id, _, _ in await find_links(database, most)]
    finally:
        await database.close()


if __name__ == "__main__":
    sys.exit(main())
