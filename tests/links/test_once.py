"""Once: work that is done at most once for each key."""

import asyncio

import pytest

from laconic.errors import ChoiceRefused, CodeTaken, IdempotencyKeyReused
from laconic.links.once import Answer, Once
from laconic.storage.database import Database, Statements
from tests.links.desk import Desk

REQUEST = b"POST urls\n{}"


class Work:
    """Counts how often it is carried out, in the transaction and outside of it."""

    def __init__(self, error: Exception | None = None) -> None:
        self.runs = 0
        self.error = error

    async def __call__(self, statements: Statements) -> Answer:
        self.runs += 1
        await statements.execute(
            "INSERT INTO secret (name, value, created_at) VALUES ($1, $2, $3)", f"run {self.runs}", b"x", 0
        )
        if self.error is not None:
            raise self.error
        return Answer(201, f'{{"run": {self.runs}, "text": "ü 😀"}}')


async def rows(database: Database) -> int:
    return len(await database.fetch_all("SELECT 1 FROM secret WHERE name LIKE 'run %'"))


async def test_second_time_gets_the_first_answer(database: Database) -> None:
    """Without the work being done again."""
    once, work = Once(database), Work()
    first = await once.run(1, "key", REQUEST, work)
    again = await once.run(1, "key", REQUEST, work)
    assert (first.status, first.body, first.replayed) == (201, '{"run": 1, "text": "ü 😀"}', False)
    assert (again.status, again.body, again.replayed) == (first.status, first.body, True)
    assert await once.earlier(1, "key", REQUEST) == again
    assert work.runs == 1


async def test_other_request_with_the_key_is_refused(database: Database) -> None:
    """Whoever asks, before or inside the transaction."""
    once, work = Once(database), Work()
    await once.run(1, "key", REQUEST, work)
    with pytest.raises(IdempotencyKeyReused):
        await once.run(1, "key", b"another", work)
    with pytest.raises(IdempotencyKeyReused):
        await once.earlier(1, "key", b"another")
    assert work.runs == 1


async def test_keys_of_others_are_others(database: Database, desk: Desk) -> None:
    """Another key, or the same one in another workspace, is new."""
    await database.execute(
        "INSERT INTO workspace (id, name, slug, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)",
        *(2, "Other", "other", desk.clock.moment, desk.clock.moment),
    )
    once, work = Once(database), Work()
    for workspace_id, key in ((1, "a"), (1, "b"), (2, "a"), (1, "A")):
        assert await once.earlier(workspace_id, key, REQUEST) is None
        assert not (await once.run(workspace_id, key, REQUEST, work)).replayed
    assert work.runs == 4


async def test_refused_work_leaves_neither_change_nor_key(database: Database) -> None:
    """The next attempt is the first again."""
    once, failing = Once(database), Work(CodeTaken("abc"))
    with pytest.raises(CodeTaken):
        await once.run(1, "key", REQUEST, failing)
    assert await rows(database) == 0
    assert await once.earlier(1, "key", REQUEST) is None
    work = Work()
    assert not (await once.run(1, "key", b"another", work)).replayed
    assert await rows(database) == 1


async def test_many_at_once_do_the_work_once(database: Database) -> None:
    """All get the same answer; one of them did it."""
    once, work = Once(database), Work()
    answers = await asyncio.gather(*(once.run(1, "key", REQUEST, work) for _ in range(20)))
    assert {(answer.status, answer.body) for answer in answers} == {(201, answers[0].body)}
    assert sum(not answer.replayed for answer in answers) == 1
    assert await rows(database) == 1


@pytest.mark.parametrize("key", ["", "x" * 256, "a\nb", "a\0b", "\x7f", "\u2028"])
async def test_key_is_short_and_printable(database: Database, key: str) -> None:
    """What no header or engine could carry is refused before anything is done."""
    once, work = Once(database), Work()
    with pytest.raises(ChoiceRefused):
        await once.run(1, key, REQUEST, work)
    with pytest.raises(ChoiceRefused):
        await once.earlier(1, key, REQUEST)
    assert work.runs == 0


async def test_empty_body_is_an_answer_too(database: Database) -> None:
    """204 has none."""

    async def work(statements: Statements) -> Answer:
        return Answer(204, "")

    once = Once(database)
    await once.run(1, "key", REQUEST, work)
    assert await once.run(1, "key", REQUEST, work) == Answer(204, "", replayed=True)
