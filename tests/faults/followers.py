"""Visitors that follow links without a pause, and remember which redirects they were answered."""

import socket
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from typing import Self
from urllib.parse import urlsplit

from tests.flows.server import PATIENCE_SECONDS

# Requests that a visitor sends before it reads the first answer: a kill meets many of them under way.
_AT_ONCE = 8
_REQUEST = (
    "GET /{code} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:145.0)"
    " Gecko/20100101 Firefox/145.0\r\nReferer: https://news.example/{number}\r\nAccept-Language: de\r\n\r\n"
)


class Followers:
    """Some threads, each with a connection of its own. Every request is sent once."""

    def __init__(self, base_url: str, codes: Sequence[str], threads: int = 6) -> None:
        self.answered: Counter[str] = Counter()
        # Sent, and the connection ended before the answer came: whether it counts, nobody can know.
        self.cut_off: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        parts = urlsplit(base_url)
        self._host, self._port = parts.hostname or "localhost", parts.port or 80
        self._codes = codes
        self._news = threading.Condition()
        self._stopping = threading.Event()
        self._pool = ThreadPoolExecutor(threads)
        self._threads: list[Future[None]] = [
            self._pool.submit(self._follow, number) for number in range(threads)
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._pool.shutdown()
        for thread in self._threads:
            thread.result()

    def wait_for(self, more: int) -> None:
        """Until so many more redirects have been answered."""
        with self._news:
            wanted = self.answered.total() + more
            enough = self._news.wait_for(
                lambda: self.answered.total() >= wanted or any(thread.done() for thread in self._threads),
                PATIENCE_SECONDS,
            )
        for thread in self._threads:
            if thread.done():
                thread.result()
        assert enough, "redirects are not answered any more"

    def _follow(self, number: int) -> None:
        first = number % len(self._codes)
        codes = cycle([*self._codes[first:], *self._codes[:first]])
        while not self._stopping.is_set():
            try:
                connection = socket.create_connection((self._host, self._port), PATIENCE_SECONDS)
            except OSError:
                self._stopping.wait(0.02)
                continue
            with connection, connection.makefile("rb") as answers:
                while not self._stopping.is_set():
                    batch = [next(codes) for _ in range(_AT_ONCE)]
                    if not self._send(connection, answers, batch, number):
                        break

    def _send(self, connection: socket.socket, answers: object, batch: list[str], number: int) -> bool:
        requests = "".join(
            _REQUEST.format(code=code, host=self._host, number=number) for code in batch
        ).encode()
        answered = 0
        try:
            connection.sendall(requests)
            for code in batch:
                status = _read_answer(answers)
                with self._news:
                    (self.answered if status == 302 else self.refused)[code] += 1
                    self._news.notify_all()
                answered += 1
        except OSError:
            with self._news:
                self.cut_off.update(batch[answered:])
            return False
        return True


def _read_answer(answers: object) -> int:
    """The status of the next answer, which has no body."""
    read_line = answers.readline  # type: ignore[attr-defined]
    status = read_line()
    while (line := read_line()) not in (b"\r\n", b""):
        pass
    if not status or not line:
        raise ConnectionResetError
    return int(status.split()[1])
