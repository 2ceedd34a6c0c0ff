"""What the PostgreSQL schema does by itself: constraints, triggers, functions, partitions, policies, views."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from typing import Any

import apsw
import asyncpg
import pytest

from laconic.clock import from_datetime
from laconic.storage.migrate import read_migrations
from tests.storage.schema.conftest import OWNER, Connect

_NOW = datetime.now(UTC)
_HOUR = timedelta(hours=1)
_CHANNEL = "laconic_change"


async def _insert(connection: asyncpg.Connection, table: str, **row: Any) -> None:
    marks = ", ".join(f"${number}" for number in range(1, len(row) + 1))
    await connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", *row.values())


async def _insert_link(connection: asyncpg.Connection, **fields: Any) -> None:
    link = {
        "id": 7,
        "workspace_id": 1,
        "domain_id": 1,
        "short_code": "abc",
        "original_url": "https://example.com/",
    }
    await _insert(connection, "short_link", **link | fields)


async def _insert_click(connection: asyncpg.Connection, **fields: Any) -> None:
    click = {"id": 1, "short_link_id": 7, "workspace_id": 1, "clicked_at": _NOW}
    await _insert(connection, "click_event", **click | fields)


async def _column(connection: asyncpg.Connection, sql: str, *args: Any) -> list[Any]:
    return [row[0] for row in await connection.fetch(sql, *args)]


async def test_migrations_leave_nothing_when_rolled_back(connect_as: Connect) -> None:
    """A kill in the middle of a migration leaves no half: no file ends its transaction by itself."""
    connection = await connect_as(OWNER)
    transaction = connection.transaction()
    await transaction.start()
    for migration in read_migrations("postgres"):
        await connection.execute(migration.sql)
    assert connection.is_in_transaction()
    await transaction.rollback()
    left = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    assert await _column(connection, left) == []


async def test_sqlite_has_the_same_tables_and_columns(
    owner: asyncpg.Connection, open_sqlite_file: Callable[[str], apsw.Connection]
) -> None:
    """Statements are written once, for both engines. (How far one engine's index has come is its own affair.)"""
    postgres = await owner.fetch(
        "SELECT relname, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition"
        " AND attnum > 0"
    )
    sqlite: set[tuple[Any, ...]] = set()
    for folder in ("sqlite", "sqlite_clicks", "sqlite_events"):
        with closing(open_sqlite_file(folder)) as connection:
            sqlite |= set(
                connection.execute(
                    "SELECT t.name, c.name FROM pragma_table_list AS t, pragma_table_info(t.name) AS c"
                    " WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%'"
                    " AND t.name <> 'search_position'"
                ).fetchall()
            )
    assert {(row[0], row[1]) for row in postgres} == sqlite


async def test_every_table_and_column_has_a_comment(owner: asyncpg.Connection) -> None:
    """People query the schema with their own tools, which show the comments."""
    silent = await _column(
        owner,
        "SELECT concat_ws('.', relname, attname) FROM pg_class"
        " LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped"
        " WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition"
        " AND (obj_description(pg_class.oid, 'pg_class') IS NULL OR col_description(attrelid, attnum) IS NULL)",
    )
    assert silent == []


async def test_a_new_database_has_the_default_workspace_and_domain(owner: asyncpg.Connection) -> None:
    """The first link needs no set-up."""
    workspaces = await owner.fetch("SELECT id, name, slug, settings, is_deleted FROM workspace")
    assert [tuple(row) for row in workspaces] == [(1, "Default", "default", "{}", False)]
    domains = await owner.fetch("SELECT id, workspace_id, host, is_default, verified_at <= now() FROM domain")
    assert [tuple(row) for row in domains] == [(1, None, "localhost", True, True)]


async def test_a_code_is_given_once_even_after_deletion(owner: asyncpg.Connection) -> None:
    """The unique index counts gone links too (P2)."""
    await _insert_link(owner)
    await owner.execute(
        "UPDATE short_link SET is_deleted = true, gone_reason = 'deleted', original_url = NULL"
    )
    with pytest.raises(asyncpg.UniqueViolationError) as refusal:
        await _insert_link(owner, id=8)
    assert refusal.value.constraint_name == "short_link_code_key"


@pytest.mark.parametrize("removal", ["DELETE FROM short_link", "TRUNCATE short_link"])
async def test_a_link_row_cannot_be_removed(owner: asyncpg.Connection, removal: str) -> None:
    """A removed row would free its code (P2)."""
    await _insert_link(owner)
    with pytest.raises(asyncpg.RestrictViolationError, match="never removed"):
        await owner.execute(removal)
    assert await owner.fetchval("SELECT count(*) FROM short_link") == 1


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"short_code": ""}, "short_link_code_check"),
        ({"short_code": "a b"}, "short_link_code_check"),
        ({"short_code": "ä"}, "short_link_code_check"),
        ({"short_code": "abc\n"}, "short_link_code_check"),
        ({"original_url": None}, "short_link_url_check"),
        ({"redirect_status": 303}, "short_link_status_check"),
        ({"version": 0}, "short_link_version_check"),
        ({"gone_reason": "expired"}, "short_link_gone_check"),
        ({"normalized_digest": b"d"}, "short_link_normalized_check"),
        ({"workspace_id": 99}, "short_link_workspace_fkey"),
        ({"domain_id": 99}, "short_link_domain_fkey"),
        ({"created_by": 99}, "short_link_created_by_fkey"),
    ],
    ids=str,
)
async def test_a_link_that_makes_no_sense_is_refused(
    owner: asyncpg.Connection, fields: dict[str, Any], constraint: str
) -> None:
    """What the program should never write, the database does not take, and says which rule it broke."""
    with pytest.raises(asyncpg.IntegrityConstraintViolationError) as refusal:
        await _insert_link(owner, **fields)
    assert refusal.value.constraint_name == constraint


async def test_only_live_links_are_reused(owner: asyncpg.Connection) -> None:
    """One live link for each normalised URL and workspace; a gone one makes room."""
    reuse = {"normalized_url": "https://example.com", "normalized_digest": b"d" * 32}
    await _insert_link(owner, **reuse)
    with pytest.raises(asyncpg.UniqueViolationError) as refusal:
        await _insert_link(owner, id=8, short_code="def", **reuse)
    assert refusal.value.constraint_name == "short_link_reuse_key"
    await owner.execute("UPDATE short_link SET is_active = false")
    await _insert_link(owner, id=8, short_code="def", **reuse)


async def test_an_update_moves_updated_at_unless_it_says_when(owner: asyncpg.Connection) -> None:
    """The program passes its own clock; the trigger serves people who edit by hand."""
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    await _insert_link(owner, updated_at=long_ago)
    await owner.execute("UPDATE short_link SET title = 'by hand'")
    assert await owner.fetchval("SELECT updated_at FROM short_link") > _NOW - _HOUR
    await owner.execute("UPDATE short_link SET title = 'by program', updated_at = $1", long_ago)
    await owner.execute("UPDATE short_link SET normalized_digest = NULL")
    assert await owner.fetchval("SELECT updated_at FROM short_link") == long_ago
    for table in ("workspace", "users"):
        assert f"{table}_touch" in await _column(
            owner, "SELECT tgname FROM pg_trigger WHERE tgrelid = $1::text::regclass", table
        )


async def test_text_search_uses_its_index(owner: asyncpg.Connection) -> None:
    """Words are found by their beginning; the partial index serves a condition that names its predicate."""
    await _insert_link(owner, id=1, short_code="a", title="Spring sale")
    await _insert_link(owner, id=2, short_code="b", description="the SPRINGS of Bath")
    await _insert_link(owner, id=3, short_code="c")
    search = (
        "SELECT id FROM short_link WHERE (title IS NOT NULL OR description IS NOT NULL)"
        " AND to_tsvector('simple', coalesce(title, '') || ' ' || coalesce(description, ''))"
        " @@ to_tsquery('simple', 'spring:*')"
    )
    assert sorted(await _column(owner, search)) == [1, 2]
    await owner.execute("SET enable_seqscan = off")
    assert "short_link_text_idx" in "\n".join(await _column(owner, f"EXPLAIN {search}"))


class _Listener:
    """A session that keeps what it hears."""

    def __init__(self) -> None:
        self._heard: asyncio.Queue[str] = asyncio.Queue()
        self.times: list[int] = []

    async def listen(self, connection: asyncpg.Connection) -> None:
        await connection.add_listener(_CHANNEL, lambda *message: self._heard.put_nowait(str(message[-1])))

    async def next(self) -> str:
        """The next message without the times of its changes, which are kept in `times`."""
        async with asyncio.timeout(10):
            message = await self._heard.get()
        if message.startswith("#"):
            return message
        lines = [line.rpartition(" ") for line in message.split("\n")]
        self.times = [int(time) for _, _, time in lines]
        return "\n".join(line for line, _, _ in lines)


@pytest.fixture
async def listener(owner: asyncpg.Connection, connect_as: Connect) -> _Listener:
    listener = _Listener()
    await listener.listen(await connect_as(OWNER))
    return listener


async def test_a_change_is_told_to_listeners(owner: asyncpg.Connection, listener: _Listener) -> None:
    """One message for each statement, a line for each changed link, in the order they were written."""
    await owner.execute(
        "INSERT INTO link_change (domain_id, short_code, version) VALUES (1, 'abc', 2), (12, 'D-_f', 345)"
    )
    await owner.execute("INSERT INTO link_change (domain_id, short_code, version) VALUES (1, 'ghi', 3)")
    assert await listener.next() == "1 abc 2\n12 D-_f 345"
    assert await listener.next() == "1 ghi 3"
    rows = await owner.fetch("SELECT changed_at FROM link_change WHERE short_code = 'ghi'")
    assert listener.times == [from_datetime(row["changed_at"]) for row in rows]


async def test_a_bulk_change_is_told_as_a_range(owner: asyncpg.Connection, listener: _Listener) -> None:
    """What does not fit in a payload is told by its first and last row, still in one message."""
    insert = (
        "INSERT INTO link_change (domain_id, short_code, version)"
        " SELECT 1, lpad(n::text, 20, 'x'), 2 FROM generate_series(1, $1::int) AS n RETURNING seq"
    )
    # A line has 24 bytes, a time of 17 and its line break: 178 of them are within the 7,500 allowed.
    await owner.fetch(insert, 178)
    assert len((await listener.next()).splitlines()) == 178
    rows = await _column(owner, insert, 179)
    assert await listener.next() == f"#{rows[0]}-{rows[-1]}"
    assert rows[-1] - rows[0] == 178


async def test_nothing_is_told_of_what_did_not_happen(owner: asyncpg.Connection, listener: _Listener) -> None:
    """Neither a statement that adds no row nor a transaction that is undone sends a message."""
    insert = "INSERT INTO link_change (domain_id, short_code, version)"
    await owner.execute(f"{insert} SELECT 1, 'none', 1 WHERE false")
    transaction = owner.transaction()
    await transaction.start()
    await owner.execute(f"{insert} VALUES (1, 'undone', 1)")
    await transaction.rollback()
    await owner.execute(f"{insert} VALUES (1, 'done', 1)")
    assert await listener.next() == "1 done 1"


async def test_cleanup_retires_expired_links_and_tells_the_caches(
    owner: asyncpg.Connection, listener: _Listener
) -> None:
    """Only live links whose time is over are touched; each gets a new version and a change row."""
    await _insert_link(owner, id=1, short_code="over", expires_at=_NOW - _HOUR, version=4)
    await _insert_link(owner, id=2, short_code="also", expires_at=_NOW - _HOUR)
    await _insert_link(owner, id=3, short_code="later", expires_at=_NOW + _HOUR)
    await _insert_link(owner, id=4, short_code="never")
    gone = {"expires_at": _NOW - _HOUR, "is_deleted": True, "gone_reason": "deleted"}
    await _insert_link(owner, id=5, short_code="gone", **gone)

    answer = await owner.fetchrow("SELECT * FROM cleanup_expired_links()")
    assert answer is not None
    assert dict(answer) == {"deactivated_count": 2}
    links = await owner.fetch("SELECT id, is_active, gone_reason, version FROM short_link ORDER BY id")
    assert [tuple(link) for link in links] == [
        (1, False, "expired", 5),
        (2, False, "expired", 2),
        (3, True, None, 1),
        (4, True, None, 1),
        (5, True, "deleted", 1),
    ]
    assert sorted((await listener.next()).splitlines()) == ["1 also 2", "1 over 5"]
    assert await owner.fetchval("SELECT cleanup_expired_links()") == 0


async def test_cleanup_removes_expired_api_keys(owner: asyncpg.Connection) -> None:
    """Keys whose time is over go for good; the others stay."""
    for number, expires_at in enumerate([_NOW - _HOUR, _NOW + _HOUR, None], start=1):
        key = {"id": number, "workspace_id": 1, "key_prefix": f"lac_live_{number}", "name": "key"}
        await _insert(owner, "api_key", **key, key_hash=bytes([number]) * 32, expires_at=expires_at)
    answer = await owner.fetchrow("SELECT * FROM cleanup_expired_api_keys()")
    assert answer is not None
    assert dict(answer) == {"deleted_count": 1}
    assert await _column(owner, "SELECT id FROM api_key ORDER BY id") == [2, 3]


async def _partitions(connection: asyncpg.Connection) -> dict[str, str]:
    rows = await connection.fetch(
        "SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class"
        " WHERE relispartition AND relkind = 'r' ORDER BY relname"
    )
    return {row[0]: row[1] for row in rows}


async def test_migrations_make_partitions_for_three_months(owner: asyncpg.Connection) -> None:
    """This month and the two after it, and a default for everything else."""
    months = [_NOW.year * 12 + _NOW.month - 1 + ahead for ahead in range(3)]
    names = [f"click_event_{month // 12}_{month % 12 + 1:02}" for month in months]
    assert list(await _partitions(owner)) == [*names, "click_event_default"]


@pytest.mark.parametrize("time_zone", ["UTC", "America/Los_Angeles", "Pacific/Auckland"])
async def test_partitions_at_the_turn_of_the_year(owner: asyncpg.Connection, time_zone: str) -> None:
    """Months are those of UTC, whatever the session's time zone, and December leads to January."""
    await owner.execute(f"SET TIME ZONE '{time_zone}'")
    assert await owner.fetchval("SELECT ensure_click_partitions($1, 4)", date(2030, 11, 30)) == 4
    await owner.execute("SET TIME ZONE 'UTC'")
    made = {name: bound for name, bound in (await _partitions(owner)).items() if "_203" in name}
    assert made == {
        f"click_event_{name}": f"FOR VALUES FROM ('{first} 00:00:00+00') TO ('{last} 00:00:00+00')"
        for name, first, last in [
            ("2030_11", "2030-11-01", "2030-12-01"),
            ("2030_12", "2030-12-01", "2031-01-01"),
            ("2031_01", "2031-01-01", "2031-02-01"),
            ("2031_02", "2031-02-01", "2031-03-01"),
        ]
    }
    midnight = datetime(2031, 1, 1, tzinfo=UTC)
    await _insert_click(owner, id=1, clicked_at=midnight - timedelta(microseconds=1))
    await _insert_click(owner, id=2, clicked_at=midnight)
    places = await _column(owner, "SELECT tableoid::regclass::text FROM click_event ORDER BY id")
    assert places == ["click_event_2030_12", "click_event_2031_01"]


async def test_making_partitions_again_changes_nothing(owner: asyncpg.Connection) -> None:
    """Upkeep asks every day."""
    assert await owner.fetchval("SELECT ensure_click_partitions($1, 2)", date(2030, 12, 1)) == 2
    assert await owner.fetchval("SELECT ensure_click_partitions($1, 2)", date(2030, 12, 31)) == 0
    assert await owner.fetchval("SELECT ensure_click_partitions($1, 0)", date(2031, 6, 1)) == 0


async def test_clicks_of_a_month_without_partition_are_kept_and_moved(owner: asyncpg.Connection) -> None:
    """No insert fails for the lack of a partition, and the rows move when it is made; the others stay."""
    months = {1: datetime(2031, 3, 31, 23, tzinfo=UTC), 2: datetime(2031, 4, 1, tzinfo=UTC)}
    for click, clicked_at in months.items():
        await _insert_click(owner, id=click, clicked_at=clicked_at, country="DE")
    assert await _column(owner, "SELECT id FROM click_event_default ORDER BY id") == [1, 2]
    assert await owner.fetchval("SELECT ensure_click_partitions($1, 1)", date(2031, 3, 1)) == 1
    assert await _column(owner, "SELECT id FROM click_event_2031_03") == [1]
    assert await _column(owner, "SELECT id FROM click_event_default") == [2]
    assert await _column(owner, "SELECT country FROM click_event ORDER BY id") == ["DE", "DE"]


async def test_sessions_make_partitions_at_the_same_time(
    owner: asyncpg.Connection, connect_as: Connect
) -> None:
    """Whoever comes second waits and finds the work done, while clicks go on coming in."""
    sessions = [await connect_as(OWNER) for _ in range(4)]
    writer = await connect_as(OWNER)
    clicked_at = [datetime(2030 + number // 12, number % 12 + 1, 15, tzinfo=UTC) for number in range(24)]

    async def write() -> None:
        for number in range(240):
            await _insert_click(writer, id=number, clicked_at=clicked_at[number % 24])

    make = "SELECT ensure_click_partitions($1, 24)"
    made, _ = await asyncio.gather(
        asyncio.gather(*(session.fetchval(make, date(2030, 1, 1)) for session in sessions)), write()
    )
    assert sum(made) == 24
    assert await owner.fetchval("SELECT count(*) FROM click_event") == 240
    assert await owner.fetchval("SELECT count(*) FROM click_event_default") == 0


async def test_every_table_of_a_tenant_has_a_policy(owner: asyncpg.Connection) -> None:
    """A new table with a workspace_id must not be forgotten (P8); partitions are closed altogether."""
    open_tables = await _column(
        owner,
        "SELECT relname FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'workspace_id'"
        " WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND (NOT relrowsecurity"
        " OR relispartition = EXISTS (SELECT FROM pg_policy WHERE polrelid = pg_class.oid))",
    )
    assert open_tables == []


async def _act_for(tenant: asyncpg.Connection, workspace_id: int | None) -> None:
    value = "" if workspace_id is None else str(workspace_id)
    await tenant.execute("SELECT set_config('app.current_workspace_id', $1, false)", value)


async def _two_tenants(owner: asyncpg.Connection) -> None:
    """A row of everything for workspaces 1 and 2."""
    await _insert(owner, "workspace", id=2, name="Other", slug="other")
    for workspace in (1, 2):
        own = {"workspace_id": workspace}
        made = {**own, "id": 10 + workspace}
        await _insert(owner, "users", **made, email="ann@example.com", full_name="Ann")
        await _insert(owner, "domain", **made, host=f"{workspace}.example.com")
        await _insert(
            owner, "api_key", **made, key_hash=bytes([workspace]) * 32, key_prefix="lac_live_x", name="key"
        )
        session = {"user_id": 10 + workspace, "token_hash": bytes([workspace]), "expires_at": _NOW}
        await _insert(owner, "session", **made, **session)
        await _insert_link(owner, **made, short_code=f"code{workspace}", title="spring")
        await _insert(owner, "idempotency_key", **own, key="key", fingerprint=b"x")
        await _insert(owner, "link_total", **own, link_id=10 + workspace, clicks=5)
        await _insert(owner, "click_quarter", **own, link_id=10 + workspace, quarter=_NOW)
        daily = {"link_id": 10 + workspace, "day": _NOW.date(), "dimension": "country", "value": "DE"}
        await _insert(owner, "click_daily", **own, **daily)
        of_day = {"day": _NOW.date(), "dimension": "country", "value": "DE"}
        await _insert(owner, "workspace_daily", **own, **of_day)
        await _insert(owner, "workspace_quarter", **own, quarter=_NOW)
        await _insert(owner, "workspace_total", **own)
        await _insert(owner, "workspace_top", **own, day=_NOW.date(), sketch=b"")
        unique = {
            "scope": "workspace",
            "scope_id": workspace,
            "day": _NOW.date(),
            "sketch": b"",
            "visitors": 0,
        }
        await _insert(owner, "click_unique", **own, **unique)
        await _insert_click(owner, **made, short_link_id=10 + workspace)
        await _insert(
            owner, "audit_event", **made, actor_kind="open", action="link.create", subject_kind="link"
        )
    nobody = {"id": 20, "actor_kind": "system", "action": "restore", "subject_kind": "installation"}
    await _insert(owner, "audit_event", **nobody)


_OWNED_TABLES = [
    "users", "api_key", "session", "short_link", "idempotency_key", "link_total", "click_quarter", "click_daily",
    "click_unique", "click_event", "audit_event", "workspace_daily", "workspace_quarter", "workspace_top",
    "workspace_total",
]  # fmt: skip


async def test_p8_a_role_sees_only_the_workspace_it_has_named(
    owner: asyncpg.Connection, tenant: asyncpg.Connection
) -> None:
    """Whatever the statement forgets to say, rows of other tenants do not exist; without a name, none do."""
    await _two_tenants(owner)
    for workspace, seen in ((1, [1]), (2, [2]), (99, []), (None, [])):
        await _act_for(tenant, workspace)
        for table in _OWNED_TABLES:
            assert await _column(tenant, f"SELECT workspace_id FROM {table}") == seen, table
        assert await _column(tenant, "SELECT id FROM workspace") == seen
        # The shared domain is there for everybody.
        assert await _column(tenant, "SELECT workspace_id FROM domain ORDER BY id") == [None, *seen]


async def test_p8_a_role_that_never_named_a_workspace_sees_nothing(
    owner: asyncpg.Connection, tenant: asyncpg.Connection
) -> None:
    """The setting does not exist in a new session, and that is no error."""
    await _two_tenants(owner)
    assert await _column(tenant, "SELECT id FROM short_link") == []


async def test_p8_a_role_changes_only_the_workspace_it_has_named(
    owner: asyncpg.Connection, tenant: asyncpg.Connection
) -> None:
    """Rows of others are neither updated nor removed, and none can be given to another tenant."""
    await _two_tenants(owner)
    await _act_for(tenant, 1)
    assert await tenant.execute("UPDATE short_link SET title = 'mine'") == "UPDATE 1"
    assert await tenant.execute("DELETE FROM api_key") == "DELETE 1"
    assert await owner.fetchval("SELECT title FROM short_link WHERE workspace_id = 2") == "spring"
    await _insert_link(tenant, id=50, short_code="own")
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await tenant.execute("UPDATE short_link SET workspace_id = 2")
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await _insert_link(tenant, id=51, workspace_id=2, short_code="theirs")


async def test_p8_a_shared_domain_can_be_read_and_not_taken(
    owner: asyncpg.Connection, tenant: asyncpg.Connection
) -> None:
    """A tenant that could write its own id into the shared domain would own everybody's links."""
    await _act_for(tenant, 1)
    assert await tenant.execute("UPDATE domain SET workspace_id = 1") == "UPDATE 0"
    assert await tenant.execute("DELETE FROM domain") == "DELETE 0"
    with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
        await _insert(tenant, "domain", id=5, workspace_id=None, host="evil.example.com")


async def test_p8_views_and_functions_follow_the_policies(
    owner: asyncpg.Connection, tenant: asyncpg.Connection
) -> None:
    """They act with the rights of whoever asks (views: from PostgreSQL 15 on)."""
    await _two_tenants(owner)
    await owner.execute("UPDATE short_link SET expires_at = now() + interval '1 hour'")
    await _act_for(tenant, 1)
    assert await _column(tenant, "SELECT workspace_id FROM v_active_short_links") == [1]
    assert await _column(tenant, "SELECT short_link_id FROM v_daily_click_stats") == [11]
    await owner.execute("UPDATE short_link SET expires_at = now() - interval '1 hour'")
    assert await tenant.fetchval("SELECT cleanup_expired_links()") == 1
    assert await _column(owner, "SELECT id FROM short_link WHERE is_active") == [12]


async def test_p8_partitions_are_no_way_around_the_policy(
    owner: asyncpg.Connection, tenant: asyncpg.Connection
) -> None:
    """Rows go in and come out through click_event; a partition by itself is empty, also to its own tenant."""
    await _two_tenants(owner)
    await _act_for(tenant, 1)
    await _insert_click(tenant, id=99)
    assert sorted(await _column(tenant, "SELECT id FROM click_event")) == [11, 99]
    for partition in await _partitions(owner):
        assert await _column(tenant, f"SELECT id FROM {partition}") == []


async def test_the_owner_is_not_held_by_the_policies(owner: asyncpg.Connection) -> None:
    """Look-ups, ingest and upkeep work for all tenants."""
    await _two_tenants(owner)
    assert await _column(owner, "SELECT workspace_id FROM short_link ORDER BY 1") == [1, 2]


async def test_the_view_of_active_links(owner: asyncpg.Connection) -> None:
    """Links that redirect now, with their clicks and whoever made them; the others are left out."""
    await _insert(owner, "users", id=5, workspace_id=1, email="ann@example.com", full_name="Ann")
    await _insert_link(owner, id=1, short_code="a", created_by=5, expires_at=_NOW + _HOUR, title="t")
    await _insert_link(owner, id=2, short_code="b")
    await _insert_link(owner, id=3, short_code="c", expires_at=_NOW - _HOUR)
    await _insert_link(owner, id=4, short_code="d", is_active=False)
    await _insert_link(owner, id=5, short_code="e", is_deleted=True)
    await _insert(owner, "link_total", link_id=1, workspace_id=1, clicks=42)
    rows = await owner.fetch("SELECT * FROM v_active_short_links ORDER BY id")
    assert list(rows[0].keys()) == [
        "id", "workspace_id", "workspace_name", "workspace_slug", "short_code", "original_url", "title",
        "description", "created_at", "expires_at", "click_count", "created_by_name", "created_by_email",
    ]  # fmt: skip
    columns = ("id", "workspace_slug", "click_count", "created_by_name", "created_by_email")
    assert [tuple(row[column] for column in columns) for row in rows] == [
        (1, "default", 42, "Ann", "ann@example.com"),
        (2, "default", 0, None, None),
    ]


async def test_the_view_of_daily_clicks(owner: asyncpg.Connection) -> None:
    """Raw clicks by link and UTC day, whatever the session's time zone."""
    noon = datetime(2031, 1, 1, 12, tzinfo=UTC)
    clicks = [
        (noon, "192.0.2.0", "desktop", "DE"),
        (noon, "192.0.2.0", "mobile", "DE"),
        (noon + timedelta(hours=11, minutes=59), "198.51.100.0", "tablet", "FR"),
        (noon + timedelta(hours=12), None, "bot", None),
    ]
    for number, (clicked_at, address, device, country) in enumerate(clicks):
        origin = {"ip_address": address, "device_type": device, "country": country}
        await _insert_click(owner, id=number, clicked_at=clicked_at, **origin)
    await owner.execute("SET TIME ZONE 'Pacific/Auckland'")
    rows = await owner.fetch("SELECT * FROM v_daily_click_stats ORDER BY click_date")
    assert [dict(row) for row in rows] == [
        {
            "short_link_id": 7,
            "click_date": date(2031, 1, 1),
            "total_clicks": 3,
            "unique_ips": 2,
            "desktop_clicks": 1,
            "mobile_clicks": 1,
            "tablet_clicks": 1,
            "countries_count": 2,
        },
        {
            "short_link_id": 7,
            "click_date": date(2031, 1, 2),
            "total_clicks": 1,
            "unique_ips": 0,
            "desktop_clicks": 0,
            "mobile_clicks": 0,
            "tablet_clicks": 0,
            "countries_count": 0,
        },
    ]


async def test_an_e_mail_belongs_to_one_user_of_a_workspace(owner: asyncpg.Connection) -> None:
    """Letter case does not make another person; another workspace does."""
    await _insert(owner, "workspace", id=2, name="Other", slug="other")
    await _insert(owner, "users", id=1, workspace_id=1, email="ann@example.com")
    await _insert(owner, "users", id=2, workspace_id=2, email="ann@example.com")
    with pytest.raises(asyncpg.UniqueViolationError) as refusal:
        await _insert(owner, "users", id=3, workspace_id=1, email="Ann@Example.com")
    assert refusal.value.constraint_name == "users_email_key"


@pytest.mark.parametrize(
    "email", ["", "ann", "@example.com", "ann@", "a@b@c", "ann @example.com", "ann@ex\tample"]
)
async def test_what_is_no_e_mail_is_refused(owner: asyncpg.Connection, email: str) -> None:
    """One @ with something on either side, and no white space."""
    with pytest.raises(asyncpg.CheckViolationError, match="users_email_check"):
        await _insert(owner, "users", id=1, workspace_id=1, email=email)


@pytest.mark.parametrize("slug", ["", "a", "-ab", "ab-", "Ab", "a_b", "a b", "a" * 64])
async def test_a_slug_that_is_no_host_label_is_refused(owner: asyncpg.Connection, slug: str) -> None:
    """A slug becomes a subdomain."""
    with pytest.raises(asyncpg.CheckViolationError, match="workspace_slug_check"):
        await _insert(owner, "workspace", id=2, name="x", slug=slug)


async def test_there_is_one_default_domain_among_the_shared_ones(owner: asyncpg.Connection) -> None:
    """Unknown hosts go to the default domain, so there must be no second; a workspace may have its own."""
    await _insert(owner, "domain", id=2, workspace_id=1, host="go.example.com", is_default=True)
    with pytest.raises(asyncpg.UniqueViolationError, match="domain_default_key"):
        await _insert(owner, "domain", id=3, host="other.example.com", is_default=True)
