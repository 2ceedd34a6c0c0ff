"""The one client, against real servers on this machine: what it must not reach is all that a test can offer it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address

import pytest

from laconic.errors import CannotFetch
from laconic.outside.client import Address, PublicClient

PUBLIC = ip_address("93.184.215.14")
LOOPBACK = ip_address("127.0.0.1")


class Listener:
    """A server that answers every request the same, and counts who came."""

    def __init__(self) -> None:
        self.answer = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
        self.connections = 0
        self.requests: list[bytes] = []
        self.port = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(self.answer)
        await writer.drain()
        writer.close()


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with _listening() as listener:
        yield listener


@asynccontextmanager
async def _listening() -> AsyncIterator[Listener]:
    listener = Listener()
    server = await asyncio.start_server(listener, "127.0.0.1", 0)
    listener.port = server.sockets[0].getsockname()[1]
    async with server:
        yield listener


class Answers:
    """A resolver that gives one answer after another, as an attacker's name server does."""

    def __init__(self, *answers: Sequence[Address]) -> None:
        self._answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[Address]:
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


async def _refusal(client: PublicClient, url: str) -> str:
    with pytest.raises(CannotFetch) as refused:
        await client.get(url)
    return refused.value.reason


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:127.0.0.1]",
    ],
)
async def test_p9_an_address_of_this_machine_is_refused_in_every_disguise(
    listener: Listener, host: str
) -> None:
    """The system's own resolver reads the spelling; what comes out is judged, and nothing is opened."""
    client = PublicClient(ports=frozenset({listener.port}))
    assert await _refusal(client, f"http://{host}:{listener.port}/") == "not_public"
    assert listener.connections == 0


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1", "169.254.169.254", "192.168.1.1", "100.100.100.200", "fd00::1", "fe80::1", "64:ff9b::a00:1"],
)
async def test_p9_a_name_that_leads_inside_is_refused(address: str) -> None:
    """Whatever the name is."""
    client = PublicClient(resolve=Answers([ip_address(address)]))
    assert await _refusal(client, "http://good.example.com/") == "not_public"


async def test_p9_one_private_address_among_public_ones_is_enough() -> None:
    """A client that picked the public one would be led inside at the next try."""
    client = PublicClient(resolve=Answers([PUBLIC, ip_address("10.0.0.1")]))
    assert await _refusal(client, "http://good.example.com/") == "not_public"


async def test_p9_a_name_that_changes_its_address_does_not_lead_inside(listener: Listener) -> None:
    """Rebinding: the first answer passes, the second is this machine. The connection goes to what was checked."""
    inside = ip_address("127.0.0.1")
    checked = ip_address("127.0.0.2")
    resolve = Answers([checked], [inside])
    client = PublicClient(
        resolve=resolve, is_allowed=lambda address: address == checked, ports=frozenset({listener.port})
    )
    # 127.0.0.2 stands for a public address: the listener is not there, so it is not reached.
    assert await _refusal(client, f"http://rebind.example.com:{listener.port}/") == "failed"
    assert resolve.asked == 1
    assert await _refusal(client, f"http://rebind.example.com:{listener.port}/") == "not_public"
    assert listener.connections == 0


def _trusting(listener: Listener, **options: float) -> PublicClient:
    return PublicClient(
        resolve=Answers([LOOPBACK]),
        is_allowed=lambda _: True,
        ports=frozenset({listener.port}),
        **options,  # type: ignore[arg-type]
    )


async def test_fetches_and_names_the_host(listener: Listener) -> None:
    """The connection goes to an address; the server still learns which name was meant."""
    fetched = await _trusting(listener).get(f"http://good.example.com:{listener.port}/a?b=c")
    assert (fetched.status, fetched.body, fetched.location) == (200, b"hello", None)
    head = listener.requests[0].lower()
    assert head.startswith(b"get /a?b=c http/1.1\r\n")
    assert f"host: good.example.com:{listener.port}".encode() in head


async def test_a_redirect_is_given_back_and_not_followed(listener: Listener) -> None:
    """Whoever follows it asks again, and is checked again."""
    listener.answer = b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n"
    fetched = await _trusting(listener).get(f"http://good.example.com:{listener.port}/")
    assert (fetched.status, fetched.location) == (302, "http://127.0.0.1/")
    assert listener.connections == 1


async def test_an_endless_answer_is_cut_off(listener: Listener) -> None:
    """Its size is bounded, whatever it says of itself."""
    listener.answer = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000
    assert await _refusal(_trusting(listener), f"http://good.example.com:{listener.port}/") == "too_large"


async def test_a_server_that_says_nothing_is_left() -> None:
    """Nobody waits for ever."""
    silence = asyncio.Event()

    async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await silence.wait()
        writer.close()

    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = PublicClient(
        resolve=Answers([LOOPBACK]), is_allowed=lambda _: True, ports=frozenset({port}), seconds=0.05
    )
    assert await _refusal(client, f"http://good.example.com:{port}/") == "time_out"
    silence.set()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://good.example.com/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("http://good.example.com:6379/", "port"),
        ("http://good.example.com:22/", "port"),
        ("http://no-such-name.invalid/", "unresolvable"),
    ],
)
async def test_only_the_web_is_fetched(url: str, reason: str) -> None:
    """Ports 80 and 443 of names that exist."""
    assert await _refusal(PublicClient(), url) == reason
