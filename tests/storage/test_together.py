"""Questions of the same moment travel together."""

import asyncio
from collections.abc import Sequence

import pytest

from laconic.storage.together import Together


class _Server:
    """Answers a question when it is told to: a key's answer is its square."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self._open: list[asyncio.Future[None]] = []

    async def ask(self, keys: Sequence[int]) -> list[int]:
        self.asked.append(list(keys))
        self._open.append(asyncio.get_running_loop().create_future())
        await self._open[-1]
        return [key * key for key in keys]

    def answer(self, question: int, error: BaseException | None = None) -> None:
        if error is None:
            self._open[question].set_result(None)
        else:
            self._open[question].set_exception(error)


async def _settle() -> None:
    """All that can go on without an answer has gone on."""
    for _ in range(10):
        await asyncio.sleep(0)


async def _ask(together: Together[int, int], *keys: int) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(together.get(key)) for key in keys]
    await _settle()
    return tasks


async def test_a_lone_question_is_asked_at_once() -> None:
    """Nobody waits for company that may never come."""
    server = _Server()
    (task,) = await _ask(Together(server.ask, questions=1, most_keys=10), 7)
    assert server.asked == [[7]]
    server.answer(0)
    assert await task == 49


async def test_whoever_comes_meanwhile_is_asked_for_together() -> None:
    """And each gets the answer to its own question."""
    server = _Server()
    tasks = await _ask(Together(server.ask, questions=2, most_keys=10), 1, 2, 3, 4, 5)
    assert server.asked == [[1], [2]]
    server.answer(1)
    await _settle()
    assert server.asked == [[1], [2], [3, 4, 5]]
    server.answer(2)
    server.answer(0)
    assert await asyncio.gather(*tasks) == [1, 4, 9, 16, 25]


async def test_a_question_has_so_many_keys_and_no_more() -> None:
    """Those who find no room come with the next one."""
    server = _Server()
    tasks = await _ask(Together(server.ask, questions=1, most_keys=2), 1, 2, 3, 4)
    for question in range(3):
        server.answer(question)
        await _settle()
    assert server.asked == [[1], [2, 3], [4]]
    assert await asyncio.gather(*tasks) == [1, 4, 9, 16]


async def test_a_failure_is_told_to_those_it_befell_and_to_nobody_else() -> None:
    """Whoever waits for the next question is none of them."""
    server = _Server()
    together = Together(server.ask, questions=1, most_keys=2)
    tasks = await _ask(together, 1, 2, 3, 4)
    server.answer(0, OSError("lost"))
    await _settle()
    server.answer(1, OSError("lost again"))
    await _settle()
    server.answer(2)
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["lost", "lost again", "lost again", "16"]
    # And the places of those that failed are free again.
    (task,) = await _ask(together, 5)
    server.answer(3)
    assert await task == 25


async def test_whoever_leaves_takes_nobody_along() -> None:
    """Neither the one that asks nor one that waits is missed by the others; for who has left nothing is asked."""
    server = _Server()
    tasks = await _ask(Together(server.ask, questions=1, most_keys=10), 1, 2, 3)
    tasks[0].cancel()
    tasks[1].cancel()
    await _settle()
    assert server.asked == [[1], [3]]
    server.answer(1)
    assert await tasks[2] == 9


async def test_whoever_waits_too_long_is_told_so() -> None:
    """One after another, in the order they came; those who came later go on waiting."""
    server = _Server()
    together = Together(server.ask, questions=1, most_keys=10, patience=0.05)
    first, second = await _ask(together, 1, 2)
    with pytest.raises(TimeoutError):
        await second
    third = asyncio.create_task(together.get(3))
    await _settle()
    server.answer(0)
    assert await first == 1
    await _settle()
    server.answer(1)
    assert await third == 9
    assert server.asked == [[1], [3]]


async def test_closing_waits_for_what_is_under_way() -> None:
    """A question that was asked is answered."""
    server = _Server()
    together = Together(server.ask, questions=1, most_keys=10)
    tasks = await _ask(together, 1, 2)
    server.answer(0)
    await _settle()
    closing = asyncio.create_task(together.close())
    await _settle()
    assert not closing.done()
    server.answer(1)
    await closing
    assert await asyncio.gather(*tasks) == [1, 4]
