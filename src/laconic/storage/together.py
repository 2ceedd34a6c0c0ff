"""Questions of the same moment travel together.

A driver takes nearly as long for one key as for fifty. So whoever asks while as many questions are under way as there
may be waits until one of them is answered, and is asked for together with all others who wait.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from laconic.clock import monotonic

Key = TypeVar("Key")
Value = TypeVar("Value")
_Waiter = tuple[float, Key, asyncio.Future[Value]]


class Together(Generic[Key, Value]):
    """`ask` gives a value for each key, in their order, or raises for all of them. Belongs to one loop."""

    def __init__(
        self,
        ask: Callable[[Sequence[Key]], Awaitable[Sequence[Value]]],
        *,
        questions: int,
        most_keys: int,
        patience: float = 0.0,
    ) -> None:
        """`questions` may be under way at once, with `most_keys` in each.

        With a `patience`, in seconds, whoever has waited that long for a question to begin is told so by a TimeoutError.
        """
        self._ask = ask
        self._questions = questions
        self._most_keys = most_keys
        self._patience = patience
        self._under_way = 0
        self._waiting: deque[_Waiter[Key, Value]] = deque()
        self._next_look: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, key: Key) -> Value:
        if self._under_way < self._questions:
            return await self._get_alone(key)
        answer: asyncio.Future[Value] = asyncio.get_running_loop().create_future()
        self._waiting.append((monotonic(), key, answer))
        if self._patience and self._next_look is None:
            self._look_again(self._patience)
        return await answer

    async def _get_alone(self, key: Key) -> Value:
        """At once, and without a task: nobody waits who could come along."""
        self._under_way += 1
        try:
            return (await self._ask([key]))[0]
        finally:
            if self._waiting:
                # The place goes on to those who have come meanwhile.
                task = asyncio.create_task(self._ask_for_waiting())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            else:
                self._under_way -= 1

    async def _ask_for_waiting(self) -> None:
        try:
            while self._waiting:
                count = min(len(self._waiting), self._most_keys)
                some = [self._waiting.popleft() for _ in range(count)]
                # Some may have left while they waited.
                await self._answer([waiter for waiter in some if not waiter[2].done()])
        finally:
            self._under_way -= 1

    async def _answer(self, some: Sequence[_Waiter[Key, Value]]) -> None:
        try:
            values = await self._ask([key for _, key, _ in some]) if some else []
        except BaseException as error:
            for _, _, answer in some:
                if not answer.done():
                    answer.set_exception(error)
            if not isinstance(error, Exception):
                raise
            return
        for (_, _, answer), value in zip(some, values, strict=True):
            if not answer.done():
                answer.set_result(value)

    def _look_again(self, seconds: float) -> None:
        self._next_look = asyncio.get_running_loop().call_later(seconds, self._give_up)

    def _give_up(self) -> None:
        """One timer for all who wait: they came one after another, and leave so."""
        self._next_look = None
        latest = monotonic() - self._patience
        while self._waiting and self._waiting[0][0] <= latest:
            answer = self._waiting.popleft()[2]
            if not answer.done():
                answer.set_exception(TimeoutError("no turn to ask"))
        if self._waiting:
            self._look_again(self._waiting[0][0] - latest)

    async def close(self) -> None:
        """Waits for the questions under way."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
