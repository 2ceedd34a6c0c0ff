"""Clients that make links without a pause, and remember what they were answered."""

import http.client
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self
from urllib.parse import urlsplit

from tests.flows.server import PATIENCE_SECONDS
from tests.flows.talk import NDJSON, URLS

_BULK_LINES = 20
_CUT_OFF = (OSError, http.client.HTTPException)


@dataclass
class Evidence:
    """What the clients know: every answer (code, URL), and how often a server went away before it answered.

    What is found at the end: every link that is stored, and for a sample its URL and where a visitor was sent.
    """

    answers: list[tuple[str, str]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    cut_off: int = 0
    kills: list[str] = field(default_factory=list)
    stored: list[tuple[str, str]] = field(default_factory=list)
    followed: list[tuple[str, str]] = field(default_factory=list)


class Creators:
    """One thread for each way to create: plain, custom code, reuse, Idempotency-Key, bulk.

    Every attempt has a URL of its own and is made once; only the one with an Idempotency-Key is made again when
    its answer did not come. Connections are of the bare kind: a client that does more would be busier than the server.
    """

    def __init__(self, base_url: str) -> None:
        self.evidence = Evidence()
        self._place = urlsplit(base_url)
        self._numbers = count()
        self._news = threading.Condition()
        self._stopping = threading.Event()
        ways = (self._plain, self._custom, self._reuse, self._once, self._bulk)
        self._pool = ThreadPoolExecutor(len(ways))
        self._threads: list[Future[None]] = [self._pool.submit(self._run, way) for way in ways]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._pool.shutdown()
        for thread in self._threads:
            thread.result()

    def wait_for(self, more: int) -> None:
        """Until so many more creates have been answered."""
        with self._news:
            wanted = len(self.evidence.answers) + more
            enough = self._news.wait_for(
                lambda: len(self.evidence.answers) >= wanted or self._has_failed(), PATIENCE_SECONDS
            )
        self._raise_failures()
        assert enough, f"creates are not answered any more: {self.evidence.refusals[-3:]}"

    def _has_failed(self) -> bool:
        return any(thread.done() for thread in self._threads)

    def _raise_failures(self) -> None:
        for thread in self._threads:
            if thread.done():
                thread.result()

    def _run(self, way: Callable[[http.client.HTTPConnection], None]) -> None:
        connection = http.client.HTTPConnection(
            self._place.hostname or "", self._place.port, timeout=PATIENCE_SECONDS
        )
        with closing(connection):
            while not self._stopping.is_set():
                try:
                    way(connection)
                except _CUT_OFF:
                    # The next request opens it again.
                    connection.close()
                    with self._news:
                        self.evidence.cut_off += 1
                    self._stopping.wait(0.02)

    def _url(self) -> str:
        return f"https://example.com/{next(self._numbers)}"

    def _post(
        self, connection: http.client.HTTPConnection, headers: dict[str, str] | None = None, **body: Any
    ) -> None:
        connection.request(
            "POST", URLS, json.dumps(body), {"content-type": "application/json"} | (headers or {})
        )
        answer = connection.getresponse()
        self._note(answer.status, json.loads(answer.read()), body["original_url"])

    def _note(self, status: int, document: dict[str, Any], url: str) -> None:
        with self._news:
            if status == 201:
                self.evidence.answers.append((document["short_code"], url))
            else:
                self.evidence.refusals.append(f"{status} {document}")
            self._news.notify_all()

    def _plain(self, connection: http.client.HTTPConnection) -> None:
        self._post(connection, original_url=self._url())

    def _custom(self, connection: http.client.HTTPConnection) -> None:
        url = self._url()
        self._post(connection, original_url=url, custom_code=f"K{int(url.rpartition('/')[2]):07d}")

    def _reuse(self, connection: http.client.HTTPConnection) -> None:
        self._post(connection, original_url=self._url(), reuse=True)

    def _once(self, connection: http.client.HTTPConnection) -> None:
        url = self._url()
        while not self._stopping.is_set():
            try:
                self._post(connection, {"idempotency-key": url}, original_url=url)
                return
            except _CUT_OFF:
                connection.close()

    def _bulk(self, connection: http.client.HTTPConnection) -> None:
        urls = [self._url() for _ in range(_BULK_LINES)]
        body = "\n".join(json.dumps({"original_url": url}) for url in urls)
        connection.request("POST", f"{URLS}/bulk", body, NDJSON)
        for line in connection.getresponse():
            result = json.loads(line)
            # Without a number it is a refusal of the whole.
            self._note(result["status"], result, urls[result.get("line", 1) - 1])
