"""stats, clicks export, clicks erase."""

import asyncio
import csv
import io
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from laconic.cli.charts import column_chart
from laconic.clock import DAY, now
from laconic.storage.database import Database
from laconic.storage.engines import open_database
from tests.cli.conftest import Laconic
from tests.cli.test_terminal import on_terminal
from tests.clicks.raw_events import event, store_events
from tests.clicks.rollups import Counted, count
from tests.serve.running import run

Write = Callable[[Callable[[Database], Awaitable[None]]], None]


def written(url: str, work: Callable[[Database], Awaitable[None]]) -> None:
    """Does to the clicks what ingest would do."""

    async def write() -> None:
        database = await open_database(url, writes="clicks")
        try:
            await work(database)
        finally:
            await database.close()

    asyncio.run(write())


@pytest.fixture
def link(laconic: Laconic) -> int:
    made = laconic("shorten", "https://example.com/", "--code", "sale24", "--json").json()
    return int(made["id"])


def test_stats_show_totals_a_chart_and_lists(laconic: Laconic, migrated_url: str, link: int) -> None:
    """Beside the days before; without colours where nobody sees them."""
    clicks = [Counted(link, now() - number * DAY, values={"country": "DE"}) for number in range(5)]
    clicks += [Counted(link, now(), is_bot=True, values={"country": "\x1b[2JUS"}, times=3)]
    clicks += [Counted(link, now() - 33 * DAY, times=4)]
    written(migrated_url, lambda database: count(database, clicks))
    shown = laconic("stats", "sale24")
    assert shown.status == 0, shown.err
    assert "http://localhost:8000/sale24 → https://example.com/" in shown.out
    assert (
        "8 clicks · 5 by people · 3 by bots · 5 visitors, day by day · +100% to the time before" in shown.out
    )
    assert "█" in shown.out
    assert "Countries" in shown.out
    assert "\x1b" not in shown.out
    assert "Cities" not in shown.out


def test_stats_for_programs_are_the_apis(laconic: Laconic, migrated_url: str, link: int) -> None:
    written(migrated_url, lambda database: count(database, [Counted(link, now())]))
    shown = laconic("stats", "sale24", "--days", "2", "--tz", "Asia/Tokyo", "--json").json()
    assert (shown["short_code"], shown["totals"]["clicks"]) == ("sale24", 1)
    assert shown["period"]["tz"] == "Asia/Tokyo"
    assert shown["period"]["interval"] == "hour"
    assert sum(bucket["clicks"] for bucket in shown["series"]) == 1


def test_stats_without_clicks_say_so(laconic: Laconic, link: int) -> None:
    assert "No clicks in this time." in laconic("stats", "sale24", "--days", "400").out


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("stats", "nothere"), 1, "link_unknown"),
        (("stats", "sale24", "--tz", "Mars"), 1, "invalid_request"),
        (("stats", "sale24", "--days", "0"), 2, "usage"),
        (("clicks", "export", "nothere"), 1, "link_unknown"),
        (("clicks", "export", "sale24", "--from", "soon"), 1, "invalid_request"),
        (("clicks", "erase"), 2, "usage"),
        (("clicks", "erase", "--link", "a", "--visitor", "b"), 2, "usage"),
        (("clicks", "erase", "--visitor", "everybody"), 1, "invalid_request"),
    ],
)
def test_what_is_not_allowed_is_refused(
    laconic: Laconic, link: int, arguments: tuple[str, ...], status: int, code: str
) -> None:
    refused = laconic(*arguments, "--json")
    assert (refused.status, refused.problem()["code"]) == (status, code)


def test_exports_go_to_standard_output_or_a_file(
    laconic: Laconic, migrated_url: str, link: int, tmp_path: Path
) -> None:
    """As CSV or as JSON, the same clicks; nobody else may read the file."""
    moment = now()
    events = [event(link, moment - number, user_agent="+1") for number in range(2_500)]
    written(migrated_url, lambda database: store_events(database, events))
    printed = laconic("clicks", "export", "sale24")
    assert printed.err == ""
    rows = list(csv.DictReader(io.StringIO(printed.out)))
    assert [row["id"] for row in rows] == [str(one["id"]) for one in reversed(events)]
    assert rows[0]["user_agent"] == "'+1"
    file = tmp_path / "clicks.ndjson"
    done = laconic("clicks", "export", "sale24", "--format", "json", "-o", str(file))
    assert done.line() == f"Wrote 2,500 clicks to {file}."
    assert file.stat().st_mode & 0o777 == 0o600
    documents = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["id"] for one in documents] == [row["id"] for row in rows]
    assert documents[0]["user_agent"] == "+1"
    none = laconic("clicks", "export", "sale24", "--to", "2020-01-01")
    assert len(none.out.splitlines()) == 1


def test_clicks_are_erased(laconic: Laconic, migrated_url: str, link: int) -> None:
    """Of a visitor, of a link; a deleted link's too."""
    visitor = b"\xab" * 8
    events = [event(link, now(), visitor_hash=visitor), event(link, now()), event(link, now())]
    written(migrated_url, lambda database: store_events(database, events))
    assert laconic("clicks", "erase", "--visitor", visitor.hex()).line() == "Erased 1 raw clicks."
    laconic("delete", "sale24")
    assert laconic("clicks", "erase", "--link", "sale24", "--json").json() == {"erased": 2}


def test_a_terminal_gets_a_chart_and_a_bar(tmp_path: Path) -> None:
    """Lines fit into it, however narrow."""
    run(tmp_path, "shorten", "https://example.com/", "--code", "first24")
    shown = on_terminal(tmp_path, "stats", "first24", columns=60)
    assert "first24" in shown
    assert "by day, UTC" in shown
    assert "Wrote 0 clicks" in on_terminal(tmp_path, "clicks", "export", "first24", "-o", "out.csv")


def test_a_chart_shows_what_is_there() -> None:
    """The highest column fills the height, the smallest is not lost, neighbours are added up where room is short."""
    lines = column_chart([1_000, 1, 0, 500], width=4, height=2)
    assert lines == ["█", "█▁ █"]
    assert column_chart([1, 1, 2, 2], width=2, height=1) == ["▄█"]
    assert column_chart([0, 0], width=10, height=1) == ["  "]
    assert column_chart([], width=10, height=1) == [""]
    assert max(map(len, column_chart(list(range(731)), width=70))) <= 70
