"""Every sentence of the `Database` protocol, on every engine."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from laconic.clock import HOUR, LAST_MOMENT, MINUTE, SECOND, now
from laconic.errors import Conflict, Unavailable
from laconic.storage.database import Database, Row, Statements
from laconic.storage.engines import open_database
from tests.storage.follower import Follower

_PATIENCE_SECONDS = 30.0


@pytest.fixture
async def things(database: Database) -> Database:
    """A database with a small table of every kind of value."""
    await database.execute(
        "CREATE TABLE thing (id bigint PRIMARY KEY, name text UNIQUE, moment timestamptz, truth boolean,"
        " digest bytea, data jsonb, address inet, day date)"
    )
    return database


async def _count(statements: Statements) -> int:
    row = await statements.fetch_one("SELECT count(*) FROM thing")
    assert row is not None
    return int(row[0])


def _insert(number: int, name: str) -> Callable[[Statements], Awaitable[int]]:
    async def work(statements: Statements) -> int:
        return await statements.execute("INSERT INTO thing (id, name) VALUES ($1, $2)", number, name)

    return work


# Values


@pytest.mark.parametrize("number", [0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)])
async def test_whole_numbers_of_63_bits_come_back_unchanged(things: Database, number: int) -> None:
    """Ids fill 63 bits; none is rounded on the way."""
    await things.execute("INSERT INTO thing (id) VALUES ($1)", number)
    assert await things.fetch_all("SELECT id FROM thing") == [(number,)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "plain",
        "🦊 ünïcödé 漢字",
        'it\'s "quoted"',
        r"back\slash \x41 \\",
        "a\r\n\tb",
        "$1 %s ? {}",
        "\u202e\u00a0\ufeff",
    ],
)
async def test_text_comes_back_unchanged(things: Database, text: str) -> None:
    """No character of a text has a meaning on its way in or out."""
    await things.execute("INSERT INTO thing (id, name) VALUES (1, $1)", text)
    assert await things.fetch_one("SELECT name FROM thing WHERE name = $1", text) == (text,)


async def test_the_database_tells_the_time(database: Database) -> None:
    """`clock_timestamp()` is a moment, read anew in each statement of a transaction."""

    async def work(statements: Statements) -> list[int]:
        rows = [await statements.fetch_one("SELECT clock_timestamp()") for _ in range(3)]
        return [row[0] for row in rows if row is not None]

    before = now()
    moments = await database.transaction(work)
    assert before - SECOND < moments[0] < moments[1] < moments[2] < now() + SECOND
    row = await database.fetch_one("SELECT clock_timestamp() > $1", moments[0])
    assert row is not None
    assert row[0]


@pytest.mark.parametrize("moment", [0, 1, -1, 1_763_236_440_123_456, LAST_MOMENT])
async def test_a_moment_is_an_int_of_microseconds(things: Database, moment: int) -> None:
    """Moments keep every microsecond and compare as numbers do."""
    await things.execute("INSERT INTO thing (id, moment) VALUES (1, $1)", moment)
    row = await things.fetch_one(
        "SELECT moment FROM thing WHERE moment <= $1 AND moment > $2", moment, moment - 1
    )
    assert row == (moment,)
    assert type(row[0]) is int


async def test_other_values_come_back_as_they_are_written(things: Database) -> None:
    """Bytes, truth, JSON text, addresses and days are plain values."""
    document = {"tags": ["a", "ä"], "n": None}
    await things.execute(
        "INSERT INTO thing (id, truth, digest, data, address, day) VALUES (1, $1, $2, $3, $4, $5)",
        True,
        bytes(range(256)),
        json.dumps(document),
        "192.0.2.7",
        20_406,
    )
    row = await things.fetch_one("SELECT truth, digest, data, address, day FROM thing WHERE truth")
    assert row is not None
    assert bool(row[0]) is True
    assert row[1] == bytes(range(256))
    assert json.loads(row[2]) == document
    assert row[3:] == ("192.0.2.7", 20_406)


async def test_nothing_comes_back_as_none(things: Database) -> None:
    """NULL is None in every column."""
    await things.execute(
        "INSERT INTO thing (id, name, moment, truth, digest, data, address, day) VALUES (1, $1, $2, $3, $4, $5, $6, $7)",
        *[None] * 7,
    )
    row = await things.fetch_one("SELECT name, moment, truth, digest, data, address, day FROM thing")
    assert row == (None,) * 7


async def test_a_sum_is_a_whole_number(things: Database) -> None:
    """Adding counts gives an int, whatever type the engine adds in."""
    await things.insert_many("thing", ["id"], [(2**62,), (5,)])
    row = await things.fetch_one("SELECT sum(id) FROM thing")
    assert row == (2**62 + 5,)
    assert type(row[0]) is int


# Statements


async def test_placeholders_number_the_arguments(things: Database) -> None:
    """$2 may come before $1, and each may come twice."""
    await things.execute("INSERT INTO thing (name, id) VALUES ($2, $1)", 7, "seven")
    row = await things.fetch_one(
        "SELECT id, name FROM thing WHERE name = $2 AND id = $1 AND id = $1", 7, "seven"
    )
    assert row == (7, "seven")


async def test_fetch_one_gives_the_first_row_or_none(things: Database) -> None:
    """One row of many, in the order asked for; None when there is none."""
    assert await things.fetch_one("SELECT id FROM thing") is None
    await things.insert_many("thing", ["id"], [(2,), (3,), (1,)])
    assert await things.fetch_one("SELECT id FROM thing ORDER BY id DESC") == (3,)


@pytest.mark.parametrize("count", [0, 1, 499, 500, 501, 1_200])
async def test_fetch_among_finds_the_rows_of_many_ids(things: Database, count: int) -> None:
    """However many they are, other arguments beside them, and ids that do not exist among them."""
    await things.insert_many("thing", ("id", "name"), [(number, f"n{number}") for number in range(2_000)])
    ids = [*range(count), *range(5_000, 5_003)]
    sql = "SELECT id FROM thing WHERE name <> $1 AND id IN ($ids) AND id <> $2"
    wanted = sorted(set(range(count)) - {0, 3})
    assert sorted(row[0] for row in await things.fetch_among(sql, ids, "n0", 3)) == wanted

    async def work(statements: Statements) -> list[int]:
        return sorted(row[0] for row in await statements.fetch_among(sql, ids, "n0", 3))

    assert await things.transaction(work) == wanted


async def test_insert_many_gives_every_row_what_is_the_same(things: Database) -> None:
    """Beside columns of their own, and rows that are there already are skipped as ever."""
    await things.execute("INSERT INTO thing (id, moment) VALUES (2, $1)", 5_000_000)
    rows = [(1, "a"), (2, "b"), (3, "c")]
    assert not await things.insert_many("thing", ["id", "name"], rows, {"moment": 7_000_000, "truth": True})
    found = await things.fetch_all("SELECT id, name, moment FROM thing ORDER BY id")
    assert found == [(1, "a", 7_000_000), (2, None, 5_000_000), (3, "c", 7_000_000)]
    assert await things.insert_many("thing", ["id"], [(4,)], {"moment": 9_000_000})


async def test_fetch_among_changes_the_rows_of_many_names(things: Database) -> None:
    """Within a transaction, names instead of numbers: those that it changed come back."""
    await things.insert_many("thing", ("id", "name"), [(number, f"n{number}") for number in range(2_000)])
    names = [f"n{number}" for number in range(1_200)] + ["none"]

    async def work(statements: Statements) -> list[Row]:
        sql = "DELETE FROM thing WHERE name IN ($ids) AND id > $1 RETURNING id"
        assert await statements.fetch_among("SELECT id FROM thing WHERE name IN ($ids)", ["n7"]) == [(7,)]
        assert await statements.fetch_among(sql, [], 5) == []
        return await statements.fetch_among(sql, names, 5)

    assert sorted(row[0] for row in await things.transaction(work)) == [*range(6, 1_200)]
    assert await things.fetch_one("SELECT count(*) FROM thing") == (806,)


async def test_fetch_all_gives_every_row_in_order(things: Database) -> None:
    """A list, empty when nothing matches."""
    assert await things.fetch_all("SELECT id FROM thing") == []
    await things.insert_many("thing", ["id", "name"], [(2, "b"), (3, "c"), (1, "a")])
    assert await things.fetch_all("SELECT id, name FROM thing ORDER BY id") == [(1, "a"), (2, "b"), (3, "c")]


async def test_execute_says_how_many_rows_it_changed(things: Database) -> None:
    """Inserts, updates and deletes are counted; none is 0."""
    assert await things.execute("INSERT INTO thing (id) VALUES (1), (2), (3)") == 3
    assert await things.execute("UPDATE thing SET name = NULL WHERE id >= $1", 2) == 2
    assert await things.execute("UPDATE thing SET name = NULL WHERE id > $1", 3) == 0
    assert await things.execute("INSERT INTO thing (id) VALUES ($1) ON CONFLICT DO NOTHING", 1) == 0
    assert await things.execute("DELETE FROM thing") == 3


async def test_execute_many_runs_the_statement_for_each_row(things: Database) -> None:
    """Any iterable of arguments will do, also one that can be read once."""
    await things.execute_many(
        "INSERT INTO thing (id, name) VALUES ($1, $2)", ((number, str(number)) for number in range(100))
    )
    assert await _count(things) == 100


async def test_execute_many_does_all_or_none(things: Database) -> None:
    """When the last row fails, the first ones are not there."""
    with pytest.raises(Conflict):
        await things.execute_many("INSERT INTO thing (id) VALUES ($1)", [(1,), (2,), (1,)])
    assert await _count(things) == 0


async def test_a_unique_index_raises_conflict_and_names_itself(things: Database) -> None:
    """The row that was there stays; the error knows which column or index it was."""
    await things.execute("INSERT INTO thing (id, name) VALUES (1, 'first')")
    with pytest.raises(Conflict) as caught:
        await things.execute("INSERT INTO thing (id, name) VALUES (2, 'first')")
    assert "name" in caught.value.constraint
    with pytest.raises(Conflict):
        await things.execute(
            "UPDATE thing SET id = 1 WHERE id = 1 OR id = 2; INSERT INTO thing (id) VALUES (1)"
        )
    assert await things.fetch_all("SELECT id, name FROM thing") == [(1, "first")]


# insert_many and copy_in


async def test_insert_many_without_conflict_is_true(things: Database) -> None:
    """Five thousand rows go in with one call."""
    rows = [(number, f"name {number}", 1_700_000_000_000_000 + number, '{"a": 1}') for number in range(5_000)]
    assert await things.insert_many("thing", ["id", "name", "moment", "data"], rows) is True
    assert await _count(things) == 5_000
    assert await things.fetch_one("SELECT name, moment FROM thing WHERE id = $1", 4_321) == rows[4_321][1:3]


async def test_insert_many_of_nothing_is_true(things: Database) -> None:
    """No rows, nothing to refuse."""
    assert await things.insert_many("thing", ["id"], []) is True


async def test_insert_many_skips_what_a_unique_index_refuses(things: Database) -> None:
    """False, and the other rows are in: whichever index it was."""
    await things.execute("INSERT INTO thing (id, name) VALUES (1, 'taken')")
    rows = [(1, "other"), (2, "taken"), (3, "free")]
    assert await things.insert_many("thing", ["id", "name"], rows) is False
    assert await things.fetch_all("SELECT id, name FROM thing ORDER BY id") == [(1, "taken"), (3, "free")]


async def test_insert_many_takes_the_first_of_two_equal_rows(things: Database) -> None:
    """A batch may conflict with itself."""
    assert await things.insert_many("thing", ["id", "name"], [(1, "a"), (2, "b"), (1, "c")]) is False
    assert await things.fetch_all("SELECT id, name FROM thing ORDER BY id") == [(1, "a"), (2, "b")]


async def test_insert_many_takes_every_kind_of_value(things: Database) -> None:
    """What `execute` takes, `insert_many` and `copy_in` take too."""
    columns = ["id", "name", "moment", "truth", "digest", "data", "address", "day"]
    full = ("naïve 'text'", 1_763_236_440_123_456, False, b"\x00\xff", '{"a": [1]}', "2001:db8::7", 20_406)
    empty = (None,) * 7
    assert await things.insert_many("thing", columns, [(1, *full), (2, *empty)])
    await things.copy_in("thing", columns, [(3, "copied", *full[1:]), (4, *empty)])
    rows = await things.fetch_all("SELECT moment, digest, address, day FROM thing ORDER BY id")
    expected = (full[1], full[3], full[5], full[6])
    assert rows == [expected, (None,) * 4, expected, (None,) * 4]


async def test_copy_in_does_all_or_none(things: Database) -> None:
    """A row that conflicts undoes the whole copy."""
    await things.copy_in("thing", ["id", "name"], [(number, str(number)) for number in range(1_000)])
    assert await _count(things) == 1_000
    with pytest.raises(Conflict):
        await things.copy_in("thing", ["id"], [(5_000,), (1,)])
    assert await _count(things) == 1_000


# Transactions


async def test_a_transaction_commits_what_it_did_and_gives_its_result(things: Database) -> None:
    """It reads its own writes, and afterwards everybody does."""

    async def work(statements: Statements) -> int:
        await statements.execute("INSERT INTO thing (id) VALUES (1)")
        await statements.insert_many("thing", ["id"], [(2,), (3,)])
        await statements.execute_many("INSERT INTO thing (id) VALUES ($1)", [(4,), (5,)])
        return await _count(statements)

    assert await things.transaction(work) == 5
    assert await _count(things) == 5


async def test_a_transaction_that_raises_is_undone(things: Database) -> None:
    """The exception comes out as it was raised, and nothing stays behind."""

    async def work(statements: Statements) -> None:
        await statements.execute("INSERT INTO thing (id) VALUES (1)")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await things.transaction(work)
    assert await _count(things) == 0
    await things.transaction(_insert(1, "after"))


async def test_a_conflict_in_a_transaction_undoes_all_of_it(things: Database) -> None:
    """Nothing of what came before the conflict is kept."""
    await things.execute("INSERT INTO thing (id) VALUES (1)")

    async def work(statements: Statements) -> None:
        await statements.execute("INSERT INTO thing (id) VALUES (2)")
        await statements.execute("INSERT INTO thing (id) VALUES (1)")

    with pytest.raises(Conflict):
        await things.transaction(work)
    assert await things.fetch_all("SELECT id FROM thing") == [(1,)]


async def test_fifty_transactions_at_once_spoil_none_of_each_other(things: Database) -> None:
    """Every second one fails, each in its own way, and the rest are all there."""

    async def failing(statements: Statements) -> int:
        await statements.execute("INSERT INTO thing (id) VALUES (1000)")
        raise ZeroDivisionError

    work = [failing if number % 2 else _insert(number, str(number)) for number in range(50)]
    results = await asyncio.gather(*map(things.transaction, work), return_exceptions=True)
    assert [type(result) for result in results] == [int, ZeroDivisionError] * 25
    rows = await things.fetch_all("SELECT id FROM thing ORDER BY id")
    assert rows == [(number,) for number in range(0, 50, 2)]


async def test_of_transactions_that_want_the_same_row_one_wins(things: Database) -> None:
    """Twenty insert one name at the same time: one row, nineteen conflicts."""
    attempts = [things.transaction(_insert(number, "same")) for number in range(20)]
    results = await asyncio.gather(*attempts, return_exceptions=True)
    assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 19 + ["int"]
    assert await _count(things) == 1


async def test_concurrent_increments_are_all_counted(things: Database) -> None:
    """An update that reads what it writes loses nothing to its neighbours."""
    await things.execute("INSERT INTO thing (id, moment) VALUES (1, $1)", 0)

    async def work(statements: Statements) -> None:
        row = await statements.fetch_one(
            "UPDATE thing SET day = coalesce(day, $1) + 1 WHERE id = 1 RETURNING day", 0
        )
        assert row is not None

    await asyncio.gather(*(things.transaction(work) for _ in range(30)))
    assert await things.fetch_one("SELECT day FROM thing") == (30,)


async def test_fetch_hot_sees_what_was_just_committed(things: Database) -> None:
    """No snapshot is kept: after a commit is answered, the next look-up shows it."""
    for version in range(50):
        await things.transaction(_insert(version, f"v{version}"))
        assert await things.fetch_hot("SELECT name FROM thing WHERE id = $1", version) == (f"v{version}",)
        assert await things.fetch_by_key("SELECT name FROM thing WHERE id = $1", version) == (f"v{version}",)
    assert await things.fetch_hot("SELECT name FROM thing WHERE id = $1", 50) is None
    assert await things.fetch_by_key("SELECT name FROM thing WHERE id = $1", 50) is None


async def test_fetch_hot_answers_each_of_many_who_ask_at_once(things: Database) -> None:
    """Its own row, or none: also to those who ask the same, and whatever stands in the arguments."""
    names = [f"v{number}" for number in range(60)] + ["o'clock", '{"}', "a,b", "NULL", "", "\\", "$1"]
    await things.execute_many("INSERT INTO thing (id, name) VALUES ($1, $2)", list(enumerate(names)))
    wanted = [*enumerate(names), (5, "v6"), (1_000, "v1"), (3, "v3")]
    found = await asyncio.gather(
        *(
            things.fetch_hot("SELECT id, name FROM thing WHERE id = $1 AND name = $2", number, name)
            for number, name in wanted
        )
    )
    assert found == [*enumerate(names), None, None, (3, "v3")]


# Changes


async def test_history_is_told_before_it_follows(database: Database) -> None:
    """Whoever starts later learns what it missed, as far back as it asks, and what is new has its time."""
    moment = now()
    for code, age in (("old", 2 * HOUR), ("first", 30 * MINUTE), ("second", 0)):
        await database.execute(
            "INSERT INTO link_change (domain_id, short_code, version, changed_at) VALUES (1, $1, 2, $2)",
            code,
            moment - age,
        )
    follower = Follower()
    task = asyncio.create_task(database.follow_changes(follower, HOUR))
    try:
        await follower.until_state("following")
        assert follower.changes == [(1, "first", 2), (1, "second", 2)]
        assert follower.times == [None, None]
        await database.execute(
            "INSERT INTO link_change (domain_id, short_code, version, changed_at) VALUES (1, 'new', 3, $1)",
            moment,
        )
        await follower.until(lambda: len(follower.changes) > 2)
        assert (follower.changes[-1], follower.times[-1]) == ((1, "new", 3), moment)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _following(database: Database) -> AsyncIterator[Follower]:
    follower = Follower()
    task = asyncio.create_task(database.follow_changes(follower))
    try:
        await follower.until_state("following")
        yield follower
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


_RECORD = "INSERT INTO link_change (domain_id, short_code, version, changed_at) VALUES ($1, $2, $3, $4)"


async def test_changes_of_another_connection_are_told(database: Database, migrated_url: str) -> None:
    """Each committed row of link_change, once, in order."""
    other = await open_database(migrated_url)
    expected = [(number, f"code{number}", number + 7) for number in range(20)]
    async with _following(database) as follower:
        for change in expected:
            await other.execute(_RECORD, *change, 0)
        await follower.until(lambda: len(follower.changes) >= len(expected))
    await other.close()
    assert follower.changes == expected


async def test_changes_of_this_database_are_told_too(database: Database) -> None:
    """The process that writes hears of its own changes."""
    async with _following(database) as follower:
        await database.execute(_RECORD, 1, "own", 2, 0)
        await follower.until(lambda: bool(follower.changes))
    assert follower.changes == [(1, "own", 2)]


async def test_a_bulk_change_is_told_row_by_row(database: Database) -> None:
    """Thousands of rows in one statement: more than one message can hold."""
    expected = [(1, f"c{number:06}", 1) for number in range(5_000)]
    async with _following(database) as follower:
        await database.insert_many(
            "link_change",
            ["domain_id", "short_code", "version", "changed_at"],
            [(*change, 0) for change in expected],
        )
        await follower.until(lambda: len(follower.changes) >= len(expected))
    assert follower.changes == expected


async def test_changes_that_are_undone_are_not_told(database: Database) -> None:
    """Only what is committed is a change."""

    async def work(statements: Statements) -> None:
        await statements.execute(_RECORD, 1, "undone", 2, 0)
        raise ZeroDivisionError

    async with _following(database) as follower:
        with pytest.raises(ZeroDivisionError):
            await database.transaction(work)
        await database.execute(_RECORD, 1, "done", 2, 0)
        await follower.until(lambda: bool(follower.changes))
    assert follower.changes == [(1, "done", 2)]


_OTHER_PROCESS = f"""
import asyncio, sys
from laconic.storage.engines import open_database
from tests.storage.follower import Follower

async def main():
    database = await open_database(sys.argv[1])
    await database.execute({_RECORD!r}, 1, "far", 9, 0)
    await database.close()

asyncio.run(main())
"""


async def test_changes_of_another_process_are_told(database: Database, migrated_url: str) -> None:
    """Workers are processes of their own."""
    async with _following(database) as follower:
        command = [sys.executable, "-c", _OTHER_PROCESS, migrated_url]
        await asyncio.to_thread(subprocess.run, command, check=True, timeout=_PATIENCE_SECONDS)
        await follower.until(lambda: bool(follower.changes))
    assert follower.changes == [(1, "far", 9)]


# Search


async def _add_link(
    database: Database, number: int, title: str | None, description: str | None = None
) -> None:
    await database.execute(
        "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, title, description,"
        " created_at, updated_at) VALUES ($1, 1, 1, $2, 'https://example.com/', $3, $4, $5, $5)",
        number,
        f"code{number}",
        title,
        description,
        0,
    )


async def _search(database: Database, *words: str) -> list[int]:
    condition, argument = database.text_search(words, 2)
    rows = await database.fetch_all(
        f"SELECT id FROM short_link WHERE workspace_id = $1 AND {condition} ORDER BY id", 1, argument
    )
    return [row[0] for row in rows]


async def test_text_search_finds_words_by_their_beginning(database: Database) -> None:
    """In title or description, in any letter case, all words at once."""
    await _add_link(database, 1, "Spring sale", "Bicycles and Ünïcode")
    await _add_link(database, 2, "Offspring", None)
    await _add_link(database, 3, None, "the spring of 2026")
    await _add_link(database, 4, None, None)
    assert await _search(database, "spri") == [1, 3]
    assert await _search(database, "SPRING", "2026") == [3]
    assert await _search(database, "spring", "bicyc") == [1]
    assert await _search(database, "ünï") == [1]
    assert await _search(database, "absent") == []


async def test_text_search_follows_edits(database: Database) -> None:
    """A changed title is found by its new words only."""
    await _add_link(database, 1, "before")
    await database.execute("UPDATE short_link SET title = 'after' WHERE id = 1")
    assert await _search(database, "before") == []
    assert await _search(database, "after") == [1]


@pytest.mark.parametrize(
    "word",
    [
        *("", " ", "'", '"', "\\", "*", ":*", "!!!", "&", "|", "(", "%", "$1", "{}"),
        *("a&b", "a'b", 'a"b', "x:y", "^x", "-x", "foo-bar", "NEAR", "AND"),
        *("🦊", "e\u0301", "x" * 5_000, "https://example.com/?a=b"),
    ],
)
async def test_text_search_takes_any_word(database: Database, word: str) -> None:
    """No character is an operator: odd words find something or nothing, and are never an error."""
    await _add_link(database, 1, "spring")
    assert isinstance(await _search(database, word), list)
    assert isinstance(await _search(database, "spring", word), list)


async def test_text_search_finds_a_word_with_a_quote_in_it(database: Database) -> None:
    """What splits a word in the text splits it in the search."""
    await _add_link(database, 1, "rock'n'roll and foo-bar")
    assert await _search(database, "rock'n'ro") == [1]
    assert await _search(database, "foo-ba") == [1]


# The rest


async def test_sizes_names_the_database(database: Database) -> None:
    """At least the database itself has a size."""
    assert (await database.sizes())["database"] > 0


async def test_tidy_may_be_called_at_any_time(things: Database) -> None:
    """Also while others write."""
    await asyncio.gather(things.tidy(), things.transaction(_insert(1, "a")), things.tidy())
    assert await _count(things) == 1


async def test_a_closed_database_says_so_and_may_be_closed_again(things: Database) -> None:
    """Closing twice is no error; using it afterwards is `Unavailable`."""
    await things.close()
    await things.close()
    with pytest.raises(Unavailable):
        await things.execute("DELETE FROM thing")
    with pytest.raises(Unavailable):
        await things.fetch_all("SELECT 1")


async def test_what_was_committed_is_there_after_reopening(things: Database, migrated_url: str) -> None:
    """A second database on the same URL reads it."""
    await things.transaction(_insert(1, "kept"))
    other = await open_database(migrated_url)
    assert await other.fetch_one("SELECT name FROM thing WHERE id = 1") == ("kept",)
    await other.close()
