"""All migrations on an empty database equal the committed snapshot.

After a change to the schema, write the snapshots anew and read the difference before you commit it:

    WRITE_SCHEMA_SNAPSHOTS=1 python -m pytest tests/storage/schema/test_snapshots.py
"""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import asyncpg
import pytest

from tests.storage.schema.describe import describe_postgres, describe_sqlite

_SNAPSHOTS = Path(__file__).parent / "snapshots"


def _assert_snapshot(name: str, description: str) -> None:
    path = _SNAPSHOTS / name
    if os.environ.get("WRITE_SCHEMA_SNAPSHOTS"):
        path.write_text(description)
    assert description == path.read_text(), f"The schema is not the one in {path}: see the head of this file."


async def test_postgres_schema_equals_the_snapshot(owner: asyncpg.Connection) -> None:
    """Nothing about the PostgreSQL schema changes unseen; on 13 and 14 views lack security_invoker."""
    _assert_snapshot("postgres.txt", await describe_postgres(owner))


@pytest.mark.parametrize("folder", ["sqlite", "sqlite_clicks", "sqlite_events"])
def test_sqlite_schema_equals_the_snapshot(
    folder: str, open_sqlite_file: Callable[[str], apsw.Connection]
) -> None:
    """Nothing about the schema of an SQLite file changes unseen."""
    with closing(open_sqlite_file(folder)) as connection:
        _assert_snapshot(f"{folder}.sql", describe_sqlite(connection))
