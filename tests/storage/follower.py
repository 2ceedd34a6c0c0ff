"""A listener for changes of links that a test can wait for."""

import asyncio
from collections.abc import Callable

_PATIENCE_SECONDS = 60.0


class Follower:
    """Writes down what it is told. See `ChangeListener`."""

    def __init__(self) -> None:
        self.changes: list[tuple[int, str, int]] = []
        self.times: list[int | None] = []
        self.states: list[str] = []
        self._told = asyncio.Event()

    def changed(self, domain_id: int, short_code: str, version: int, changed_at: int | None = None) -> None:
        self.times.append(changed_at)
        self.changes.append((domain_id, short_code, version))
        self._told.set()

    def following(self) -> None:
        self.states.append("following")
        self._told.set()

    def lost(self) -> None:
        self.states.append("lost")
        self._told.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while not condition():
                self._told.clear()
                await self._told.wait()

    async def until_state(self, state: str) -> None:
        await self.until(lambda: self.states[-1:] == [state])
