"""Header blocks that were met before: the same bytes mean the same thing, and a shortcut may change nothing else."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.redirect.lane import LaneProtocol, lane_protocol
from laconic.redirect.lane.known import Head, KnownHeads
from tests.redirect.raw_http import Client, let_the_server_read, request
from tests.redirect.serving import Running, Site, run

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("data", "is_kept"),
    [
        (b"GET /a HTTP/1.1\r\nHost: a\r\n\r\n", True),
        (b"GET /a HTTP/1.1\r\n\r\n", True),
        (b"GET /a HTTP/1.1\r\nHost: a\r\n", False),
        (b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n", False),
        (b"GET /a HTTP/1.1\r\nHost: a\r\n\r\nbody", False),
        (b"GET /a HTTP/1.0\r\nHost: a\r\n\r\n", False),
        (b"HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n", False),
        (b"GET http://a/a HTTP/1.1\r\nHost: a\r\n\r\n", False),
        (b"GET /a HTTP/1.1\r\nX: %b\r\n\r\n" % (b"x" * (2048 - 18)), True),
        (b"GET /a HTTP/1.1\r\nX: %b\r\n\r\n" % (b"x" * (2048 - 17)), False),
    ],
)
async def test_one_whole_plain_get_is_kept(data: bytes, is_kept: bool) -> None:
    """What stands behind its path, to the letter, if that is not long."""
    known = KnownHeads()
    head = Head(b"1", [], is_click=True, is_last=False)
    known.remember(data, head)
    assert known.blocks == ({data[data.index(b" HTTP/1.1\r\n") :]: head} if is_kept else {})


async def test_a_known_block_tells_each_connections_own_address(site: Site) -> None:
    """The block is shared by all visitors, the address is not."""
    link_id = await site.add("whose")
    for address in ("127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.2"):
        async with await Client.connect(site.running.port, source=address) as client:
            for _ in range(2):
                assert (await client.ask(request("/whose", "User-Agent: same"))).status == 302
    assert [click.address.decode() for click in site.clicks(link_id)] == (
        ["127.0.0.1"] * 2 + ["127.0.0.2"] * 2 + ["127.0.0.3"] * 2 + ["127.0.0.2"] * 2
    )


async def test_known_blocks_on_one_connection_are_told_apart(site: Site, client: Client) -> None:
    """A proxy's visitors take turns."""
    link_id = await site.add("turns")
    for _ in range(3):
        for agent in ("one", "two"):
            await client.ask(request("/turns", f"User-Agent: {agent}"))
    assert [click.user_agent for click in site.clicks(link_id)] == [b"one", b"two"] * 3


async def test_a_body_that_looks_like_a_known_request_is_a_body(site: Site, client: Client) -> None:
    """It comes in a packet of its own, to the letter as a request that was answered before."""
    link_id = await site.add("known1")
    known = request("/known1", "User-Agent: same")
    for _ in range(2):
        await client.ask(known)
    await client.send(request("/shorten", f"Content-Length: {2 * len(known)}", method="POST"))
    for _ in range(2):
        await let_the_server_read()
        await client.send(known)
    assert (await client.answer()).status == 400
    assert (await client.ask(known)).status == 302
    assert len(site.clicks(link_id)) == 3


async def test_a_known_request_inside_a_head_is_not_answered(site: Site, client: Client) -> None:
    """What began before it is one head with it: its first line is the value of a header."""
    link_id = await site.add("known2")
    for _ in range(2):
        await client.ask(request("/known2"))
    await client.send(b"GET /nobody HTTP/1.1\r\nX: ")
    await let_the_server_read()
    assert (await client.ask(request("/known2"))).status == 404
    assert (await client.ask(request("/known2"))).status == 302
    assert len(site.clicks(link_id)) == 3


async def test_a_known_block_is_not_parsed_again(
    site: Site, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another path with the same headers goes no further than the shortcut."""
    for code in ("known5", "known6"):
        await site.add(code)
    await client.ask(request("/known5", "X: same"))
    parsed: list[bytes] = []
    monkeypatch.setattr(LaneProtocol, "_parse", lambda _, data: parsed.append(data))
    for code in ("known5", "known6"):
        assert (await client.ask(request(f"/{code}", "X: same"))).location == f"https://example.com/{code}"
    assert not parsed


async def test_a_known_block_waits_its_turn(site: Site, client: Client) -> None:
    """An earlier request is still with the application."""
    await site.add("known3")
    for _ in range(2):
        await client.ask(request("/known3"))
    await client.send(request("/health"))
    await client.send(request("/known3"))
    assert [answer.status for answer in await client.answers(2)] == [200, 302]


def test_blocks_are_remembered_until_there_are_too_many() -> None:
    """Then all of them go, and the newest is the first again."""
    known, head = KnownHeads(), Head(b"1", [], is_click=True, is_last=False)
    for number in range(8_192):
        known.remember(request("/known", f"X-Number: {number}"), head)
    assert len(known.blocks) == 8_192
    known.remember(request("/known", "X-Number: one too many"), head)
    assert len(known.blocks) == 1


async def test_a_connection_with_known_blocks_is_idle_in_between(own_site: Site) -> None:
    """From its last request on it has 75 seconds for the next, and not the ten of a head that is on its way."""
    await own_site.add("known7")
    async with await own_site.connect() as client:
        for _ in range(3):
            assert (await client.ask(request("/known7"))).status == 302
            own_site.pass_seconds(70)
            assert own_site.is_open(client)
        own_site.pass_seconds(6)
        assert not own_site.is_open(client)


async def test_a_known_block_is_no_way_to_an_entry_past_its_time(own_site: Site) -> None:
    """To the very microsecond, which all answers of a tick share."""
    await own_site.add("known8")
    async with await own_site.connect() as client:
        await client.ask(request("/known8"))
        connection = await own_site.running.connection_of(client)
        (entry,) = own_site.lane.entries.values()
        for _ in range(2):
            connection.data_received(request("/known8"))
            entry.fresh_until = own_site.lane.begun + 1
        connection.data_received(request("/known8"))
        assert len(own_site.lane.answers) == 3
        entry.fresh_until = own_site.lane.begun
        connection.data_received(request("/known8"))
        assert len(own_site.lane.answers) == 3
        assert len(await client.answers(4)) == 4


async def test_a_known_block_means_nothing_for_another_method_or_version(site: Site, client: Client) -> None:
    """Only what the same first line would mean."""
    link_id = await site.add("known4")
    known = request("/known4")
    for _ in range(2):
        await client.ask(known)
    head = await client.ask(known.replace(b"GET", b"HEAD"), to_head=True)
    assert head.status == 302
    assert (await client.ask(known.replace(b"GET", b"POST"))).status == 405
    assert (await client.ask(known.replace(b"/known4", b"/known4?x"))).status == 302
    assert (await client.ask(known.replace(b"/known4", b"/nobody"))).status == 404
    assert len(site.clicks(link_id)) == 3
    assert (await client.ask(known.replace(b"1.1", b"1.0"))).is_last


def test_the_memory_of_blocks_is_bounded() -> None:
    """A client that never sends the same headers twice."""
    known = KnownHeads()
    head = Head(b"1", [], is_click=True, is_last=False)
    for number in range(20_000):
        known.remember(request("/x", f"X: {number}"), head)
        assert len(known.blocks) <= 8_192
    known.remember(request("/x", "X: " + "a" * 5_000), head)
    assert all(len(block) <= 2_048 for block in known.blocks)


# The same with and without.


class _Forgetful(KnownHeads):
    def remember(self, data: bytes, head: Head) -> None:
        pass


@pytest.fixture(scope="module")
async def with_and_without(site: Site) -> AsyncIterator[tuple[Running, Running]]:
    """The same lane twice, once without the shortcut."""
    for code in ("twin1", "twin2"):
        await site.add(code)
    plain = type("Plain", (lane_protocol(site.lane),), {"known": _Forgetful()})
    async with (
        run(site.app, lane_protocol(site.lane)) as one,
        run(site.app, plain) as other,
    ):
        yield one, other


_PIECES = [
    request("/twin1"),
    request("/twin2"),
    request("/twin1", "User-Agent: x", "Sec-Purpose: prefetch"),
    request("/twin1", method="HEAD"),
    request("/twin1", "Connection: close"),
    request("/twin1", "Upgrade: h2c", "Connection: Upgrade"),
    request("/twin1", "Content-Length: 38"),
    request("/nobody"),
    request("/live"),
    request("/twin2", version="1.0"),
    request("/twin1") + request("/twin2"),
    request("/twin1")[:20],
    request("/twin1")[20:],
    b"\r\n",
    b"\r\n\r\n",
    b"GET /twin1 HTTP/1.1",
    b"Host: localhost\r\n",
]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=8))
async def test_the_shortcut_changes_no_answer(
    site: Site, with_and_without: tuple[Running, Running], pieces: list[bytes]
) -> None:
    """Whatever is sent, in whatever pieces, both say the same to the last byte, and count the same clicks."""
    said, counted = [], []
    for running in with_and_without:
        before = site.journal._sequence
        async with await running.connect() as client:
            for piece in pieces:
                try:
                    await client.send(piece)
                except ConnectionError:
                    break
                await let_the_server_read()
            await _finish(client)
            lines = (await client.rest()).split(b"\r\n")
        # What differs each time by its nature.
        said.append([line for line in lines if not line.startswith((b"date: ", b"x-request-id: "))])
        counted.append(site.journal._sequence - before)
    assert said[0] == said[1]
    assert counted[0] == counted[1]


async def _finish(client: Client) -> None:
    try:
        client.finish_sending()
    except OSError:
        pass
