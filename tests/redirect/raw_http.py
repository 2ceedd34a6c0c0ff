"""HTTP by hand: sockets on which any bytes can be sent, at any pace, and answers read one by one."""

import asyncio
import itertools
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

_PATIENCE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str | None:
        """The one value of a header; it may not come twice."""
        values = [value for known, value in self.headers if known == name]
        assert len(values) <= 1, self.headers
        return values[0] if values else None

    @property
    def location(self) -> str | None:
        return self.header("location")

    @property
    def is_last(self) -> bool:
        return self.header("connection") == "close"


class Closed(Exception):
    """The server has ended the connection where an answer was expected."""


class Client:
    """One connection. Nothing is read before it is asked for."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = b""
        self._loop = asyncio.get_running_loop()

    @classmethod
    async def connect(
        cls, port: int, *, receive_buffer: int | None = None, source: str | None = None
    ) -> Self:
        sock = socket.socket()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if receive_buffer is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        if source is not None:
            sock.bind((source, 0))
        await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", port))
        return cls(sock)

    @property
    def address(self) -> tuple[str, int]:
        host, port = self._sock.getsockname()
        return host, port

    async def send(self, data: bytes) -> None:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            await self._loop.sock_sendall(self._sock, data)

    def finish_sending(self) -> None:
        """The client's last word; it can still read."""
        self._sock.shutdown(socket.SHUT_WR)

    async def _more(self) -> bool:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            try:
                data = await self._loop.sock_recv(self._sock, 1 << 20)
            except ConnectionResetError:
                data = b""
        self._buffer += data
        return bool(data)

    async def _until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            if not await self._more():
                raise Closed(self._buffer)
        found, _, self._buffer = self._buffer.partition(mark)
        return found

    async def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            if not await self._more():
                raise Closed(self._buffer)
        found, self._buffer = self._buffer[:count], self._buffer[count:]
        return found

    async def answer(self, *, to_head: bool = False) -> Answer:
        """The next answer, whole."""
        first, *lines = (await self._until(b"\r\n\r\n")).split(b"\r\n")
        version, status, _ = first.decode().split(" ", 2)
        assert version == "HTTP/1.1"
        headers = []
        for line in lines:
            name, _, value = line.decode().partition(": ")
            headers.append((name.lower(), value))
        answer = Answer(int(status), headers)
        if to_head or answer.status in (100, 204, 304):
            return answer
        return Answer(answer.status, headers, await self._body(answer))

    async def _body(self, answer: Answer) -> bytes:
        if answer.header("transfer-encoding") == "chunked":
            body = b""
            while size := int(await self._until(b"\r\n"), 16):
                body += await self._take(size)
                await self._take(2)
            await self._take(2)
            return body
        return await self._take(int(answer.header("content-length") or 0))

    async def answers(self, count: int) -> list[Answer]:
        return [await self.answer() for _ in range(count)]

    async def rest(self) -> bytes:
        """All that comes until the server ends the connection."""
        while await self._more():
            pass
        found, self._buffer = self._buffer, b""
        return found

    async def ask(self, data: bytes, *, to_head: bool = False) -> Answer:
        await self.send(data)
        return await self.answer(to_head=to_head)

    def close(self) -> None:
        self._sock.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def request(
    target: str = "/",
    *headers: str,
    method: str = "GET",
    version: str = "1.1",
    host: str | None = "localhost",
) -> bytes:
    """A request without a body, as a client writes it."""
    lines = [f"{method} {target} HTTP/{version}"]
    if host is not None:
        lines.append(f"Host: {host}")
    return ("\r\n".join([*lines, *headers]) + "\r\n\r\n").encode("latin-1")


async def let_the_server_read() -> None:
    """A few rounds of the loop that client and server share: what was sent has arrived and was looked at."""
    for _ in range(6):
        await asyncio.sleep(0)


async def until(is_so: Callable[[], bool]) -> None:
    """Rounds of the shared loop until the server has come to it."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        for _ in itertools.count():
            if is_so():
                return
            await asyncio.sleep(0)
