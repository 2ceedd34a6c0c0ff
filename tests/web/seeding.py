"""Clicks as a campaign gets them: weeks with working days and evenings, a start that draws, a world that sleeps."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from laconic.clock import DAY, HOUR, SECOND
from laconic.storage.engines import open_database
from tests.clicks.raw_events import store_events
from tests.clicks.rollups import Counted, count

_COUNTRIES = (
    "DE 26 US 21 GB 11 FR 9 NL 6 AT 5 CH 5 ES 4 IT 4 PL 3 SE 3 IN 5 BR 4 JP 3 CA 4 AU 3 MX 2 ZA 1 NG 1 KE 1 AR 1 KR 1"
    " SG 1 NO 1 DK 1 FI 1 IE 1 PT 1 CZ 1 TR 1 AE 1 ID 1 NZ 1"
)
_REFERRERS = (
    " 34 google.com 22 linkedin.com 14 news.ycombinator.com 9 t.co 8 facebook.com 6 newsletter.example.com 5"
    " duckduckgo.com 3 reddit.com 3 bing.com 2 mail.example.org 2"
)
_DEVICES = "desktop 52 mobile 41 tablet 5 unknown 2"
_BROWSERS = "Chrome 48 Safari 24 Firefox 11 Edge 9 Samsung_Internet 5 Opera 2"
_SYSTEMS = "Windows 34 iOS 25 Android 19 macOS 15 Linux 6"
_LANGUAGES = "en 48 de 27 fr 8 es 6 nl 4 pt 3 pl 2 ja 2"
_BY_HOUR = (2, 1, 1, 1, 1, 2, 5, 9, 14, 17, 16, 14, 13, 14, 15, 14, 13, 12, 12, 14, 15, 12, 7, 4)
_BY_WEEKDAY = (1.1, 1.25, 1.2, 1.1, 0.9, 0.45, 0.5)


def campaign(link_id: int, end: int, *, days: int = 75, a_day: int = 120, seed: int = 1) -> list[Counted]:
    """A link's clicks of so many days until `end`; about every tenth is a bot's."""
    chance = random.Random(seed)
    clicks: list[Counted] = []
    for place in range(days):
        midnight = end - end % DAY - (days - 1 - place) * DAY
        weekday = datetime.fromtimestamp(midnight // SECOND, UTC).weekday()
        trend = 0.6 + 0.8 * place / days + (1.4 if place == days - 18 else 0)
        for hour, weight in enumerate(_BY_HOUR):
            moment = midnight + hour * HOUR
            expected = a_day * trend * _BY_WEEKDAY[weekday] * weight / sum(_BY_HOUR)
            number = int(expected * chance.uniform(0.5, 1.5) + chance.random())
            if moment + HOUR <= end:
                clicks += [_click(chance, link_id, moment) for _ in range(number)]
    return clicks


def _click(chance: random.Random, link_id: int, hour: int) -> Counted:
    is_bot = chance.random() < 0.1
    values = {
        "country": _one(chance, _COUNTRIES),
        "referer": "" if is_bot else _one(chance, _REFERRERS),
        "device_type": "bot" if is_bot else _one(chance, _DEVICES),
        "browser": "Googlebot" if is_bot else _one(chance, _BROWSERS).replace("_", " "),
        "os": "" if is_bot else _one(chance, _SYSTEMS),
        "language": "" if is_bot else _one(chance, _LANGUAGES),
    }
    visitor = str(chance.randrange(90))
    return Counted(link_id, hour + chance.randrange(HOUR), is_bot=is_bot, visitor=visitor, values=values)


def _one(chance: random.Random, weights: str) -> str:
    words = weights.split(" ")
    return chance.choices(words[::2], [int(weight) for weight in words[1::2]])[0]


async def seed(
    database_url: str, clicks: Sequence[Counted], events: Sequence[dict[str, Any]] = (), workspace_id: int = 1
) -> None:
    """Clicks into the rollups of an installation, beside whatever else runs on it, and raw clicks as they are.

    Once: nothing is added to what was counted before.
    """
    database = await open_database(database_url, writes="clicks")
    try:
        await count(database, clicks, workspace_id)
        await store_events(database, events)
    finally:
        await database.close()
