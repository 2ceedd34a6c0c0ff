"""Clients that do not read what is sent to them, or read it slowly.

Time is the lane's own clock, turned by hand; nothing here sleeps.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from laconic.redirect.lane import LaneProtocol
from tests.redirect.gated import Gated
from tests.redirect.raw_http import Client, let_the_server_read, request, until
from tests.redirect.serving import Site

pytestmark = pytest.mark.anyio


async def test_a_client_that_never_reads_costs_little(own_site: Site) -> None:
    """It pipelines thousands of requests for a long answer: the server stops reading, and holds next to nothing."""
    link_id = await own_site.add("greedy", original_url="https://example.com/" + "x" * 1_900)
    count = 20_000
    async with await own_site.connect(receive_buffer=4_096) as client:
        sending = asyncio.create_task(client.send(request("/greedy") * count))
        connection = await own_site.running.connection_of(client)
        most = 0

        def is_stuck() -> bool:
            nonlocal most
            held = connection.transport.get_write_buffer_size() + len(connection.unread)
            most = max(most, held + 2_200 * len(own_site.lane.answers))
            return connection.flow.write_paused and connection.flow.read_paused

        await until(is_stuck)
        for _ in range(50):
            await let_the_server_read()
            is_stuck()
        assert own_site.lane.answered < count
        # A slice of requests and what one read brings, of 40 MB of answers.
        assert most < 2_000_000
        for _ in range(count):
            assert (await client.answer()).status == 302
        await sending
    assert len(own_site.clicks(link_id)) == count


async def test_a_client_that_never_reads_does_not_fill_the_line(slow_site: Site, gated: Gated) -> None:
    """The same with requests for the application: few wait in line, and all are answered in the end."""
    count = 3_000
    async with await slow_site.connect(receive_buffer=4_096) as client:
        sending = asyncio.create_task(client.send(request("/slow") * count))
        connection = await slow_site.running.connection_of(client)
        await until(lambda: connection.flow.read_paused)
        gated.gate.set()
        longest = 0
        for _ in range(count):
            longest = max(longest, len(connection.pipeline))
            assert (await client.answer()).status == 200
        await sending
        assert longest < 500
        assert gated.started == count


async def test_a_client_that_reads_slowly_gets_large_answers(slow_site: Site, gated: Gated) -> None:
    """Back-pressure in the middle of an answer does not lose what is pipelined behind it."""
    gated.gate.set()
    await slow_site.add("tiny")
    async with await slow_site.connect(receive_buffer=4_096) as client:
        await client.send(request("/large") + request("/tiny") + request("/large") + request("/tiny"))
        sizes = [len(answer.body) for answer in await client.answers(4)]
    assert sizes == [100_000, 2, 100_000, 2]


@contextlib.asynccontextmanager
async def _choking(site: Site) -> AsyncIterator[tuple[Client, LaneProtocol]]:
    """A client with many answers on their way to it, more than there is memory for; and its connection."""
    code = site.new_code()
    await site.add(code, original_url="https://example.com/" + "x" * 1_900)
    async with await site.connect(receive_buffer=4_096) as client:
        sending = asyncio.create_task(client.send(request(f"/{code}") * 20_000))
        connection = await site.running.connection_of(client)
        await until(lambda: connection.flow.write_paused)
        try:
            yield client, connection
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)


async def test_a_client_that_takes_nothing_for_a_minute_is_dropped(own_site: Site) -> None:
    """Closing would wait for it for ever; one that takes a little now and then is kept."""
    async with _choking(own_site) as (client, connection):
        for _ in range(4):
            own_site.pass_seconds(40)
            await client.answers(200)
            await let_the_server_read()
        assert own_site.is_open(client)
        await until(lambda: connection.flow.write_paused)
        for _ in range(5):
            own_site.pass_seconds(31)
            await let_the_server_read()
        assert not own_site.is_held(client)
        await client.rest()


async def test_a_client_on_a_slow_line_is_kept(own_site: Site) -> None:
    """What it takes comes out of the kernel's memory for minutes, before the server can give it more."""
    async with _choking(own_site) as (client, _):
        for _ in range(6):
            own_site.pass_seconds(40)
            await client.answers(20)
        assert own_site.is_open(client)


async def test_a_closed_connection_whose_end_is_not_read_is_dropped(own_site: Site) -> None:
    """The last answers wait in the server's memory: no longer than a minute."""
    await own_site.add("stuck2", original_url="https://example.com/" + "x" * 1_900)
    async with await own_site.connect(receive_buffer=4_096) as client:
        sending = asyncio.create_task(client.send(request("/stuck2") * 5_000 + b"garbage\r\n"))
        connection = await own_site.running.connection_of(client)
        await until(lambda: connection.flow.write_paused)
        connection.transport.close()
        assert own_site.is_held(client)
        for _ in range(4):
            own_site.pass_seconds(31)
            await let_the_server_read()
        assert not own_site.is_held(client)
        await asyncio.gather(sending, return_exceptions=True)


async def test_a_wait_for_a_client_lasts_a_minute_to_the_second(own_site: Site) -> None:
    """From the first sweep on that finds as much unread as the next ones."""
    async with await own_site.connect() as client:
        connection = await own_site.running.connection_of(client)
        connection.pause_writing()
        own_site.pass_seconds(1)
        own_site.pass_seconds(60)
        assert own_site.is_open(client)
        own_site.pass_seconds(1)
        assert not own_site.is_open(client)


async def test_a_client_that_sends_a_body_may_read_later(slow_site: Site, gated: Gated) -> None:
    """It is kept while it sends; when nothing has come for a minute, its minute to read begins."""
    async with await slow_site.connect() as client:
        await client.send(request("/body", "Content-Length: 10", method="POST"))
        await until(lambda: gated.started == 1)
        connection = await slow_site.running.connection_of(client)
        connection.pause_writing()
        for _ in range(4):
            slow_site.pass_seconds(59)
            await client.send(b"x")
            await until(lambda: connection.body_since == slow_site.lane.second)
        for seconds in (60, 60):
            slow_site.pass_seconds(seconds)
            assert slow_site.is_open(client)
        slow_site.pass_seconds(1)
        assert not slow_site.is_open(client)
    await until(lambda: gated.gone == 1)


async def test_a_large_read_is_answered_in_pieces(own_site: Site) -> None:
    """No more answers gather than those to 8 KiB of requests: the next piece is not looked at before they are out."""
    await own_site.add("pieces")
    data = request("/pieces", "X: " + "x" * 18)
    assert len(data) == 64
    async with await own_site.connect() as client:
        connection = await own_site.running.connection_of(client)
        connection.data_received(data * 128)
        assert len(own_site.lane.answers) == 128
        connection.data_received(data * 128 + data[:1])
        assert not own_site.lane.answers
        await client.send(data[1:])
        assert len(await client.answers(257)) == 257


async def test_each_wait_for_a_client_has_its_own_minute(own_site: Site) -> None:
    """Two waits with as much unread, far apart, are not one long wait."""
    async with await own_site.connect() as client:
        connection = await own_site.running.connection_of(client)
        for _ in range(3):
            connection.pause_writing()
            own_site.pass_seconds(40)
            own_site.pass_seconds(40)
            assert not connection.transport.is_closing()
            connection.resume_writing()
