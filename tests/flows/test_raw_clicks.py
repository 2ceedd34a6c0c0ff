"""Raw clicks over HTTP: recent ones, files, erasing, and live."""

import asyncio
import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from laconic.clock import DAY, now, to_rfc3339
from laconic.storage.engines import open_database
from tests.clicks.raw_events import event, store_events
from tests.flows.server import LaconicServer, new_postgres_database
from tests.flows.talk import URLS, fields_of, make, problem

Keep = Callable[..., None]


def keep_in(server: LaconicServer, *events: dict[str, Any]) -> None:
    """Stores raw clicks as the running server's ingest would."""

    async def write() -> None:
        database = await open_database(server.database_url, writes="clicks")
        try:
            await store_events(database, events)
        finally:
            await database.close()

    asyncio.run(write())


def clicks_of(link: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [event(int(link["id"]), now() - number * DAY) for number in range(count)]


def items(answer: httpx.Response) -> list[dict[str, Any]]:
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def test_recent_clicks_come_newest_first(api: httpx.Client, server: LaconicServer) -> None:
    """Page by page, across months."""
    link = make(api)
    stored = clicks_of(link, 5)
    keep_in(server, *stored)
    path, seen, cursor = f"{URLS}/{link['short_code']}/clicks", [], None
    while True:
        query = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        answer = api.get(path, params=query)
        seen += items(answer)
        cursor = answer.json()["next_cursor"]
        if cursor is None:
            break
    # The link was made just now; what is older than the month before was not answered by it.
    assert [one["id"] for one in seen] == [str(one["id"]) for one in stored[: len(seen)]]
    assert len(seen) >= 2
    assert seen[0]["visitor"] == stored[0]["visitor_hash"].hex()
    assert seen[0]["clicked_at"] == to_rfc3339(stored[0]["clicked_at"])


def test_a_file_has_every_click(api: httpx.Client, server: LaconicServer) -> None:
    """Oldest first, as CSV that no spreadsheet computes, and as JSON with every text as it was."""
    link = make(api)
    agent = '=HYPERLINK("https://evil.example","x")'
    stored = [{**one, "user_agent": agent, "referer": 'a,"b"\nc'} for one in clicks_of(link, 3)]
    keep_in(server, *stored)
    path = f"{URLS}/{link['short_code']}/clicks/export"
    ids = [str(one["id"]) for one in reversed(stored)]
    answer = api.get(path)
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert [row["id"] for row in rows] == ids
    assert {(row["user_agent"], row["referer"]) for row in rows} == {("'" + agent, 'a,"b"\nc')}
    lines = api.get(path, params={"format": "ndjson"}).text.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ids
    assert json.loads(lines[0])["user_agent"] == agent
    today = {"from": to_rfc3339(now() - DAY // 2), "to": to_rfc3339(now() + DAY // 2)}
    assert len(api.get(path, params={"format": "ndjson", **today}).text.splitlines()) == 1
    assert api.get(f"{URLS}/{make(api)['short_code']}/clicks/export").text.count("\n") == 1


def test_clicks_are_erased_and_counts_stay(api: httpx.Client, server: LaconicServer) -> None:
    """One visitor's, or a link's, also after the link was deleted."""
    link, other = make(api), make(api)
    visitor = b"\x07" * 8
    mine = [*clicks_of(link, 2), event(int(link["id"]), now(), visitor_hash=visitor)]
    keep_in(server, *mine, event(int(other["id"]), now(), visitor_hash=visitor))
    assert api.delete("/api/v1/clicks", params={"visitor": visitor.hex()}).json() == {"erased": 2}
    api.delete(f"{URLS}/{link['short_code']}")
    path = f"{URLS}/{link['short_code']}/clicks"
    assert len(items(api.get(path))) >= 1
    assert api.delete(path).json() == {"erased": 2}
    assert items(api.get(path)) == []


def test_what_is_not_allowed_is_refused(api: httpx.Client) -> None:
    code = make(api)["short_code"]
    for path, parameters, field in (
        (f"{URLS}/{code}/clicks", {"cursor": "x"}, "cursor"),
        (f"{URLS}/{code}/clicks", {"limit": "1001"}, "limit"),
        (f"{URLS}/{code}/clicks/export", {"format": "xlsx"}, "format"),
        (f"{URLS}/{code}/clicks/export", {"from": "soon"}, "from"),
    ):
        assert fields_of(problem(api.get(path, params=parameters), 422, "invalid_request")) == [field]
    for visitor in ("", "everybody", "%"):
        answer = api.delete("/api/v1/clicks", params={"visitor": visitor})
        assert fields_of(problem(answer, 422, "invalid_request")) == ["visitor"]
    problem(api.delete("/api/v1/clicks"), 422, "invalid_request")
    for path in (f"{URLS}/unknown1/clicks", f"{URLS}/unknown1/clicks/export"):
        problem(api.get(path), 404, "link_unknown")
    problem(api.get("/api/v1/clicks/live?code=unknown1"), 404, "link_unknown")


def events_of(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id and the data of each event."""
    id_ = ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "id":
            id_ = value
        elif name == "data":
            yield id_, json.loads(value)


@pytest.fixture(params=["sqlite", "postgres"])
def own_server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LaconicServer]:
    """One that a test may stop, with two workers."""
    url = ""
    if request.param == "postgres":
        url = new_postgres_database(request.getfixturevalue("postgres_server"))
    with LaconicServer(tmp_path, url, workers=2) as server:
        yield server


def test_live_clicks_come_on_every_connection_and_end_with_the_server(own_server: LaconicServer) -> None:
    """Whichever worker has it; a link's alone where one is named; after a break with what was missed; and the
    server's end is theirs too, also for whoever does not read."""
    with own_server.client() as api:
        link, other = make(api), make(api)
        live = "/api/v1/clicks/live"
        with (
            api.stream("GET", live) as one,
            api.stream("GET", live) as two,
            api.stream("GET", live, params={"code": link["short_code"]}) as of_link,
            api.stream("GET", live) as unread,
        ):
            assert one.headers["content-type"].startswith("text/event-stream")
            last = ""
            streams = [events_of(stream.iter_lines()) for stream in (one, two, of_link)]
            first, second = event(int(other["id"]), now()), event(int(link["id"]), now() + 1)
            keep_in(own_server, first, second)
            for stream in streams[:2]:
                assert next(stream)[1]["id"] == str(first["id"])
                last, shown = next(stream)
                assert (shown["id"], shown["short_code"]) == (str(second["id"]), link["short_code"])
            assert next(streams[2])[1]["id"] == str(second["id"])
            keep_in(own_server, missed := event(int(link["id"]), now() + 2))
            with api.stream("GET", live, headers={"last-event-id": last}) as again:
                assert next(events_of(again.iter_lines()))[1]["id"] == str(missed["id"])
            assert unread.status_code == 200
            assert own_server.stop() == 0
            for stream in streams:
                # To its end, which comes without an error.
                assert all(shown["id"] == str(missed["id"]) for _, shown in stream)
    assert "Traceback" not in own_server.log()
