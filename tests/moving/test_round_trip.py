"""Export → import elsewhere → export gives the same bytes, but for ids and the name of the installation."""

import asyncio
import base64
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from laconic.clicks.sketches import add_visitors
from laconic.clock import DAY, SECOND, now, to_rfc3339
from laconic.settings import Settings
from laconic.wiring import Services, open_services
from tests.moving.travel import exported, imported, less_ids

_SCHEMA = Path(__file__).parents[2] / "docs" / "moving.schema.json"

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
_MOMENT = st.integers(0, 4_000_000_000_000_000)
_COUNT = st.integers(1, 50)


@st.composite
def pairs(draw: st.DrawFn) -> list[int]:
    clicks = draw(_COUNT)
    return [clicks, draw(st.integers(0, clicks))]


@st.composite
def links(draw: st.DrawFn, code: str) -> list[dict[str, Any]]:
    """A link and its days, as an export has them."""
    reason = draw(st.sampled_from([None, "disabled", "deleted", "expired"]))
    url = draw(
        st.sampled_from(["https://example.com/", "https://example.com/ä?b=c d", "http://x.example/%zz"])
    )
    is_blanked = reason in ("deleted", "expired") and draw(st.booleans())
    days = [draw(days_of(code, day)) for day in draw(st.sets(st.integers(10_000, 20_000), max_size=2))]
    dated = [sum(pair[place] for day in days for pair in day["quarters"].values()) for place in (0, 1)]
    undated = draw(st.integers(0, 5))
    clicks = dated[0] + undated
    made = draw(_MOMENT)
    return [
        {
            "record": "link",
            "domain": None,
            "short_code": code,
            "original_url": None if is_blanked else url,
            "title": None if is_blanked else draw(st.none() | _TEXT),
            "description": None if is_blanked else draw(st.none() | _TEXT),
            "metadata": {}
            if is_blanked
            else draw(st.dictionaries(_TEXT, _TEXT | st.integers(0, 9), max_size=2)),
            "created_at": to_rfc3339(made),
            "updated_at": to_rfc3339(made + draw(st.integers(0, 10**12))),
            "expires_at": draw(st.none() | _MOMENT.map(to_rfc3339)),
            "redirect_status": draw(st.sampled_from([301, 302, 307, 308])),
            "is_active": reason is None or (reason == "deleted" and draw(st.booleans())),
            "is_deleted": reason == "deleted",
            "gone_reason": reason,
            "clicks": clicks,
            "bot_clicks": dated[1],
            "last_clicked_at": to_rfc3339(25_000 * DAY) if clicks else None,
        },
        *sorted(days, key=lambda day: str(day["day"])),
    ]


@st.composite
def days_of(draw: st.DrawFn, code: str, day: int) -> dict[str, Any]:
    times = [f"{hour:02d}:{minute:02d}" for hour in range(24) for minute in (0, 15, 30, 45)]
    quarters = {
        time: draw(pairs()) for time in sorted(draw(st.sets(st.sampled_from(times), min_size=1, max_size=3)))
    }
    values = {value: draw(pairs()) for value in sorted(draw(st.sets(_TEXT, max_size=3)))}
    sketch, _ = add_visitors(None, draw(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=30)))
    return {
        "record": "day",
        "domain": None,
        "short_code": code,
        "day": to_rfc3339(day * DAY)[:10],
        "quarters": quarters,
        "dimensions": {"country": values} if values else {},
        "visitors": draw(st.none() | st.just(base64.b64encode(sketch).decode())),
    }


@st.composite
def clicks_of(draw: st.DrawFn, codes: list[str], number: int) -> dict[str, Any]:
    return {
        "record": "click",
        "domain": None,
        "id": str(number),
        "short_code": draw(st.sampled_from(codes)),
        "clicked_at": to_rfc3339(now() // SECOND * SECOND - (9 - number) * DAY),
        "visitor": draw(st.none() | st.binary(min_size=8, max_size=8).map(bytes.hex)),
        "ip_address": draw(st.sampled_from([None, "192.0.2.0/24", "2001:db8::/48"])),
        "user_agent": draw(st.none() | _TEXT),
        "referer": None,
        "country": draw(st.sampled_from([None, "DE"])),
        "city": None,
        "device_type": draw(st.sampled_from(["desktop", "bot", "unknown"])),
        "browser": None,
        "os": None,
        "language": "de",
    }


@st.composite
def files(draw: st.DrawFn) -> list[dict[str, Any]]:
    codes = draw(st.lists(st.from_regex(r"[A-Za-z0-9_]{9,20}", fullmatch=True), unique=True, max_size=4))
    records = [record for code in codes for record in draw(links(code))]
    wanted = range(draw(st.integers(0, 3)) if codes else 0)
    clicks = [draw(clicks_of(codes, number)) for number in wanted]
    head = {"record": "export", "format": 1, "source": "elsewhere/default", "workspace": "default"}
    head |= {"version": "0", "exported_at": to_rfc3339(now())}
    count = {"links": len(codes), "days": len(records) - len(codes), "clicks": len(clicks)}
    return [head, *records, *clicks, {"record": "end", **count}]


@settings(
    max_examples=8,
    # Shrinking would take minutes: each example opens a database.
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(records=files())
def test_what_comes_in_goes_out_the_same(records: list[dict[str, Any]], travel_sqlite: Path) -> None:
    """Twice imported, it still is; so nothing is lost on the way, and nothing is counted twice."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(travel_sqlite, Path(folder) / "data")
        file = Path(folder) / "in.ndjson"
        file.write_text("".join(json.dumps(record) + "\n" for record in records))

        async def travel(services: Services) -> list[str]:
            await imported(services, file)
            await imported(services, file)
            return await exported(services)

        url = f"sqlite:///{folder}/data/laconic.db"
        assert less_ids(asyncio.run(_at(url, travel))) == less_ids(map(json.dumps, records))


async def _at(url: str, work: Any) -> Any:
    async with open_services(Settings(database_url=url), pooled=False) as services:
        return await work(services)


@pytest.fixture(scope="session")
def travel_sqlite(_sqlite_template: Path) -> Path:
    return _sqlite_template


async def test_it_travels_between_engines_and_back(
    migrated_url: str, tmp_path: Path, travel_sqlite: Path
) -> None:
    """From this engine to a fresh one and back out: the same lines, which the documented schema knows."""
    schema = json.loads(_SCHEMA.read_text())
    lines = [
        json.loads(line)
        for line in (Path(__file__).parent / "data" / "export.ndjson").read_text().splitlines()
    ]
    # Single clicks are kept for thirteen months.
    for number, record in enumerate(lines):
        if record["record"] == "click":
            record["clicked_at"] = to_rfc3339(now() // SECOND * SECOND - (99 - number) * DAY)
    file = tmp_path / "in.ndjson"
    file.write_text("".join(json.dumps(record) + "\n" for record in lines))
    shutil.copytree(travel_sqlite, tmp_path / "other")
    async with open_services(Settings(database_url=migrated_url), pooled=False) as services:
        report = await imported(services, file)
        assert report.is_whole
        out = await exported(services)
    (tmp_path / "out.ndjson").write_text("".join(out))
    other = f"sqlite:///{tmp_path}/other/laconic.db"
    async with open_services(Settings(database_url=other), pooled=False) as services:
        await imported(services, tmp_path / "out.ndjson")
        back = await exported(services)
    assert less_ids(back) == less_ids(out) == less_ids(map(json.dumps, lines))
    for text in (*out, *back):
        for line in filter(None, text.split("\n")):
            jsonschema_rs.validate(schema, json.loads(line))
