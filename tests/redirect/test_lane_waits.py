"""Misses that wait in the lane, in front of a database that takes its time."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from laconic.errors import Unavailable
from laconic.redirect.model import LinkRow
from tests.redirect.gated import Gated
from tests.redirect.raw_http import Client, let_the_server_read, request, until
from tests.redirect.serving import Site, open_site

pytestmark = pytest.mark.anyio


class _SlowLookUp:
    """Of the site's cache: it answers when it is told to, and counts who asks."""

    def __init__(self, site: Site) -> None:
        self._look_up = site.services.cache.look_up
        site.services.cache.look_up = self
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None
        self.asked = 0

    async def __call__(self, domain_id: int, code: str) -> LinkRow | None:
        self.asked += 1
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return await self._look_up(domain_id, code)


@pytest.fixture
async def distant_site(tmp_path: Path, gated: Gated) -> AsyncIterator[Site]:
    """The application behind it answers 200, and knows how often it was asked."""
    gated.gate.set()
    async with open_site(tmp_path / "distant", app=gated) as site:
        await site.add("known")
        yield site


@pytest.fixture
async def look_up(distant_site: Site) -> _SlowLookUp:
    return _SlowLookUp(distant_site)


@pytest.fixture
async def visitor(distant_site: Site) -> AsyncIterator[Client]:
    """Whose headers have been met."""
    async with await distant_site.connect() as client:
        assert (await client.ask(request("/known"))).status == 302
        yield client


async def _ask_and_wait(site: Site, look_up: _SlowLookUp, visitor: Client, code: str) -> int:
    """For a new link, whose look-up is then under way; the link's id."""
    link_id = await site.add(code, warm=False)
    look_up.gate.clear()
    await visitor.send(request(f"/{code}"))
    await until(lambda: look_up.asked == 1)
    return link_id


async def test_a_miss_is_redirected_and_counted_by_the_lane(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated
) -> None:
    """Looked up once; the next time it is a hit."""
    link_id = await distant_site.add("wait1", warm=False)
    for _ in range(3):
        answer = await visitor.ask(request("/wait1"))
        assert (answer.status, answer.location) == (302, "https://example.com/wait1")
        assert not answer.is_last
    counts = distant_site.services.cache.counts
    assert (look_up.asked, counts.in_lane, gated.started) == (1, 1, 0)
    assert len(distant_site.clicks(link_id)) == 3


async def test_what_is_kept_nowhere_is_answered_all_the_same(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated
) -> None:
    """Without a cache each request is a look-up."""
    distant_site.services.cache.most_entries = 0
    link_id = await distant_site.add("wait2", warm=False)
    for _ in range(3):
        assert (await visitor.ask(request("/wait2"))).status == 302
    assert (look_up.asked, gated.started) == (3, 0)
    assert len(distant_site.clicks(link_id)) == 3


async def test_an_answer_that_had_to_wait_is_told_to_have_taken_so_long(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client
) -> None:
    """Whoever watches sees each answer once, and a slow database in its time."""
    lane = distant_site.lane
    before = lane.microseconds
    await _ask_and_wait(distant_site, look_up, visitor, "wait3")
    await asyncio.sleep(0.02)
    look_up.gate.set()
    assert (await visitor.answer()).status == 302
    assert lane.microseconds - before >= 20_000
    assert (lane.answered, sum(lane.durations)) == (2, 2)


async def test_what_comes_behind_a_waiting_miss_is_answered_behind_it(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client
) -> None:
    """Also when the client has said its last word with it."""
    await _ask_and_wait(distant_site, look_up, visitor, "wait4")
    await visitor.send(request("/known") + request("/live"))
    visitor.finish_sending()
    # As when it has just read what was sent to it before.
    (await distant_site.running.connection_of(visitor)).resume_writing()
    await let_the_server_read()
    look_up.gate.set()
    first, second, third = await visitor.answers(3)
    assert (first.location, second.location) == ("https://example.com/wait4", "https://example.com/known")
    assert third.status == 200
    assert await visitor.rest() == b""


@pytest.mark.parametrize("code", ["nobody", "wait5"])
async def test_how_a_no_looks_is_for_the_application_to_say(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated, code: str
) -> None:
    """It finds the answer remembered; the connection goes on."""
    deleted = await distant_site.add("wait5", warm=False, is_deleted=True, gone_reason="deleted")
    assert (await visitor.ask(request(f"/{code}"))).status == 200
    assert (await visitor.ask(request("/known"))).status == 302
    counts = distant_site.services.cache.counts
    assert (look_up.asked, counts.asked_twice, counts.in_lane, gated.started) == (1, 1, 0, 1)
    assert distant_site.clicks(deleted) == []


@pytest.mark.parametrize("error", [Unavailable("away"), RuntimeError("a mistake")])
async def test_a_look_up_that_fails_is_for_the_application_to_tell(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated, error: Exception
) -> None:
    """Whatever failed, the connection does not wait for ever."""
    look_up.error = error
    assert (await visitor.ask(request("/wait6"))).status == 200
    assert (await visitor.ask(request("/known"))).status == 302
    assert gated.started == 1


async def test_a_visitor_who_leaves_while_it_waits_is_no_click(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated
) -> None:
    """And nobody else is disturbed."""
    link_id = await _ask_and_wait(distant_site, look_up, visitor, "wait7")
    connection = await distant_site.running.connection_of(visitor)
    connection.transport.abort()
    await until(lambda: not distant_site.is_held(visitor))
    look_up.gate.set()
    await until(lambda: not distant_site.lane.look_ups)
    assert distant_site.clicks(link_id) == []
    async with await distant_site.connect() as other:
        assert (await other.ask(request("/wait7"))).status == 302
    assert gated.started == 0


async def test_a_server_that_stops_answers_who_waits(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated
) -> None:
    """Through the application, with the word that it was the last."""
    await _ask_and_wait(distant_site, look_up, visitor, "wait8")
    stop = asyncio.create_task(distant_site.running.stop())
    await until(lambda: distant_site.lane.is_stopping)
    await let_the_server_read()
    look_up.gate.set()
    answer = await visitor.answer()
    assert (answer.status, answer.is_last, gated.started) == (200, True, 1)
    await stop


async def test_a_waiting_miss_is_not_idle(distant_site: Site, look_up: _SlowLookUp, visitor: Client) -> None:
    """However long the database takes, the visitor hears of it."""
    await _ask_and_wait(distant_site, look_up, visitor, "wait9")
    for _ in range(3):
        distant_site.pass_seconds(60)
    look_up.gate.set()
    assert (await visitor.answer()).status == 302
    distant_site.pass_seconds(75)
    assert distant_site.is_open(visitor)
    distant_site.pass_seconds(1)
    assert not distant_site.is_open(visitor)


@pytest.mark.parametrize("path", ["/", "/live", "/wait10?a", "/a.b", "/a/b", "/%61", "/" + "a" * 65])
async def test_what_may_be_no_link_does_not_wait(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated, path: str
) -> None:
    """Nor what the program answers itself."""
    assert (await visitor.ask(request(path))).status == 200
    assert (look_up.asked, gated.started) == (0, 1)


async def test_headers_are_learned_from_a_miss(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client, gated: Gated
) -> None:
    """The first that brings them goes through the application; where nothing is cached, the others do not."""
    link_id = await distant_site.add("wait12", warm=False)
    distant_site.services.cache.most_entries = 0
    answers = [await visitor.ask(request("/wait12", "User-Agent: new")) for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 302, 302]
    assert (look_up.asked, gated.started) == (2, 1)
    assert [click.user_agent for click in distant_site.clicks(link_id)] == [b"new"] * 2


@pytest.mark.parametrize(
    ("path", "method"),
    [("/live", "GET"), ("/", "GET"), ("/a/b", "GET"), ("/wait13", "DELETE"), ("/wait13", "HEAD")],
)
async def test_only_headers_of_visitors_are_learned(
    distant_site: Site, visitor: Client, path: str, method: str
) -> None:
    """Those of people who work here hold a session each, and would fill the memory."""
    blocks = type(await distant_site.running.connection_of(visitor)).known.blocks
    before = len(blocks)
    await visitor.ask(request(path, "Cookie: session=1", method=method), to_head=method == "HEAD")
    assert len(blocks) == before


async def test_a_change_while_it_waits_is_seen(
    distant_site: Site, look_up: _SlowLookUp, visitor: Client
) -> None:
    """P4: the look-up began before the change, so it proves nothing after it."""
    await _ask_and_wait(distant_site, look_up, visitor, "wait11")
    await distant_site.services.database.execute(
        "UPDATE short_link SET target_url = 'https://example.com/new', version = 2 WHERE short_code = 'wait11'"
    )
    distant_site.services.cache.changed(1, "wait11", 2)
    look_up.gate.set()
    assert (await visitor.answer()).location == "https://example.com/new"
