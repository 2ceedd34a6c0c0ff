"""One connection of a client that speaks HTTP/1.1, made again when it was closed."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

# Not what is measured: only when something is called broken.
_PATIENCE_SECONDS = 300.0


class NoAnswer(Exception):
    """The connection ended, or too long nothing came: nobody can know what was done."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    def __init__(self, port: int, key: str = "") -> None:
        self._port = port
        self._key = key
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> Answer:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                if self._streams is None:
                    self._streams = await asyncio.open_connection("127.0.0.1", self._port)
                return await self._talk(*self._streams, self._request(method, path, body, headers or {}))
        except (OSError, EOFError, ValueError) as error:
            self.close()
            raise NoAnswer(repr(error)) from error

    def _request(self, method: str, path: str, body: object, headers: dict[str, str]) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        lines = {
            "Host": "localhost",
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0",
            **headers,
        }
        if body is not None:
            lines |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        if self._key:
            lines["Authorization"] = f"Bearer {self._key}"
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content

    async def _talk(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
    ) -> Answer:
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection", "").lower() == "close":
            self.close()
        return Answer(int(head[0].split()[1]), headers, body)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
