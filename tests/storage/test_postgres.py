"""What is PostgreSQL's own: lost servers, commits of unknown outcome, listening, migrations."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import asyncpg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from laconic.clock import LAST_MOMENT
from laconic.errors import CannotStart, Conflict, DatabaseTooNew, OutcomeUnknown, Unavailable
from laconic.storage import postgres as postgres_module
from laconic.storage.database import Statements
from laconic.storage.migrate import read_migrations
from laconic.storage.postgres import PostgresDatabase, open_postgres
from laconic.storage.postgres_session import migrate_postgres, postgres_schema_version
from laconic.storage.postgres_sql import for_each
from tests.servers import PostgresServer
from tests.storage.follower import Follower

_PATIENCE_SECONDS = 60.0

Connection = asyncpg.Connection


@pytest.fixture(scope="module")
def fragile_server() -> Iterator[PostgresServer]:
    """A server of this file's own, to be killed and frozen. Each test leaves it running."""
    with PostgresServer() as server:
        yield server


@pytest.fixture
async def fragile(fragile_server: PostgresServer) -> AsyncIterator[PostgresDatabase]:
    database = await open_postgres(fragile_server.url())
    await _make_thing(database)
    yield database
    await database.close()


@pytest.fixture
async def things(fresh_postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    database = await open_postgres(fresh_postgres_url)
    await _make_thing(database)
    yield database
    await database.close()


@pytest.fixture
async def outsider(fresh_postgres_url: str) -> AsyncIterator[Connection]:
    """A connection that Laconic knows nothing of, to look on and to do harm with."""
    connection = await asyncpg.connect(fresh_postgres_url)
    yield connection
    await connection.close()


async def _make_thing(database: PostgresDatabase) -> None:
    await database.execute("DROP TABLE IF EXISTS thing")
    await database.execute("CREATE TABLE thing (id bigint PRIMARY KEY, name text)")


async def _insert_one(statements: Statements) -> None:
    await statements.execute("INSERT INTO thing (id) VALUES (1)")


async def _ids(statements: Statements) -> list[int]:
    return [row[0] for row in await statements.fetch_all("SELECT id FROM thing ORDER BY id")]


async def _eventually(condition: Callable[[], Awaitable[Any]]) -> Any:
    """For what only polling can see: another process's state, kept by the server."""
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not (result := await condition()):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return result


async def _backend_running(outsider: Connection, sql_part: str) -> int:
    """The process id of the backend that is now in a statement with these words, once there is one."""
    return int(
        await _eventually(
            lambda: outsider.fetchval(
                "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%' || $1 || '%'"
                " AND pid <> pg_backend_pid() AND wait_event IS NOT NULL",
                sql_part,
            )
        )
    )


async def _end_backend(outsider: Connection, sql_part: str) -> None:
    await outsider.execute("SELECT pg_terminate_backend($1)", await _backend_running(outsider, sql_part))


# A server that is gone, and comes back


_VERBS: list[Callable[[PostgresDatabase], Awaitable[Any]]] = [
    lambda database: database.fetch_hot("SELECT 1"),
    lambda database: database.fetch_one("SELECT 1"),
    lambda database: database.fetch_all("SELECT 1"),
    lambda database: database.execute("DELETE FROM thing"),
    lambda database: database.execute_many("INSERT INTO thing (id) VALUES ($1)", [(1,)]),
    lambda database: database.insert_many("thing", ["id"], [(1,)]),
    lambda database: database.copy_in("thing", ["id"], [(1,)]),
    lambda database: database.transaction(_insert_one),
    lambda database: database.sizes(),
]


async def test_a_stopped_server_is_unavailable_and_found_again(
    fragile: PostgresDatabase, fragile_server: PostgresServer
) -> None:
    """Nothing has to be opened again, and nothing was done meanwhile."""
    fragile_server.stop()
    # Connections that ended while they were idle are noticed without a statement being lost on them.
    for verb in _VERBS:
        with pytest.raises(Unavailable) as caught:
            await verb(fragile)
        assert type(caught.value) is Unavailable
    fragile_server.start()
    await _until_found_again(fragile)
    assert await _ids(fragile) == []
    await fragile.transaction(_insert_one)
    assert await fragile.fetch_hot("SELECT id FROM thing WHERE id = $1", 1) == (1,)


async def test_a_killed_server_loses_nothing_that_was_answered(
    fragile: PostgresDatabase, fragile_server: PostgresServer
) -> None:
    """What a transaction returned from is there after the crash."""
    await fragile.transaction(_insert_one)
    fragile_server.kill()
    with pytest.raises(Unavailable):
        await fragile.fetch_hot("SELECT 1")
    fragile_server.start()
    await _until_found_again(fragile)
    assert await _ids(fragile) == [1]


async def test_a_frozen_server_is_unavailable_to_redirects(
    fragile: PostgresDatabase, fragile_server: PostgresServer
) -> None:
    """A look-up gives up by itself when nothing answers, and works again when something does."""
    fragile_server.pause()
    try:
        with pytest.raises(Unavailable):
            await fragile.fetch_hot("SELECT 1")
    finally:
        fragile_server.resume()
    await _until_found_again(fragile)
    assert await fragile.fetch_hot("SELECT 1") == (1,)


async def test_a_frozen_server_is_left_alone_until_it_is_back(
    fragile: PostgresDatabase, fragile_server: PostgresServer
) -> None:
    """After some have waited in vain nobody waits: reads and writes are refused at once, and then work again."""
    fragile_server.pause()
    try:
        failures = await asyncio.gather(
            *(fragile.fetch_hot("SELECT 1") for _ in range(8)), return_exceptions=True
        )
        assert {type(failure) for failure in failures} == {Unavailable}
        assert not fragile.breaker.is_closed
        refused = fragile.breaker.refused
        for verb in _VERBS:
            with pytest.raises(Unavailable):
                await verb(fragile)
        assert fragile.breaker.refused == refused + len(_VERBS)
    finally:
        fragile_server.resume()
    await _until_found_again(fragile)
    await fragile.transaction(_insert_one)
    assert await _ids(fragile) == [1]


async def _until_found_again(database: PostgresDatabase) -> None:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while not database.breaker.is_closed:  # noqa: ASYNC110 (nobody tells)
            await asyncio.sleep(0.01)


async def test_opening_waits_for_a_server_that_is_being_started(fragile_server: PostgresServer) -> None:
    """Started together, the two find each other."""
    fragile_server.stop()
    opening = asyncio.create_task(open_postgres(fragile_server.url()))
    await asyncio.sleep(0)  # its first attempt is under way before the server is
    fragile_server.start()
    database = await opening
    assert await database.fetch_one("SELECT 1") == (1,)
    await database.close()


@pytest.mark.long
async def test_opening_gives_up_and_names_the_server() -> None:
    """Ten seconds; then a message for people, without the password."""
    with pytest.raises(Unavailable, match=r"127\.0\.0\.1:1/nowhere") as caught:
        await open_postgres("postgresql://someone:hush@127.0.0.1:1/nowhere")
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql://someone:hu/sh@host/name", "postgresql://s:hush@host/?sslmode=hush"]
)
async def test_an_unreadable_url_does_not_show_the_password(url: str) -> None:
    """A password with a slash in it makes the URL unreadable; no piece of it is printed."""
    with pytest.raises(CannotStart, match="percent-encoded") as caught:
        await open_postgres(url)
    assert "hu" not in str(caught.value)


@pytest.mark.parametrize(
    ("part", "replacement", "said"),
    [("/test_", "/absent_", "does not exist"), ("postgres@", "stranger:hush@", "stranger")],
)
async def test_opening_does_not_wait_for_what_waiting_cannot_mend(
    fresh_postgres_url: str, part: str, replacement: str, said: str
) -> None:
    """A wrong user or database stops the start, and the message says which."""
    with pytest.raises(CannotStart, match=said) as caught:
        await open_postgres(fresh_postgres_url.replace(part, replacement))
    assert "hush" not in str(caught.value)


async def test_closing_does_not_wait_for_ever(things: PostgresDatabase, outsider: Connection) -> None:
    """A statement that does not end is cut off."""
    endless = asyncio.create_task(things.fetch_one("SELECT pg_sleep(600)"))
    await _backend_running(outsider, "pg_sleep(600)")
    await things.close()
    with pytest.raises(Unavailable):
        await endless


# Pools


async def test_redirects_have_connections_of_their_own(fresh_postgres_url: str, outsider: Connection) -> None:
    """When everything else is busy, look-ups go on and other statements give up waiting."""
    database = await open_postgres(fresh_postgres_url, connections=1)
    busy = asyncio.create_task(database.fetch_one("SELECT pg_sleep(600)"))
    await _backend_running(outsider, "pg_sleep(600)")
    waiting = asyncio.create_task(database.execute("CREATE TABLE never (id bigint)"))
    for _ in range(100):
        assert await database.fetch_hot("SELECT 1") == (1,)
    with pytest.raises(Unavailable) as caught:
        await waiting
    assert type(caught.value) is Unavailable
    busy.cancel()
    await asyncio.wait([busy])
    assert await database.fetch_one("SELECT to_regclass('never')::text") == (None,)
    await database.close()


async def test_too_many_connections_are_unavailable(
    postgres_server: PostgresServer, fresh_postgres_url: str, outsider: Connection
) -> None:
    """A server that takes no more connections refuses; nothing was done."""
    await outsider.execute("CREATE ROLE few LOGIN CONNECTION LIMIT 2")
    try:
        database = await open_postgres(fresh_postgres_url.replace("postgres@", "few@"))
        busy = asyncio.create_task(database.fetch_one("SELECT pg_sleep(600)"))
        await _backend_running(outsider, "pg_sleep(600)")
        with pytest.raises(Unavailable, match="TooManyConnections"):
            await database.fetch_one("SELECT 1")
        busy.cancel()
        await asyncio.wait([busy])
        await database.close()
    finally:
        await outsider.execute("DROP ROLE few")


async def test_a_read_only_server_is_left_for_the_next_one(
    things: PostgresDatabase, outsider: Connection
) -> None:
    """A primary that was demoted refuses writes; the pool connects anew, so it finds the next primary."""
    name = await outsider.fetchval("SELECT current_database()")
    await outsider.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    await outsider.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'laconic'"
    )
    await _eventually(lambda: _is_refused(things))
    await outsider.execute("SET default_transaction_read_only = off")
    await outsider.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = off")
    await things.transaction(_insert_one)
    assert await _ids(things) == [1]


async def _is_refused(database: PostgresDatabase) -> bool:
    try:
        await database.execute("DELETE FROM thing")
    except Unavailable as error:
        return "ReadOnly" in str(error)
    return False


@pytest.fixture
def silent_port() -> Iterator[int]:
    """As a machine that is gone: whoever connects hears nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


async def test_of_several_hosts_a_silent_one_is_passed_over(
    fragile_server: PostgresServer, silent_port: int
) -> None:
    """It neither refuses nor answers, and must not use up the time in which the next one would."""
    url = fragile_server.url().replace("@", f"@127.0.0.1:{silent_port},")
    database = await open_postgres(url)
    assert await database.fetch_one("SELECT 1") == (1,)
    assert await database.fetch_hot("SELECT 1") == (1,)
    await database.close()


async def test_of_several_hosts_the_one_that_takes_writes_is_found_again(
    fragile_server: PostgresServer,
) -> None:
    """After a failover, without a restart, whichever host stands first."""
    with PostgresServer() as other:
        url = other.url().replace("@", f"@127.0.0.1:{fragile_server.port},")
        async with _connected(fragile_server.url()) as operator:
            await operator.execute("ALTER SYSTEM SET default_transaction_read_only = on")
            await operator.execute("SELECT pg_reload_conf()")
        try:
            database = await open_postgres(url)
            assert await _port_of(database) == other.port
        finally:
            async with _connected(fragile_server.url()) as operator:
                await operator.execute("SET default_transaction_read_only = off")
                await operator.execute("ALTER SYSTEM RESET default_transaction_read_only")
                await operator.execute("SELECT pg_reload_conf()")
        other.kill()
        assert await _port_of_survivor(database) == fragile_server.port
        await database.close()


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def _port_of(database: PostgresDatabase) -> int:
    row = await database.fetch_one("SELECT inet_server_port()")
    assert row is not None
    return int(row[0])


async def _port_of_survivor(database: PostgresDatabase) -> int:
    async with asyncio.timeout(_PATIENCE_SECONDS):
        while True:
            with suppress(Unavailable):
                return await _port_of(database)
            await asyncio.sleep(0.05)


async def test_behind_a_pooler_no_statement_is_kept(fresh_postgres_url: str) -> None:
    """`?pgbouncer=true` is ours and not PostgreSQL's; nothing is prepared for later."""
    database = await open_postgres(f"{fresh_postgres_url}?pgbouncer=true", connections=1)
    for number in range(3):
        assert await database.fetch_one("SELECT $1::bigint", number) == (number,)
    assert await database.fetch_one("SELECT count(*) FROM pg_prepared_statements WHERE name <> ''") == (0,)
    await database.close()


async def test_behind_a_pooler_changes_cannot_be_followed(fresh_postgres_url: str) -> None:
    """LISTEN would be accepted and deaf, so the listener is told that it hears nothing."""
    database = await open_postgres(f"{fresh_postgres_url}?pgbouncer=true")
    follower = Follower()
    task = asyncio.create_task(database.follow_changes(follower))
    await follower.until(lambda: bool(follower.states))
    task.cancel()
    await asyncio.wait([task])
    assert follower.states == ["lost"]
    await database.close()


# What a lost connection means


@pytest.mark.parametrize(
    "run",
    [
        lambda database: database.execute("INSERT INTO thing SELECT 1 FROM pg_sleep(600)"),
        lambda database: database.fetch_one("INSERT INTO thing SELECT 1 FROM pg_sleep(600) RETURNING id"),
        lambda database: database.execute_many("INSERT INTO thing SELECT $1 FROM pg_sleep(600)", [(1,)]),
    ],
    ids=["execute", "fetch_one", "execute_many"],
)
async def test_a_connection_lost_in_a_write_leaves_the_outcome_unknown(
    things: PostgresDatabase, outsider: Connection, run: Callable[[PostgresDatabase], Awaitable[Any]]
) -> None:
    """Outside a transaction a statement commits by itself: nobody can say whether it did."""
    writing = asyncio.ensure_future(run(things))
    await _end_backend(outsider, "pg_sleep(600)")
    with pytest.raises(OutcomeUnknown):
        await writing


async def test_a_read_whose_connection_is_lost_is_asked_again(
    things: PostgresDatabase, outsider: Connection
) -> None:
    """It did nothing, so asking twice does no harm."""
    await outsider.execute("SELECT pg_advisory_lock(7)")
    reading = asyncio.create_task(things.fetch_one("SELECT 'read', pg_advisory_xact_lock(7)"))
    await _end_backend(outsider, "pg_advisory_xact_lock")
    await outsider.execute("SELECT pg_advisory_unlock(7)")
    assert (await reading or ())[0] == "read"


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("disk_full", Unavailable),
        ("query_canceled", Unavailable),
        ("lock_not_available", Unavailable),
        ("unique_violation", Conflict),
        ("admin_shutdown", OutcomeUnknown),
        ("io_error", OutcomeUnknown),
        ("statement_completion_unknown", OutcomeUnknown),
        ("check_violation", asyncpg.CheckViolationError),
    ],
)
async def test_each_condition_has_one_meaning(
    things: PostgresDatabase, condition: str, expected: type[Exception]
) -> None:
    """What the server says decides between: nothing done, unknown, conflict, a fault of ours."""
    with pytest.raises(expected) as caught:
        await things.execute(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{condition}'; END $$")
    assert type(caught.value) is expected


async def test_a_connection_lost_before_the_commit_did_nothing(
    things: PostgresDatabase, outsider: Connection
) -> None:
    """Whatever the transaction had written is gone, and the error says so, also when `work` goes on."""
    attempts = []

    async def work(statements: Statements) -> None:
        attempts.append(1)
        await _insert_one(statements)
        with pytest.raises(Unavailable):
            await statements.fetch_one("SELECT pg_sleep(600)")
        await statements.execute("INSERT INTO thing (id) VALUES (2)")

    writing = asyncio.create_task(things.transaction(work))
    await _end_backend(outsider, "pg_sleep(600)")
    with pytest.raises(Unavailable) as caught:
        await writing
    assert type(caught.value) is Unavailable
    assert attempts == [1]
    assert await _ids(things) == []


async def test_a_connection_lost_during_the_commit_leaves_the_outcome_unknown(
    things: PostgresDatabase, outsider: Connection
) -> None:
    """Here the server had not committed yet; the client cannot know."""
    await outsider.execute(
        "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN PERFORM pg_sleep(600); RETURN NULL; END $$;"
        "CREATE CONSTRAINT TRIGGER linger AFTER INSERT ON thing DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION linger()"
    )
    writing = asyncio.create_task(things.transaction(_insert_one))
    await _end_backend(outsider, "COMMIT")
    with pytest.raises(OutcomeUnknown):
        await writing
    assert await _ids(things) == []


@asynccontextmanager
async def _proxy_that_swallows_commits(server: PostgresServer) -> AsyncIterator[int]:
    """Passes everything on, until a COMMIT: that reaches the server, whose answer reaches nobody."""

    async def serve(client_in: asyncio.StreamReader, client_out: asyncio.StreamWriter) -> None:
        server_in, server_out = await asyncio.open_connection("127.0.0.1", server.port)
        is_committing = asyncio.Event()

        async def pass_on() -> None:
            while data := await client_in.read(65536):
                if b"COMMIT" in data:
                    is_committing.set()
                server_out.write(data)

        async def pass_back() -> None:
            while data := await server_in.read(65536):
                if is_committing.is_set():
                    break
                client_out.write(data)
            client_out.transport.abort()

        with suppress(OSError):
            await asyncio.gather(pass_on(), pass_back())
        server_out.transport.abort()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield listener.sockets[0].getsockname()[1]
    listener.close()


async def test_a_commit_whose_answer_was_lost_has_an_unknown_outcome(
    things: PostgresDatabase, postgres_server: PostgresServer, fresh_postgres_url: str
) -> None:
    """Here the server had committed; the client cannot know."""
    async with _proxy_that_swallows_commits(postgres_server) as port:
        through = await open_postgres(fresh_postgres_url.replace(str(postgres_server.port), str(port)))
        with pytest.raises(OutcomeUnknown):
            await through.transaction(_insert_one)
        assert await through.fetch_one("SELECT id FROM thing") == (1,)
        await through.close()


async def test_a_constraint_checked_at_the_commit_is_a_conflict(things: PostgresDatabase) -> None:
    """The server answered: the outcome is known."""
    await things.execute("ALTER TABLE thing ADD CONSTRAINT late UNIQUE (name) DEFERRABLE INITIALLY DEFERRED")

    async def work(statements: Statements) -> None:
        await statements.execute("INSERT INTO thing VALUES (1, 'same'), (2, 'same')")

    with pytest.raises(Conflict) as caught:
        await things.transaction(work)
    assert caught.value.constraint == "late"
    assert await _ids(things) == []


@pytest.mark.parametrize("goes_on", [False, True])
async def test_a_failure_that_work_hides_still_fails_the_transaction(
    things: PostgresDatabase, goes_on: bool
) -> None:
    """PostgreSQL answers such a COMMIT with ROLLBACK, without an error; it must not pass for success."""
    await things.execute("INSERT INTO thing (id) VALUES (1)")

    async def work(statements: Statements) -> str:
        await statements.execute("INSERT INTO thing (id) VALUES (2)")
        with suppress(Conflict):
            await statements.execute("INSERT INTO thing (id) VALUES (1)")
        if goes_on:
            await statements.execute("INSERT INTO thing (id) VALUES (3)")
        return "done"

    with pytest.raises(Conflict):
        await things.transaction(work)
    assert await _ids(things) == [1]


async def test_a_cancelled_transaction_is_undone_and_its_connection_used_again(
    fresh_postgres_url: str,
) -> None:
    """A caller that goes away leaves no open transaction in the pool."""
    database = await open_postgres(fresh_postgres_url, connections=1)
    await _make_thing(database)
    is_inside = asyncio.Event()

    async def work(statements: Statements) -> None:
        await _insert_one(statements)
        is_inside.set()
        await statements.fetch_one("SELECT pg_sleep(600)")

    task = asyncio.create_task(database.transaction(work))
    await is_inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _ids(database) == []
    await database.close()


async def test_programming_errors_stay_what_they_are(things: PostgresDatabase) -> None:
    """A missing table is nobody's outage."""
    with pytest.raises(asyncpg.UndefinedTableError):
        await things.fetch_one("SELECT 1 FROM absent")
    with pytest.raises(asyncpg.UndefinedTableError):
        await things.insert_many("absent", ["id"], [(1,)])
    with pytest.raises(asyncpg.DataError):
        await things.execute("INSERT INTO thing (id) VALUES ($1)", "not a number")


# Trying again


async def test_of_two_transactions_in_a_deadlock_both_succeed(
    things: PostgresDatabase, outsider: Connection
) -> None:
    """The one that PostgreSQL sacrifices is run again."""
    await things.execute("INSERT INTO thing (id) VALUES (1), (2)")
    have_first = {1: asyncio.Event(), 2: asyncio.Event()}
    attempts = []

    def crossing(first: int, second: int) -> Callable[[Statements], Awaitable[None]]:
        async def work(statements: Statements) -> None:
            attempts.append(first)
            await statements.execute("UPDATE thing SET name = 'x' WHERE id = $1", first)
            have_first[first].set()
            await have_first[second].wait()
            await statements.execute("UPDATE thing SET name = 'x' WHERE id = $1", second)

        return work

    await asyncio.gather(things.transaction(crossing(1, 2)), things.transaction(crossing(2, 1)))
    assert len(attempts) > 2
    assert await things.fetch_all("SELECT name FROM thing") == [("x",), ("x",)]


async def test_a_transaction_that_never_fits_is_given_up(things: PostgresDatabase) -> None:
    """Three attempts, then unavailable, and nothing was done."""
    attempts = []

    async def work(statements: Statements) -> None:
        attempts.append(await _ids(statements))
        await _insert_one(statements)
        await statements.execute(
            "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'serialization_failure'; END $$"
        )

    with pytest.raises(Unavailable) as caught:
        await things.transaction(work)
    assert type(caught.value) is Unavailable
    assert attempts == [[], [], []]
    assert await _ids(things) == []


async def test_a_migration_under_a_running_worker_spoils_no_transaction(
    fresh_postgres_url: str, outsider: Connection
) -> None:
    """A prepared statement whose table has changed is prepared again."""
    database = await open_postgres(fresh_postgres_url, connections=1)
    await _make_thing(database)

    async def read(statements: Statements) -> int:
        rows = await statements.fetch_all("SELECT * FROM thing WHERE id >= $1", 0)
        return len(rows[0])

    await database.execute("INSERT INTO thing (id) VALUES (1)")
    assert await database.transaction(read) == 2
    await outsider.execute("ALTER TABLE thing ADD COLUMN more text")
    assert await database.transaction(read) == 3
    await database.close()


async def test_a_setting_ends_with_its_transaction(fresh_postgres_url: str) -> None:
    """Connections are handed on as they are: what is set for one workspace must not reach the next."""
    database = await open_postgres(fresh_postgres_url, connections=1)

    async def work(statements: Statements) -> Any:
        await statements.fetch_one("SELECT set_config('app.current_workspace_id', '7', true)")
        return await statements.fetch_one("SELECT current_setting('app.current_workspace_id', true)")

    assert await database.transaction(work) == ("7",)
    row = await database.fetch_one("SELECT NULLIF(current_setting('app.current_workspace_id', true), '')")
    assert row == (None,)
    await database.close()


# Values


async def test_native_types_take_plain_values(things: PostgresDatabase) -> None:
    """Enums, text of limited length, networks and JSON go in by `insert_many` and `copy_in` alike."""
    await things.execute("CREATE TYPE mood AS ENUM ('fine', 'so-so')")
    await things.execute(
        "CREATE TABLE native (id bigint PRIMARY KEY, mood mood, code varchar(20), network inet, data jsonb,"
        ' "order" smallint, dropped text)'
    )
    await things.execute("ALTER TABLE native DROP COLUMN dropped")
    columns = ["id", "mood", "code", "network", "data"]
    await things.insert_many("native", columns, [(1, "so-so", "abc", "192.0.2.0/24", '{"a": 1}')])
    await things.copy_in("native", columns, [(2, "fine", "def", "2001:db8::/48", "[]")])
    assert await things.fetch_all("SELECT id, mood, code, network, data FROM native ORDER BY id") == [
        (1, "so-so", "abc", "192.0.2.0/24", '{"a": 1}'),
        (2, "fine", "def", "2001:db8::/48", "[]"),
    ]


async def test_infinity_is_the_last_moment(things: PostgresDatabase) -> None:
    """People who write `infinity` with their own tools do not break a read."""
    row = await things.fetch_one("SELECT 'infinity'::timestamptz, '-infinity'::timestamptz")
    assert row is not None
    assert row[0] == LAST_MOMENT
    assert row[1] < 0


async def test_an_average_is_a_number(things: PostgresDatabase) -> None:
    """PostgreSQL's numeric is read as int or float."""
    assert await things.fetch_one("SELECT avg(n), sum(n), -sum(n) FROM generate_series(1, 2) AS n") == (
        1.5,
        3,
        -3,
    )


# Search


@given(words=st.lists(st.text(st.characters(exclude_categories=[])), max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
async def test_no_words_make_a_syntax_error(things: PostgresDatabase, words: list[str]) -> None:
    """Quotes, backslashes, operators, U+0000 and lone surrogates are characters like others."""
    _, argument = things.text_search(words, 1)
    assert await things.fetch_one("SELECT to_tsquery('simple', $1) IS NOT NULL", argument) == (True,)


@given(
    word=st.text(st.characters(categories=["L"], max_codepoint=0x2000), min_size=1, max_size=30),
    cut=st.integers(1),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
async def test_every_word_is_found_by_its_beginning(things: PostgresDatabase, word: str, cut: int) -> None:
    """Whatever alphabet it is in."""
    condition, argument = things.text_search([word[:cut]], 2)
    row = await things.fetch_one(
        f"SELECT {condition} FROM (VALUES ($1::text, NULL::text)) AS link (title, description)",
        f"before {word} after",
        argument,
    )
    assert row == (True,)


async def test_search_uses_its_index(fresh_postgres_url: str) -> None:
    """The condition is worded as the index is, or PostgreSQL would read every link."""
    await migrate_postgres(fresh_postgres_url)
    database = await open_postgres(fresh_postgres_url)
    condition, argument = database.text_search(["spring", "sale"], 1)

    async def explain(statements: Statements) -> str:
        await statements.execute("SET LOCAL enable_seqscan = off")
        rows = await statements.fetch_all(f"EXPLAIN SELECT id FROM short_link WHERE {condition}", argument)
        return "\n".join(row[0] for row in rows)

    assert "short_link_text_idx" in await database.transaction(explain)
    await database.close()


async def test_look_ups_together_use_the_index_of_one(fresh_postgres_url: str) -> None:
    """A probe for each by domain and code: anything else would read every link for a handful of codes."""
    await migrate_postgres(fresh_postgres_url)
    database = await open_postgres(fresh_postgres_url)
    sql = for_each("SELECT id FROM short_link WHERE domain_id = $1 AND short_code = $2", (1, "code"))

    async def explain(statements: Statements) -> str:
        await statements.execute("SET LOCAL enable_seqscan = off")
        rows = await statements.fetch_all(f"EXPLAIN {sql}", [1, 1], ["code", "another"])
        return "\n".join(row[0] for row in rows)

    plan = await database.transaction(explain)
    assert "Index Scan using short_link_code_key" in plan
    assert "(domain_id = wanted.given1) AND ((short_code)::text = wanted.given2)" in plan
    await database.close()


# Following changes


@pytest.fixture
async def follower(fragile: PostgresDatabase) -> AsyncIterator[Follower]:
    follower = Follower()
    task = asyncio.create_task(fragile.follow_changes(follower))
    await follower.until_state("following")
    yield follower
    task.cancel()
    await asyncio.wait([task])


async def _notify(database: PostgresDatabase, payload: str) -> None:
    await database.fetch_one("SELECT pg_notify('laconic_change', $1)", payload)


async def test_a_lost_listener_says_so_and_listens_again(
    fragile: PostgresDatabase, follower: Follower
) -> None:
    """Between `lost` and `following` changes may be missed; after it none is."""
    await fragile.fetch_all(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
    )
    await follower.until(lambda: follower.states == ["following", "lost", "following"])
    await _notify(fragile, "1 again 2\n1 more 3")
    await follower.until(lambda: follower.changes == [(1, "again", 2), (1, "more", 3)])


async def test_a_listener_outlives_a_restart_of_the_server(
    fragile: PostgresDatabase, fragile_server: PostgresServer, follower: Follower
) -> None:
    """However many attempts it takes."""
    fragile_server.stop()
    await follower.until(lambda: follower.states.count("lost") >= 3)
    fragile_server.start()
    await follower.until_state("following")
    await _notify(fragile, "1 again 2")
    await follower.until(lambda: follower.changes == [(1, "again", 2)])


async def test_a_silent_server_is_noticed(
    fragile: PostgresDatabase, fragile_server: PostgresServer, follower: Follower
) -> None:
    """Nothing was closed and nothing answers: the listener asks, and does not trust silence."""
    fragile_server.pause()
    try:
        await follower.until_state("lost")
    finally:
        fragile_server.resume()
    await follower.until_state("following")
    await _notify(fragile, "1 again 2")
    await follower.until(lambda: follower.changes == [(1, "again", 2)])


async def test_listening_begins_when_the_server_does(
    fragile: PostgresDatabase, fragile_server: PostgresServer
) -> None:
    """A server that is down at the start is waited for, and `lost` is said meanwhile."""
    fragile_server.stop()
    follower = Follower()
    task = asyncio.create_task(fragile.follow_changes(follower))
    await follower.until_state("lost")
    fragile_server.start()
    await follower.until_state("following")
    task.cancel()
    await asyncio.wait([task])


@pytest.mark.parametrize("message", ["", "rubbish", "#1", "#a-b", "1 code", "1 code x", "1  code 2", "a\nb"])
async def test_a_stranger_on_the_channel_does_no_harm(
    fragile: PostgresDatabase, follower: Follower, message: str
) -> None:
    """A message that cannot be read counts as a gap; the next one is heard."""
    await _notify(fragile, message)
    if message:
        await follower.until(lambda: follower.states == ["following", "lost", "following"])
    await _notify(fragile, "1 again 2")
    await follower.until(lambda: follower.changes == [(1, "again", 2)])


# Migrations


_MIGRATE = """
import asyncio, sys
from laconic.storage.postgres_session import migrate_postgres
print(*asyncio.run(migrate_postgres(sys.argv[1])))
"""


def _start_migration(url: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, "-c", _MIGRATE, url], stdout=subprocess.PIPE, text=True)


def _known() -> list[str]:
    return [migration.name for migration in read_migrations("postgres")]


async def test_four_processes_migrate_at_once(fresh_postgres_url: str) -> None:
    """Each migration is run once; whoever comes later finds the work done."""
    processes = [_start_migration(fresh_postgres_url) for _ in range(4)]
    outputs = [(await asyncio.to_thread(process.communicate))[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert " ".join(outputs).split() == _known()
    assert await postgres_schema_version(fresh_postgres_url) == len(_known())


@pytest.mark.parametrize("object_name", ["workspace", "kgs_keys", "v_daily_click_stats"])
async def test_a_migration_that_was_killed_is_repaired_by_the_next(
    fresh_postgres_url: str, outsider: Connection, object_name: str
) -> None:
    """Killed in the middle of a statement, early or late, it leaves whole migrations only."""
    blocker = outsider.transaction()
    await blocker.start()
    await outsider.execute(f"CREATE TABLE {object_name} (id bigint)")  # whoever makes the same name waits
    watcher = await asyncpg.connect(fresh_postgres_url)
    process = _start_migration(fresh_postgres_url)
    await _backend_running(watcher, "CREATE")
    await watcher.close()
    process.kill()
    await asyncio.to_thread(process.communicate)
    await blocker.rollback()
    await migrate_postgres(fresh_postgres_url)
    assert await postgres_schema_version(fresh_postgres_url) == len(_known())
    names = await outsider.fetch("SELECT name FROM schema_version ORDER BY number")
    assert [row[0] for row in names] == _known()


async def test_migrating_twice_does_nothing_the_second_time(fresh_postgres_url: str) -> None:
    """The names of what was applied, then none."""
    assert await postgres_schema_version(fresh_postgres_url) == 0
    assert await migrate_postgres(fresh_postgres_url) == _known()
    assert await migrate_postgres(fresh_postgres_url) == []


async def test_a_database_of_a_later_release_is_refused(
    fresh_postgres_url: str, outsider: Connection
) -> None:
    """Nothing is changed in it."""
    await migrate_postgres(fresh_postgres_url)
    await outsider.execute("INSERT INTO schema_version (number, name) VALUES (9999, 'of the future')")
    with pytest.raises(DatabaseTooNew):
        await migrate_postgres(fresh_postgres_url)
    assert await postgres_schema_version(fresh_postgres_url) == 9999


async def test_an_owner_who_is_no_superuser_can_migrate(
    fresh_postgres_url: str, outsider: Connection
) -> None:
    """Hosted databases give nobody more."""
    name = await outsider.fetchval("SELECT current_database()")
    await outsider.execute(f"CREATE ROLE owner LOGIN; ALTER DATABASE {name} OWNER TO owner")
    try:
        assert await migrate_postgres(fresh_postgres_url.replace("postgres@", "owner@")) == _known()
    finally:
        await outsider.execute("REASSIGN OWNED BY owner TO postgres; DROP OWNED BY owner; DROP ROLE owner")


async def test_a_large_table_is_estimated(fresh_postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What analyze has left says it, also of an index over a part; a small table is to be counted."""
    monkeypatch.setattr(postgres_module, "_WORTH_ESTIMATING", 1_000)
    database = await open_postgres(fresh_postgres_url)
    try:
        await database.execute("CREATE TABLE numbers AS SELECT n FROM generate_series(1, 5000) n")
        await database.execute("CREATE INDEX odd_idx ON numbers (n) WHERE n % 2 = 1")
        await database.execute("CREATE INDEX few_idx ON numbers (n) WHERE n < 10")
        await database.execute("ANALYZE numbers")
        assert await database.estimate_rows("numbers") == 5_000
        assert await database.estimate_rows("odd_idx") == pytest.approx(2_500, rel=0.1)
        assert await database.estimate_rows("few_idx") is None
        assert await database.estimate_rows("nothere") is None
    finally:
        await database.close()
