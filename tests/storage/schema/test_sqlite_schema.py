"""What the SQLite schema does by itself."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import apsw
import pytest

from laconic import clock
from laconic.storage.migrate import read_migrations

_MOMENT = 1_794_000_000_000_000
_FOLDERS = ["sqlite", "sqlite_clicks", "sqlite_events"]


def _insert_link(sqlite: apsw.Connection, **fields: Any) -> None:
    row = {
        "id": 7,
        "workspace_id": 1,
        "domain_id": 1,
        "short_code": "abc",
        "original_url": "https://example.com/",
        "created_at": _MOMENT,
        "updated_at": _MOMENT,
    } | fields
    marks = ", ".join("?" * len(row))
    sqlite.execute(f"INSERT INTO short_link ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))


def _search(sqlite: apsw.Connection, query: str) -> list[int]:
    rows = sqlite.execute(
        "SELECT id FROM short_link WHERE id IN"
        " (SELECT rowid FROM short_link_text WHERE short_link_text MATCH ?) ORDER BY id",
        (query,),
    )
    return [row[0] for row in rows]


def _plan(sqlite: apsw.Connection, condition: str, *args: Any) -> str:
    rows = sqlite.execute(f"EXPLAIN QUERY PLAN SELECT title FROM short_link WHERE {condition}", args)
    return " / ".join(row[3] for row in rows)


@pytest.mark.parametrize("folder", _FOLDERS)
def test_migrations_leave_nothing_when_rolled_back(folder: str) -> None:
    """A kill in the middle of a migration leaves no half: no file ends its transaction by itself."""
    with closing(apsw.Connection(":memory:")) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for migration in read_migrations(folder):
            connection.execute(migration.sql)
        connection.execute("ROLLBACK")
        assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]


@pytest.mark.parametrize("folder", _FOLDERS)
def test_every_table_is_strict(folder: str, open_sqlite_file: Callable[[str], apsw.Connection]) -> None:
    """A number in a text column is a bug that must show at once."""
    with closing(open_sqlite_file(folder)) as connection:
        loose = connection.execute(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict"
            " AND name NOT LIKE 'sqlite%'"
        ).fetchall()
    assert loose == []


def test_a_new_database_has_the_default_workspace_and_domain(sqlite: apsw.Connection) -> None:
    """The first link needs no set-up."""
    assert sqlite.execute("SELECT id, name, slug, settings, is_deleted FROM workspace").fetchall() == [
        (1, "Default", "default", "{}", 0)
    ]
    assert sqlite.execute("SELECT id, workspace_id, host, is_default FROM domain").fetchall() == [
        (1, None, "localhost", 1)
    ]
    # Microseconds, not seconds: after 2020.
    assert sqlite.execute("SELECT verified_at > 1577836800000000 FROM domain").fetchall() == [(1,)]


def test_a_code_is_given_once_even_after_deletion(sqlite: apsw.Connection) -> None:
    """The unique index counts gone links too (P2)."""
    _insert_link(sqlite)
    sqlite.execute("UPDATE short_link SET is_deleted = 1, gone_reason = 'deleted', original_url = NULL")
    with pytest.raises(apsw.ConstraintError, match=r"short_link\.domain_id, short_link\.short_code"):
        _insert_link(sqlite, id=8)


def test_a_link_row_cannot_be_removed(sqlite: apsw.Connection) -> None:
    """A removed row would free its code (P2)."""
    _insert_link(sqlite)
    with pytest.raises(apsw.ConstraintError, match="never removed"):
        sqlite.execute("DELETE FROM short_link")
    assert sqlite.execute("SELECT count(*) FROM short_link").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "fields",
    [
        {"short_code": ""},
        {"short_code": "a b"},
        {"short_code": "ä"},
        {"short_code": "abc\n"},
        {"short_code": "ab\0 /"},
        {"short_code": "a" * 21},
        {"original_url": None},
        {"redirect_status": 303},
        {"version": 0},
        {"title": "t" * 501},
        {"metadata": "{"},
        {"is_active": 2},
        {"gone_reason": "expired"},
        {"gone_reason": "bored", "is_active": 0},
        {"normalized_digest": b"d"},
        {"workspace_id": 99},
        {"domain_id": 99},
        {"created_by": 99},
    ],
    ids=str,
)
def test_a_link_that_makes_no_sense_is_refused(sqlite: apsw.Connection, fields: dict[str, Any]) -> None:
    """What the program should never write, the database does not take."""
    with pytest.raises(apsw.ConstraintError):
        _insert_link(sqlite, **fields)


def test_only_live_links_are_reused(sqlite: apsw.Connection) -> None:
    """One live link for each normalised URL and workspace; a gone one makes room."""
    reuse = {"normalized_url": "https://example.com", "normalized_digest": b"d" * 32}
    _insert_link(sqlite, **reuse)
    with pytest.raises(apsw.ConstraintError, match="normalized_digest"):
        _insert_link(sqlite, id=8, short_code="def", **reuse)
    sqlite.execute("UPDATE short_link SET is_active = 0")
    _insert_link(sqlite, id=8, short_code="def", **reuse)


def test_text_is_found_from_the_insert_on(sqlite: apsw.Connection) -> None:
    """Words of title and description are found, by their beginning and in any letter case."""
    _insert_link(sqlite, id=1, short_code="a", title="Spring sale")
    _insert_link(sqlite, id=2, short_code="b", description="the SPRINGS of Bath")
    _insert_link(sqlite, id=3, short_code="c", title="Café")
    assert _search(sqlite, '"spring"*') == [1, 2]
    assert _search(sqlite, '"spring"* "bath"*') == [2]
    assert _search(sqlite, '"CAFÉ"*') == [3]


def test_edited_text_replaces_the_old(sqlite: apsw.Connection) -> None:
    """After an edit the new words are found and the old ones are not, whichever field had them."""
    _insert_link(sqlite, id=1, short_code="a", title="spring", description="rain")
    _insert_link(sqlite, id=2, short_code="b")
    sqlite.execute("UPDATE short_link SET title = 'summer' WHERE id = 1")
    sqlite.execute("UPDATE short_link SET description = 'summer' WHERE id = 2")
    assert _search(sqlite, "spring") == []
    assert _search(sqlite, "rain") == [1]
    assert _search(sqlite, "summer") == [1, 2]


def test_blanked_text_is_forgotten(sqlite: apsw.Connection) -> None:
    """Blanking a link takes its words out of the index, and other updates leave them in."""
    _insert_link(sqlite, title="spring", description="rain")
    sqlite.execute("UPDATE short_link SET is_deleted = 1, gone_reason = 'deleted', version = 2")
    assert _search(sqlite, "spring") == [7]
    sqlite.execute("UPDATE short_link SET original_url = NULL, title = NULL, description = NULL")
    assert _search(sqlite, "spring OR rain") == []
    assert sqlite.execute("SELECT count(*) FROM short_link_text").fetchall() == [(0,)]


def test_links_without_text_do_not_touch_the_text_index(sqlite: apsw.Connection) -> None:
    """Plain creates, which are nearly all, pay nothing for search."""
    before = sqlite.execute("SELECT * FROM short_link_text_data").fetchall()
    _insert_link(sqlite)
    sqlite.execute("UPDATE short_link SET title = NULL, expires_at = 1")
    assert sqlite.execute("SELECT * FROM short_link_text_data").fetchall() == before


def test_a_refused_insert_leaves_no_words(sqlite: apsw.Connection) -> None:
    """Words of a row that a unique index refused, or that was rolled back, are not found."""
    _insert_link(sqlite, title="spring")
    sqlite.execute(
        "INSERT INTO short_link (id, workspace_id, domain_id, short_code, original_url, title, created_at, updated_at)"
        " VALUES (8, 1, 1, 'abc', 'https://example.com/', 'autumn', 1, 1) ON CONFLICT DO NOTHING"
    )
    sqlite.execute("BEGIN; SAVEPOINT one")
    _insert_link(sqlite, id=9, short_code="def", title="winter")
    sqlite.execute("ROLLBACK TO one; COMMIT")
    assert sqlite.execute("SELECT rowid FROM short_link_text").fetchall() == [(7,)]
    sqlite.execute("INSERT INTO short_link_text (short_link_text) VALUES ('integrity-check')")


@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("domain_id = ? AND short_code = ?", "short_link_code_key"),
        (
            "workspace_id = ? AND normalized_digest = ? AND is_active AND NOT is_deleted",
            "short_link_reuse_key",
        ),
        ("workspace_id = ? ORDER BY created_at DESC, id DESC", "short_link_list_idx"),
        (
            "workspace_id = ? AND is_active AND NOT is_deleted ORDER BY created_at DESC, id DESC",
            "short_link_live_idx",
        ),
        ("created_by = ?", "short_link_created_by_idx"),
        ("expires_at <= ? AND is_active AND NOT is_deleted", "short_link_expires_idx"),
    ],
)
def test_each_index_serves_its_statement(sqlite: apsw.Connection, condition: str, index: str) -> None:
    """Partial indexes are used only by conditions worded alike, and lists are read in order."""
    plan = _plan(sqlite, condition, *[1] * condition.count("?"))
    assert f"USING INDEX {index} (" in plan
    assert "TEMP B-TREE" not in plan


def test_change_numbers_are_not_used_again(sqlite: apsw.Connection) -> None:
    """Followers ask for rows past the last seen one, also after old rows were removed."""
    insert = "INSERT INTO link_change (domain_id, short_code, version, changed_at) VALUES (1, 'abc', 2, 0)"
    sqlite.execute(insert)
    sqlite.execute("DELETE FROM link_change")
    sqlite.execute(insert)
    assert sqlite.execute("SELECT seq FROM link_change").fetchall() == [(2,)]


def test_the_view_shows_links_that_redirect_now(sqlite: apsw.Connection) -> None:
    """Expired, disabled and deleted links are left out; whoever made a link is named."""
    now = clock.now()
    sqlite.execute(
        "INSERT INTO users (id, workspace_id, email, full_name, created_at, updated_at)"
        " VALUES (5, 1, 'ann@example.com', 'Ann', 1, 1)"
    )
    _insert_link(sqlite, id=1, short_code="a", created_by=5, expires_at=now + clock.HOUR)
    _insert_link(sqlite, id=2, short_code="b")
    _insert_link(sqlite, id=3, short_code="c", expires_at=now - 1)
    _insert_link(sqlite, id=4, short_code="d", is_active=0)
    _insert_link(sqlite, id=5, short_code="e", is_deleted=1)
    rows = sqlite.execute(
        "SELECT id, workspace_slug, created_by_name, created_by_email FROM v_active_short_links ORDER BY id"
    ).fetchall()
    assert rows == [(1, "default", "Ann", "ann@example.com"), (2, "default", None, None)]


def test_an_e_mail_belongs_to_one_user_of_a_workspace(sqlite: apsw.Connection) -> None:
    """Letter case does not make another person; another workspace does."""
    insert = "INSERT INTO users (id, workspace_id, email, created_at, updated_at) VALUES (?, ?, ?, 1, 1)"
    sqlite.execute(
        "INSERT INTO workspace (id, name, slug, created_at, updated_at) VALUES (2, 'Other', 'other', 1, 1)"
    )
    sqlite.execute(insert, (1, 1, "ann@example.com"))
    sqlite.execute(insert, (2, 2, "ann@example.com"))
    with pytest.raises(apsw.ConstraintError, match="users_email_key"):
        sqlite.execute(insert, (3, 1, "Ann@Example.com"))


@pytest.mark.parametrize(
    "email", ["", "ann", "@example.com", "ann@", "a@b@c", "ann @example.com", "ann@ex\tample"]
)
def test_what_is_no_e_mail_is_refused(sqlite: apsw.Connection, email: str) -> None:
    """One @ with something on either side, and no white space."""
    with pytest.raises(apsw.ConstraintError, match="users_email_check"):
        sqlite.execute(
            "INSERT INTO users (id, workspace_id, email, created_at, updated_at) VALUES (1, 1, ?, 1, 1)",
            (email,),
        )


@pytest.mark.parametrize("slug", ["", "a", "-ab", "ab-", "Ab", "a_b", "a b", "a" * 64])
def test_a_slug_that_is_no_host_label_is_refused(sqlite: apsw.Connection, slug: str) -> None:
    """A slug becomes a subdomain."""
    with pytest.raises(apsw.ConstraintError, match="workspace_slug_check"):
        sqlite.execute(
            "INSERT INTO workspace (id, name, slug, created_at, updated_at) VALUES (2, 'x', ?, 1, 1)", (slug,)
        )


def test_there_is_one_default_domain_among_the_shared_ones(sqlite: apsw.Connection) -> None:
    """Unknown hosts go to the default domain, so there must be no second; a workspace may have its own."""
    insert = "INSERT INTO domain (id, workspace_id, host, is_default, created_at) VALUES (?, ?, ?, 1, 1)"
    sqlite.execute(insert, (2, 1, "go.example.com"))
    with pytest.raises(apsw.ConstraintError, match="domain_default_key"):
        sqlite.execute(insert, (3, None, "other.example.com"))
