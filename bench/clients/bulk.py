"""Sends NDJSON on one connection and reads the results as they come, as many links as asked or until the time is up.

The lines are made before the clock starts, the results looked at after it stops, so that the server sets the pace.
"""

import argparse
import json
import re
import selectors
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httptools

_LINES_A_BLOCK = 2_000
_RECEIVE_BYTES = 1 << 18
# Small, so that the import ends soon after the last chunk was begun.
_SEND_BYTES = 1 << 18
_SILENCE_SECONDS = 60.0
_CODE = re.compile(rb'"status":201,[^\n]*?"short_code":"([^"]+)"')
_HEAD = (
    b"POST /api/v1/urls/bulk HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
_END = b"0\r\n\r\n"


class Results:
    """The answer's body, put together by the parser."""

    def __init__(self) -> None:
        self.status = 0
        self.parts: list[bytes] = []
        self.is_whole = False
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        if not data:
            raise ConnectionError("The server closed the connection before the end.")
        self._parser.feed_data(data)

    def on_headers_complete(self) -> None:
        self.status = self._parser.get_status_code()

    def on_body(self, body: bytes) -> None:
        self.parts.append(body)

    def on_message_complete(self) -> None:
        self.is_whole = True


def blocks(first: int, count: int, word: str) -> Iterator[bytes]:
    """Chunks of the request's body, each of many lines."""
    for start in range(first, first + count, _LINES_A_BLOCK):
        numbers = range(start, min(start + _LINES_A_BLOCK, first + count))
        lines = b"".join(
            b'{"original_url":"https://example.com/%b/%012d"}\n' % (word.encode(), n) for n in numbers
        )
        yield b"%x\r\n%b\r\n" % (len(lines), lines)


def exchange(port: int, chunks: list[bytes], seconds: float) -> Results:
    """Sends and reads at once. After `seconds` no further chunk is begun; the results of the others are waited for."""
    results = Results()
    rest = iter(chunks)
    until = time.monotonic() + seconds
    with _connect(port) as connection, selectors.DefaultSelector() as selector:
        selector.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE)
        pending = memoryview(_HEAD)
        is_ended = False
        while not results.is_whole:
            ready = selector.select(_SILENCE_SECONDS)
            if not ready:
                raise TimeoutError(f"The server neither read nor answered for {_SILENCE_SECONDS:g} s.")
            events = ready[0][1]
            if events & selectors.EVENT_READ:
                results.feed(connection.recv(_RECEIVE_BYTES))
            if events & selectors.EVENT_WRITE:
                pending = pending[connection.send(pending) :]
            if not pending and not is_ended:
                chunk = next(rest, None) if time.monotonic() < until else None
                is_ended = chunk is None
                pending = memoryview(chunk or _END)
            elif not pending:
                selector.modify(connection, selectors.EVENT_READ)
    return results


def _connect(port: int) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BYTES)
    connection.connect(("127.0.0.1", port))
    connection.setblocking(False)
    return connection


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--links", type=int, required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--word", default="articles", help="part of every URL")
    parser.add_argument("--codes", type=Path, help="a file for the codes that were made")
    asked = parser.parse_args()
    chunks = list(blocks(asked.first, asked.links, asked.word))
    began, busy = time.monotonic(), time.process_time()
    results = exchange(asked.port, chunks, asked.seconds)
    seconds, busy = time.monotonic() - began, time.process_time() - busy
    body = b"".join(results.parts)
    codes = _CODE.findall(body)
    if asked.codes:
        asked.codes.write_bytes(b"".join(code + b"\n" for code in codes))
    told = {
        "status": results.status,
        "results": body.count(b"\n"),
        "created": len(codes),
        "seconds": seconds,
        "client_share": busy / seconds,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
