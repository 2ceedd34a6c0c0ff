"""Reports over HTTP: /analytics of a link and of the workspace."""

import asyncio
import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from laconic.clock import from_datetime
from laconic.storage.engines import open_database
from tests.clicks.rollups import Counted, count
from tests.flows.server import LaconicServer, eventually
from tests.flows.talk import URLS, fields_of, make, problem

Count = Callable[..., None]
# A day that no other flow has clicks on.
DAY = datetime(2024, 3, 14, tzinfo=UTC)


def at(hours: float) -> int:
    return from_datetime(DAY + timedelta(hours=hours))


@pytest.fixture(scope="session")
def count_clicks(server: LaconicServer) -> Count:
    """Writes clicks into the rollups of the running server, as its ingest would."""

    def counted(*clicks: Counted) -> None:
        async def write() -> None:
            database = await open_database(server.database_url, writes="clicks")
            try:
                await count(database, clicks)
            finally:
                await database.close()

        asyncio.run(write())

    return counted


@pytest.fixture(scope="session")
def link(api: httpx.Client, count_clicks: Count) -> dict[str, Any]:
    """Followed by two people and a bot on one day, and by one of them on the next."""
    made = make(api, title="Reported")
    link_id = int(made["id"])
    count_clicks(
        Counted(link_id, at(1), visitor="a", values={"country": "DE", "browser": "Firefox"}, times=3),
        Counted(link_id, at(13.5), visitor="b", values={"country": "FR", "browser": "=SUM(A1)"}),
        Counted(link_id, at(14), is_bot=True, values={"country": "US", "device_type": "bot"}),
        Counted(link_id, at(25), visitor="a", values={"country": "DE", "browser": "Firefox"}),
    )
    return made


def report(api: httpx.Client, path: str, **parameters: Any) -> dict[str, Any]:
    answer = api.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    found: dict[str, Any] = answer.json()
    return found


def test_a_link_has_totals_series_and_lists(api: httpx.Client, link: dict[str, Any]) -> None:
    """Of the days that were asked for, beside those before."""
    path = f"{URLS}/{link['short_code']}/analytics"
    shown = report(api, path, **{"from": "2024-03-14", "to": "2024-03-15", "interval": "day"})
    assert shown["short_code"] == link["short_code"]
    assert shown["period"] == {
        "from": "2024-03-14T00:00:00Z",
        "to": "2024-03-16T00:00:00Z",
        "tz": "UTC",
        "interval": "day",
    }
    assert shown["totals"] == {"clicks": 6, "human_clicks": 5, "bot_clicks": 1, "unique_visitors": 3}
    assert shown["previous"] == {
        "from": "2024-03-12T00:00:00Z",
        "to": "2024-03-14T00:00:00Z",
        **dict.fromkeys(("clicks", "human_clicks", "bot_clicks", "unique_visitors"), 0),
    }
    assert shown["series"] == [
        {"start": "2024-03-14T00:00:00Z", "local": "2024-03-14T00:00:00+00:00", "clicks": 5, "bot_clicks": 1},
        {"start": "2024-03-15T00:00:00Z", "local": "2024-03-15T00:00:00+00:00", "clicks": 1, "bot_clicks": 0},
    ]
    assert shown["groups"]["country"]["values"] == [
        {"value": "DE", "clicks": 4, "bot_clicks": 0},
        {"value": "FR", "clicks": 1, "bot_clicks": 0},
        {"value": "US", "clicks": 1, "bot_clicks": 1},
    ]
    assert shown["about"] == {
        "days": {"from": "2024-03-14", "to": "2024-03-15", "tz": "UTC"},
        "unique_visitors": "sum_of_daily_estimates",
        "ingest_lag_seconds": shown["about"]["ingest_lag_seconds"],
    }
    assert "top_links" not in shown


def test_a_workspace_names_its_links(api: httpx.Client, link: dict[str, Any]) -> None:
    """The most followed of the period first."""
    shown = report(api, "/api/v1/analytics", **{"from": "2024-03-14", "to": "2024-03-15"})
    assert shown["totals"]["clicks"] == 6
    (top,) = shown["top_links"]
    assert top == {
        "id": link["id"],
        "short_code": link["short_code"],
        "original_url": link["original_url"],
        "title": "Reported",
        "is_deleted": False,
        "clicks": 6,
        "bot_clicks": 1,
    }


def test_the_default_shows_thirty_days_with_zeros(api: httpx.Client) -> None:
    """Also of a link that nobody has followed."""
    shown = report(api, f"{URLS}/{make(api)['short_code']}/analytics")
    assert len(shown["series"]) == 30
    assert {bucket["clicks"] for bucket in shown["series"]} == {0}
    assert list(shown["groups"]) == ["country", "city", "device_type", "browser", "os", "referer", "language"]


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns", "UTC"])
@pytest.mark.parametrize("interval", ["hour", "day", "week", "month"])
def test_series_add_up_in_every_zone(
    api: httpx.Client, link: dict[str, Any], zone: str, interval: str
) -> None:
    shown = report(
        api,
        f"{URLS}/{link['short_code']}/analytics",
        **{"from": "2024-03-12", "to": "2024-03-17", "tz": zone, "interval": interval},
    )
    assert sum(bucket["clicks"] for bucket in shown["series"]) == shown["totals"]["clicks"] == 6
    assert shown["series"][0]["start"] == shown["period"]["from"]


def test_people_and_bots_can_be_asked_for_alone(api: httpx.Client, link: dict[str, Any]) -> None:
    period = {"from": "2024-03-14", "to": "2024-03-15"}
    path = f"{URLS}/{link['short_code']}/analytics"
    people = report(api, path, traffic="humans", **period)
    bots = report(api, path, traffic="bots", **period)
    assert (people["totals"]["clicks"], people["totals"]["bot_clicks"]) == (5, 0)
    assert (bots["totals"]["clicks"], bots["totals"]["human_clicks"]) == (1, 0)
    assert bots["totals"]["unique_visitors"] is None
    assert [one["value"] for one in bots["groups"]["country"]["values"]] == ["US"]


def test_lists_are_those_that_were_asked_for(api: httpx.Client, link: dict[str, Any]) -> None:
    """Separated by commas or repeated, cut to the limit with the rest beside it."""
    path = f"{URLS}/{link['short_code']}/analytics?from=2024-03-14&to=2024-03-15&limit=1&compare=false"
    for query in ("group_by=os,country", "group_by=country&group_by=os", "group_by=country,,os,os"):
        shown = api.get(f"{path}&{query}").json()
        assert list(shown["groups"]) == ["country", "os"]
        assert shown["groups"]["country"]["other"] == {"clicks": 2, "bot_clicks": 1}
        assert shown["previous"] is None


def test_numbers_come_as_csv_too(api: httpx.Client, link: dict[str, Any]) -> None:
    """One row each; a value that a spreadsheet would compute is made a text."""
    answer = api.get(
        f"{URLS}/{link['short_code']}/analytics",
        params={"from": "2024-03-14", "to": "2024-03-15", "format": "csv"},
    )
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert [row["clicks"] for row in rows if row["section"] == "total"] == ["6"]
    assert {row["name"] for row in rows if row["section"] == "browser"} == {"Firefox", "'=SUM(A1)", ""}


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"from": "yesterday"}, "from"),
        ({"from": "2024-03-15", "to": "2024-03-14"}, "from"),
        ({"to": "2024-02-30"}, "to"),
        ({"from": "2024-01-01", "to": "2024-03-01", "interval": "hour"}, "interval"),
        ({"interval": "minute"}, "interval"),
        ({"tz": "Mars/Olympus"}, "tz"),
        ({"group_by": "country,colour"}, "group_by"),
        ({"traffic": "cars"}, "traffic"),
        ({"limit": "0"}, "limit"),
        ({"limit": "101"}, "limit"),
        ({"format": "xml"}, "format"),
    ],
)
def test_what_is_not_allowed_is_a_422(
    api: httpx.Client, link: dict[str, Any], parameters: dict[str, str], field: str
) -> None:
    """That names the parameter."""
    for path in (f"{URLS}/{link['short_code']}/analytics", "/api/v1/analytics"):
        document = problem(api.get(path, params=parameters), 422, "invalid_request")
        assert fields_of(document) == [field]


def test_no_report_of_what_is_not_there(api: httpx.Client) -> None:
    """Unknown, deleted, or no code at all."""
    problem(api.get(f"{URLS}/unknown1/analytics"), 404, "link_unknown")
    problem(api.get(f"{URLS}/no%20code/analytics"), 400, "code_malformed")
    code = make(api)["short_code"]
    api.delete(f"{URLS}/{code}")
    problem(api.get(f"{URLS}/{code}/analytics"), 410, "link_deleted")


BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def test_every_view_counts_the_same_clicks(api: httpx.Client) -> None:
    """Redirects that were really answered: in stats, reports, lists, raw clicks and the file, people and bots apart."""
    code = make(api)["short_code"]
    for number in range(30):
        agent = "Googlebot/2.1 (+http://www.google.com/bot.html)" if number % 3 == 0 else BROWSER
        headers = {"user-agent": agent, "referer": "https://news.example/a", "accept-language": "de-DE"}
        assert api.get(f"/{code}", headers=headers).status_code == 302
    one = f"{URLS}/{code}"
    eventually(lambda: api.get(f"{one}/stats").json()["clicks"] >= 30, "the clicks were not counted")
    assert api.get(f"{one}/stats").json()["clicks"] == api.get(f"/stats/{code}").json()["click_count"] == 30
    shown = report(api, f"{one}/analytics", tz="Asia/Kathmandu", **{"from": _yesterday()})
    assert shown["totals"] == {"clicks": 30, "human_clicks": 20, "bot_clicks": 10, "unique_visitors": 1}
    assert sum(bucket["clicks"] for bucket in shown["series"]) == 30
    for name in ("country", "device_type", "browser", "os", "referer", "language"):
        group = shown["groups"][name]
        assert sum(value["clicks"] for value in group["values"]) + group["other"]["clicks"] == 30, name
        assert sum(value["bot_clicks"] for value in group["values"]) + group["other"]["bot_clicks"] == 10
    assert {value["value"]: value["clicks"] for value in shown["groups"]["referer"]["values"]} == {
        "news.example": 30
    }
    items = api.get(f"{one}/clicks", params={"limit": 100}).json()["items"]
    assert len(items) == 30
    assert len({item["visitor"] for item in items if item["device_type"] != "bot"}) == 1
    lines = api.get(f"{one}/clicks/export", params={"format": "ndjson"}).text.splitlines()
    assert [json.loads(line) for line in lines] == items[::-1]
    top = report(api, "/api/v1/analytics", limit=100, **{"from": _yesterday()})["top_links"]
    assert [(link["clicks"], link["bot_clicks"]) for link in top if link["short_code"] == code] == [(30, 10)]
    assert isinstance(shown["about"]["ingest_lag_seconds"], float)


def _yesterday() -> str:
    """So that a day which ends during the test is no matter."""
    return (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
