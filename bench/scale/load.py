"""Mixed load through the proxy: visitors, creates, edits. Each client waits for its answer and goes on."""

import asyncio
import itertools
import random
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Self

from bench.scale.client import Client, NoAnswer
from bench.scale.ledger import Edit, Ledger

URLS = "/api/v1/urls"
_LINKS = 50
_EDITED = 5
_PAUSE_AFTER_FAILURE = 0.02


class Load:
    """Runs in a thread with a loop of its own, between `__enter__` and `__exit__`."""

    def __init__(
        self, port: int, key: str, *, visitors: int = 8, creators: int = 3, pause_seconds: float = 0.005
    ) -> None:
        self.ledger = Ledger()
        self._port = port
        self._key = key
        self._pause = pause_seconds
        self._counts = (visitors, creators)
        self._targets: dict[str, str] = {}
        self._edited: list[str] = []
        self._numbers = itertools.count(1)
        self._ending = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._has_begun = threading.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        self._has_begun.wait()
        self._check()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._check()

    def wait_for(self, more: int, kind: str = "follow", seconds: float = 120.0) -> None:
        """Until so many more requests of this kind were answered."""
        wanted = self.ledger.answered[kind] + more
        deadline = time.monotonic() + seconds
        while self.ledger.answered[kind] < wanted:
            self._check()
            if time.monotonic() > deadline:
                raise RuntimeError(f"{kind} is not answered any more: {self.ledger.failures[-3:]}")
            time.sleep(0.01)

    def _check(self) -> None:
        if self._failure is not None:
            raise RuntimeError("the load has failed") from self._failure

    def _run(self) -> None:
        try:
            asyncio.run(self._load())
        except BaseException as error:
            self._failure = error
        finally:
            self._has_begun.set()

    async def _load(self) -> None:
        client = Client(self._port, self._key)
        for _ in range(_LINKS):
            url = self._url()
            answer = await client.ask("POST", URLS, {"original_url": url})
            if answer.status != 201:
                raise RuntimeError(f"a create was answered {answer.status}: {answer.body!r}")
            self._targets[answer.json()["short_code"]] = url
        client.close()
        self._edited = list(self._targets)[:_EDITED]
        self._has_begun.set()
        visitors, creators = self._counts
        clients = [
            *[self._repeat(self._follow, "") for _ in range(visitors)],
            *[self._repeat(self._create, self._key) for _ in range(creators)],
            self._repeat(self._create_once, self._key),
            self._repeat(self._edit, self._key),
        ]
        await asyncio.gather(*clients)

    async def _repeat(self, act: Callable[[Client], Awaitable[None]], key: str) -> None:
        client = Client(self._port, key)
        while not self._ending.is_set():
            await act(client)
            await asyncio.sleep(self._pause)
        client.close()

    def _url(self) -> str:
        return f"https://example.com/{next(self._numbers)}"

    async def _follow(self, client: Client) -> None:
        code = random.choice(list(self._targets))
        begun = time.monotonic()
        try:
            answer = await client.ask("GET", f"/{code}")
        except NoAnswer as error:
            self.ledger.cut_off[code] += 1
            await self._note_failure("follow", 0, str(error))
            return
        if answer.status != 302:
            await self._note_failure("follow", answer.status, answer.body.decode()[:200])
            return
        self.ledger.followed[code] += 1
        self.ledger.well("follow", begun)
        known = {self._targets[code], *(edit.url for edit in self.ledger.edits.get(code, []))}
        if answer.headers["location"] not in known:
            self.ledger.strange.append(f"{code} led to {answer.headers['location']}")

    async def _create(self, client: Client) -> None:
        await self._post(client, "create", self._url(), {})

    async def _create_once(self, client: Client) -> None:
        """With an Idempotency-Key, asked again until it is answered."""
        url = self._url()
        while not self._ending.is_set():
            if await self._post(client, "create once", url, {"Idempotency-Key": url}):
                return

    async def _post(self, client: Client, kind: str, url: str, headers: dict[str, str]) -> bool:
        begun = time.monotonic()
        try:
            answer = await client.ask("POST", URLS, {"original_url": url}, headers)
        except NoAnswer as error:
            await self._note_failure(kind, 0, str(error))
            return False
        if answer.status != 201:
            await self._note_failure(kind, answer.status, answer.body.decode()[:200])
            return False
        self.ledger.created.append((answer.json()["short_code"], url))
        self.ledger.well(kind, begun)
        return True

    async def _edit(self, client: Client) -> None:
        code = random.choice(self._edited)
        edit = Edit(self._url())
        self.ledger.edits.setdefault(code, []).append(edit)
        begun = time.monotonic()
        try:
            answer = await client.ask("PATCH", f"{URLS}/{code}", {"original_url": edit.url})
        except NoAnswer as error:
            await self._note_failure("edit", 0, str(error))
            return
        if answer.status != 200:
            await self._note_failure("edit", answer.status, answer.body.decode()[:200])
            return
        edit.is_answered = True
        self.ledger.well("edit", begun)

    async def _note_failure(self, kind: str, status: int, detail: str) -> None:
        self.ledger.failed(kind, status, detail)
        await asyncio.sleep(_PAUSE_AFTER_FAILURE)
