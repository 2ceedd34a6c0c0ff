"""The one client for whatever Laconic itself fetches: it opens no connection to a non-public address (P9).

A URL says little about where it leads: a name may stand for any address, for another one at the next look-up
(rebinding), or for a public and a private one at the same time; an address has many spellings. So nothing is judged
by its text. The name is resolved once, every address it stands for is checked, and the connection is opened to a
checked address, not to the name. TLS still asks for the name. Redirects are given back, not followed: whoever wants
to follow one asks again, and is checked again.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import httpcore

from laconic import __version__
from laconic.errors import CannotFetch
from laconic.outside.addresses import is_public

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[Address]]]

# A name with more addresses than this is tried no further.
_MOST_TRIED = 3
_WEB_PORTS = frozenset({80, 443})
_HEADERS = [
    (b"user-agent", f"laconic/{__version__}".encode()),
    (b"accept-encoding", b"identity"),
    (b"connection", b"close"),
]


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer, with as much of its body as was allowed."""

    status: int
    body: bytes
    location: str | None


async def resolve_by_system(host: str, port: int) -> Sequence[Address]:
    """Every address of a name. Odd spellings of an address (0x7f.1, 2130706433) come out as what they stand for."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise CannotFetch("unresolvable", f"The name {host} cannot be resolved.") from error
    # A zone (fe80::1%eth0) names an interface of this machine; without it the address is judged all the same.
    return [ip_address(str(address[0]).partition("%")[0]) for *_, address in found]


class PublicClient:
    """`resolve`, `is_allowed` and `ports` are for tests, which have no public address to talk to."""

    def __init__(
        self,
        *,
        resolve: Resolve = resolve_by_system,
        is_allowed: Callable[[Address], bool] = is_public,
        ports: frozenset[int] = _WEB_PORTS,
        seconds: float = 5.0,
        most_bytes: int = 16 * 1024,
    ) -> None:
        self._backend = _CheckedBackend(resolve, is_allowed, ports)
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._tls: ssl.SSLContext | None = None

    async def get(self, url: str) -> Fetched:
        """One GET. Raises CannotFetch, whose `reason` is a stable word."""
        if not url.startswith(("http://", "https://")):
            raise CannotFetch("scheme", "Only http and https are fetched.")
        try:
            async with (
                asyncio.timeout(self._seconds),
                self._pool() as pool,
                pool.stream("GET", url, headers=self._headers(url)) as response,
            ):
                return await self._read(response)
        except TimeoutError:
            raise CannotFetch("time_out", f"No answer within {self._seconds:g} s.") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError) as error:
            raise CannotFetch("failed", f"The connection failed: {_short(error)}") from error
        except (httpcore.UnsupportedProtocol, ValueError) as error:
            raise CannotFetch("failed", "This is no URL that can be fetched.") from error

    def _pool(self) -> httpcore.AsyncConnectionPool:
        """For one request: a kept connection would be one to an address that was checked long ago."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return httpcore.AsyncConnectionPool(
            ssl_context=self._tls, network_backend=self._backend, max_keepalive_connections=0, retries=0
        )

    def _headers(self, url: str) -> list[tuple[bytes, bytes]]:
        origin = httpcore.URL(url).origin
        default = 443 if origin.scheme == b"https" else 80
        host = origin.host if origin.port == default else b"%b:%d" % (origin.host, origin.port)
        return [(b"host", host), *_HEADERS]

    async def _read(self, response: httpcore.Response) -> Fetched:
        body = b""
        async for chunk in response.aiter_stream():
            body += chunk
            if len(body) > self._most_bytes:
                raise CannotFetch("too_large", f"The answer has more than {self._most_bytes} bytes.")
        names = {name.lower(): value for name, value in response.headers}
        location = names.get(b"location")
        return Fetched(response.status, body, location.decode("latin-1") if location else None)


class _CheckedBackend(httpcore.AsyncNetworkBackend):
    """Opens connections to addresses that have passed, and to nothing else."""

    def __init__(
        self, resolve: Resolve, is_allowed: Callable[[Address], bool], ports: frozenset[int]
    ) -> None:
        self._resolve = resolve
        self._is_allowed = is_allowed
        self._ports = ports
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  the library's interface
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        if port not in self._ports:
            raise CannotFetch("port", f"Port {port} is not fetched from.")
        addresses = await self._resolve(host, port)
        if not addresses:
            raise CannotFetch("unresolvable", f"The name {host} has no address.")
        if not all(self._is_allowed(address) for address in addresses):
            # Not even the public ones among them: nobody who means well has such a mixture.
            raise CannotFetch("not_public", f"{host} leads to an address that is not public.")
        for address in addresses[: _MOST_TRIED - 1]:
            try:
                return await self._connect(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._connect(addresses[min(len(addresses), _MOST_TRIED) - 1], port, timeout)

    async def _connect(
        self, address: Address, port: int, seconds: float | None
    ) -> httpcore.AsyncNetworkStream:
        return await self._sockets.connect_tcp(str(address), port, seconds)

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        raise CannotFetch("not_public", "A socket of this machine is not public.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def _short(error: BaseException) -> str:
    return (str(error) or type(error).__name__)[:200]
