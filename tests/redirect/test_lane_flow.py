"""Connections over time: slow, idle and half-closed clients, a stop with answers queued, a disk that refuses.

Time is the lane's own clock, turned by hand; nothing here sleeps.
"""

import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from laconic.redirect.lane import WHOLE
from tests.clicks.records import largest_file
from tests.redirect.gated import Gated
from tests.redirect.raw_http import let_the_server_read, request, until
from tests.redirect.serving import Site, open_site

pytestmark = pytest.mark.anyio


# Slow heads.


@pytest.mark.parametrize("sent", [b"", b"G", request("/x")[:-1], b"\r\n"])
async def test_a_head_that_does_not_come_in_ten_seconds_is_not_waited_for(
    own_site: Site, sent: bytes
) -> None:
    """From nothing at all to all but the last byte."""
    async with await own_site.connect() as client:
        await client.send(sent)
        await own_site.running.connection_of(client)
        await let_the_server_read()
        own_site.pass_seconds(10)
        assert own_site.is_open(client)
        own_site.pass_seconds(1)
        answer = await client.answer()
        assert answer.status == 408
        assert answer.is_last
        assert await client.rest() == b""


async def test_a_head_that_comes_byte_by_byte_gains_no_time(own_site: Site) -> None:
    """Ten seconds for all of it, however it is cut."""
    async with await own_site.connect() as client:
        for byte in request("/x")[:12]:
            await client.send(bytes([byte]))
            await let_the_server_read()
            own_site.pass_seconds(1)
        assert (await client.answer()).status == 408


async def test_a_slow_head_on_a_connection_that_was_used_is_cut_too(own_site: Site) -> None:
    """Each head has its own ten seconds."""
    await own_site.add("used")
    async with await own_site.connect() as client:
        await client.ask(request("/used"))
        own_site.pass_seconds(9)
        await client.send(request("/used")[:20])
        await let_the_server_read()
        own_site.pass_seconds(9)
        assert own_site.is_open(client)
        own_site.pass_seconds(2)
        assert (await client.answer()).status == 408


# Idle connections.


@pytest.mark.parametrize("path", ["/idle", "/miss", "/live", "/nobody"])
async def test_an_idle_connection_is_closed(own_site: Site, path: str) -> None:
    """After 75 seconds, whoever answered on it last; without a word, for nothing was asked."""
    await own_site.add("idle")
    await own_site.add("miss", warm=False)
    async with await own_site.connect() as client:
        await client.ask(request(path))
        own_site.pass_seconds(75)
        assert own_site.is_open(client)
        own_site.pass_seconds(1)
        assert await client.rest() == b""


async def test_a_busy_connection_is_not_idle(slow_site: Site, gated: Gated) -> None:
    """An answer may take as long as it takes; the idle time begins behind it."""
    async with await slow_site.connect() as client:
        await client.send(request("/slow"))
        await until(lambda: gated.started == 1)
        for _ in range(5):
            slow_site.pass_seconds(50)
        gated.gate.set()
        assert (await client.answer()).status == 200
        slow_site.pass_seconds(70)
        assert (await client.ask(request("/again"))).status == 200


async def test_uvicorns_timer_of_an_idle_connection_ends_with_the_next_request(
    slow_site: Site, gated: Gated
) -> None:
    """Or it would cut off an answer that takes long."""
    async with await slow_site.connect() as client:
        connection = await slow_site.running.connection_of(client)
        gated.gate.set()
        await client.ask(request("/slow"))
        assert connection.timeout_keep_alive_task is not None
        gated.gate.clear()
        await client.send(request("/slow"))
        await until(lambda: gated.started == 2)
        assert connection.timeout_keep_alive_task is None


async def test_a_body_that_does_not_come_is_not_waited_for(slow_site: Site, gated: Gated) -> None:
    """The application is told, and the client gets 408 after 75 seconds without a byte."""
    async with await slow_site.connect() as client:
        await client.send(request("/body", "Content-Length: 10", method="POST") + b"12345")
        await until(lambda: gated.started == 1)
        slow_site.pass_seconds(70)
        await client.send(b"6")
        await let_the_server_read()
        slow_site.pass_seconds(75)
        assert slow_site.is_open(client)
        slow_site.pass_seconds(1)
        assert (await client.answer()).status == 408
        assert await client.rest() == b""
    await until(lambda: gated.gone == 1)


# Clients that go.


async def test_half_a_request_and_then_the_end_is_no_request(site: Site) -> None:
    """No answer, no click, no complaint."""
    link_id = await site.add("half1")
    data = request("/half1", "Content-Length: 3") + b"ab"
    for cut in (1, 10, len(request("/half1")) - 3):
        async with await site.connect() as client:
            await client.send(data[:cut])
            client.finish_sending()
            assert await client.rest() == b""
    assert site.clicks(link_id) == []


@pytest.mark.parametrize("warm", [True, False])
async def test_a_half_closed_client_gets_its_answers(site: Site, warm: bool) -> None:
    """It has said all it wanted and waits: all answers come, and then the end."""
    code = site.new_code()
    link_id = await site.add(code, warm=warm)
    for count in (1, 3, 200):
        async with await site.connect() as client:
            await client.send(request(f"/{code}") * count)
            client.finish_sending()
            assert {answer.location for answer in await client.answers(count)} == {
                f"https://example.com/{code}"
            }
            assert await client.rest() == b""
    assert len(site.clicks(link_id)) == 204


@pytest.mark.parametrize("count", [1, 3])
async def test_a_half_closed_client_may_wait_long(slow_site: Site, gated: Gated, count: int) -> None:
    """The application begins after the client's last word; the last answer says that it is the last."""
    async with await slow_site.connect() as client:
        await client.send(request("/slow") * count)
        client.finish_sending()
        connection = await slow_site.running.connection_of(client)
        await until(lambda: connection.is_closing or len(connection.pipeline) == count - 1)
        await let_the_server_read()
        gated.gate.set()
        answers = await client.answers(count)
        assert [answer.status for answer in answers] == [200] * count
        assert await client.rest() == b""


async def test_a_half_closed_client_that_owes_a_body_is_cut(slow_site: Site, gated: Gated) -> None:
    """The rest will never come; the application learns it."""
    async with await slow_site.connect() as client:
        await client.send(request("/body", "Content-Length: 10", method="POST") + b"12345")
        await until(lambda: gated.started == 1)
        client.finish_sending()
        assert await client.rest() == b""
    await until(lambda: gated.gone == 1)


async def test_the_application_learns_that_its_client_has_gone(slow_site: Site, gated: Gated) -> None:
    """Also when other requests wait behind it, which plain uvicorn forgets."""
    client = await slow_site.connect()
    await client.send(request("/watch") + request("/slow") * 3)
    connection = await slow_site.running.connection_of(client)
    await until(lambda: len(connection.pipeline) == 3)
    connection.transport.abort()
    await until(lambda: gated.gone == 1)
    assert gated.started == 1
    client.close()


# One after the other.


async def test_what_is_asked_for_while_the_application_works_waits(slow_site: Site, gated: Gated) -> None:
    """Also when the lane knows every byte of it."""
    link_id = await slow_site.add("fast")
    async with await slow_site.connect() as client:
        for _ in range(2):
            await client.ask(request("/fast"))
        await client.send(request("/slow"))
        await until(lambda: gated.started == 1)
        await client.send(request("/fast"))
        connection = await slow_site.running.connection_of(client)
        await until(lambda: len(connection.pipeline) == 1)
        assert len(slow_site.clicks(link_id)) == 2
        gated.gate.set()
        assert [answer.status for answer in await client.answers(2)] == [200, 200]


async def _answer_whole(scope: Any, receive: Any, send: Any) -> None:
    scope[WHOLE](200, [(b"content-length", b"2")], b"ok")


async def test_answered_requests_leave_nothing_to_the_collector_of_garbage(tmp_path: Path) -> None:
    """A second's worth of them would stop the loop for tens of milliseconds. The last one is the connection's."""
    async with open_site(tmp_path, app=_answer_whole) as site, await site.connect() as client:
        gc.collect()
        gc.disable()
        try:
            for _ in range(20):
                await client.send(request("/api"))
                assert (await client.answer()).body == b"ok"
            left = sum(isinstance(one, RequestResponseCycle) for one in gc.get_objects())
        finally:
            gc.enable()
    assert left <= 1


async def test_nothing_is_answered_behind_a_last_answer_of_the_same_tick(own_site: Site) -> None:
    """And nothing of it is counted."""
    link_id = await own_site.add("tick")
    last = request("/tick", "Connection: close")
    async with await own_site.connect() as client:
        connection = await own_site.running.connection_of(client)
        connection.data_received(request("/tick"))
        connection.data_received(last)
        connection.data_received(request("/tick"))
        connection.data_received(last)
        answers = await client.answers(2)
        assert [answer.is_last for answer in answers] == [False, True]
        assert await client.rest() == b""
    assert len(own_site.clicks(link_id)) == 2


async def test_a_connection_lost_within_the_tick_takes_no_other_answer_along(own_site: Site) -> None:
    """Its own answer goes nowhere, the others of the tick go out."""
    await own_site.add("lost")
    gone, stays = await own_site.connect(), await own_site.connect()
    going, staying = await own_site.running.connection_of(gone), await own_site.running.connection_of(stays)
    going.transport.abort()
    going.data_received(request("/lost"))
    staying.data_received(request("/lost"))
    assert (await stays.answer()).status == 302
    gone.close()
    stays.close()


# The end of the server.


async def test_answers_that_are_queued_go_out_when_the_server_stops(own_site: Site) -> None:
    """All of the tick's, and the last one of each connection says that it is the last."""
    link_id = await own_site.add("queued")
    clients = [await own_site.connect() for _ in range(3)]
    connections = [await own_site.running.connection_of(client) for client in clients]
    for connection in connections:
        connection.data_received(request("/queued") * 5)
    assert len(own_site.lane.answers) == 15
    for connection in connections:
        connection.shutdown()
    for client in clients:
        answers = await client.answers(5)
        assert [answer.is_last for answer in answers] == [False] * 4 + [True]
        assert await client.rest() == b""
        client.close()
    assert len(own_site.clicks(link_id)) == 15


async def test_what_the_application_works_on_is_answered_when_the_server_stops(
    slow_site: Site, gated: Gated
) -> None:
    """With `Connection: close` on the last of a line; idle connections are closed at once."""
    idle, busy = await slow_site.connect(), await slow_site.connect()
    await slow_site.running.connection_of(idle)
    await busy.send(request("/slow") * 2)
    connection = await slow_site.running.connection_of(busy)
    await until(lambda: len(connection.pipeline) == 1)
    stopping = asyncio.create_task(slow_site.running.stop())
    assert await idle.rest() == b""
    # What is asked for after the stop is not answered.
    await busy.send(request("/slow"))
    await let_the_server_read()
    gated.gate.set()
    assert [answer.is_last for answer in await busy.answers(2)] == [False, True]
    assert await busy.rest() == b""
    await stopping
    assert gated.started == 2
    idle.close()
    busy.close()


async def test_a_request_that_still_comes_in_is_answered_and_ends_the_connection(own_site: Site) -> None:
    """A connection that was accepted in the very moment of the stop."""
    link_id = await own_site.add("late")
    async with await own_site.connect() as client:
        await own_site.running.connection_of(client)
        own_site.lane.stop()
        answer = await client.ask(request("/late"))
        assert (answer.status, answer.is_last) == (302, True)
        assert await client.rest() == b""
    assert len(own_site.clicks(link_id)) == 1


async def test_a_client_that_never_reads_does_not_hold_up_the_stop(own_site: Site) -> None:
    """Its connection is closed like any other; the server ends in its time."""
    await own_site.add("holdup", original_url="https://example.com/" + "x" * 1_900)
    async with await own_site.connect(receive_buffer=4_096) as client:
        sending = asyncio.create_task(client.send(request("/holdup") * 5_000))
        connection = await own_site.running.connection_of(client)
        await until(lambda: connection.flow.write_paused)
        connection.shutdown()
        assert connection.transport.is_closing()
        assert connection.unread == b""
        connection.transport.abort()
        await asyncio.gather(sending, return_exceptions=True)


# A disk that refuses.


async def test_redirects_go_on_when_the_journal_cannot_be_written(own_site: Site) -> None:
    """Every answer goes out, by lane and endpoint; the clicks missed are counted; then all is as before."""
    link_id = await own_site.add("disk1")
    await own_site.add("disk2", warm=False)
    async with await own_site.connect() as client:
        assert (await client.ask(request("/disk1"))).status == 302
        with largest_file(100):
            await client.send(request("/disk1") * 5)
            assert [answer.status for answer in await client.answers(5)] == [302] * 5
            assert (await client.ask(request("/disk2", "Content-Length: 0"))).status == 302
        assert own_site.journal.missed == 6
        assert (await client.ask(request("/disk1"))).status == 302
    assert own_site.journal.missed == 6
    assert len(own_site.clicks(link_id)) == 2


async def test_a_write_that_is_cut_short_loses_no_answer(own_site: Site) -> None:
    """Half of a tick's clicks are on disk, all of its answers go out."""
    link_id = await own_site.add("short1")
    async with await own_site.connect() as client:
        await client.ask(request("/short1"))
        size = 32 + 40 + len(b"127.0.0.1")
        with largest_file(size + 100):
            await client.send(request("/short1") * 10)
            assert len(await client.answers(10)) == 10
        assert 0 < own_site.journal.missed < 10
        counted = 11 - own_site.journal.missed
        assert len(own_site.clicks(link_id)) == counted
        await client.ask(request("/short1"))
        assert len(own_site.clicks(link_id)) == counted + 1


async def test_an_idle_connection_of_a_proxy_lingers_while_the_worker_stops(tmp_path: Path) -> None:
    """It may have sent a request just now, and hears of the end with the answer; after four seconds it has not."""
    async with (
        open_site(tmp_path / "linger", trusted_proxies=("127.0.0.1",)) as site,
        await site.connect() as client,
    ):
        connection = await site.running.connection_of(client)
        connection.shutdown()
        site.pass_seconds(4)
        assert not connection.transport.is_closing()
        site.pass_seconds(1)
        assert connection.transport.is_closing()
