"""Visitors who ask all the time, and remember what they were told and when."""

import contextlib
import http.client
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Told:
    """One answer: when it was asked for, how long it took, and what it said. Status 0: none came."""

    sent_at: float
    seconds: float
    path: str
    status: int
    location: str


@dataclass
class Visitors:
    """Threads that each keep a connection and ask for what `next_path` says, at most `rate` times a second each."""

    base_url: str
    next_path: Callable[[], str]
    count: int = 2
    rate: float = 500.0
    told: list[Told] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ending = threading.Event()
        self._threads = [threading.Thread(target=self._visit, daemon=True) for _ in range(self.count)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        for thread in self._threads:
            thread.join()

    def _visit(self) -> None:
        connection = self._connect()
        due = time.monotonic()
        while not self._ending.is_set():
            path = self.next_path()
            begun = time.monotonic()
            try:
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                status, location = answer.status, answer.getheader("location", "")
            except (OSError, http.client.HTTPException):
                connection.close()
                connection = self._connect()
                status, location = 0, ""
            self.told.append(Told(begun, time.monotonic() - begun, path, status, location or ""))
            due = max(due + 1 / self.rate, begun)
            self._ending.wait(max(0.0, due - time.monotonic()))
        with contextlib.suppress(OSError):
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        place = urlsplit(self.base_url)
        return http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)

    def wait_for(self, is_so: Callable[[Told], bool], since: int, count: int = 1) -> None:
        """Until `count` answers from number `since` on are so."""
        deadline = time.monotonic() + 60
        while sum(map(is_so, self.told[since:])) < count:
            assert time.monotonic() < deadline, self.told[-3:]
            time.sleep(0.002)


def p99(seconds: Sequence[float]) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else 0.0
