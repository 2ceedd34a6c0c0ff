"""Other programs' databases, read only: a live PostgreSQL, an SQLite file, or an SQL dump of any of them.

A row is a dictionary of plain values, so that a reader need not care which engine it came from, nor which columns
another release of that program has added. A dump is first loaded into a file of its own, which is removed afterwards:
rows in a dump have no order that one could go on from.
"""

import asyncio
import gzip
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from laconic.errors import ChoiceRefused
from laconic.storage.dump import Rows, read_dump
from laconic.storage.sqlite_connect import connect, connect_foreign, rows_of, translated

_SERVER = ("postgresql://", "postgres://")
_MYSQL = ("mysql://", "mariadb://")
_SQLITE_HEAD = b"SQLite format 3\0"
_DUMPS = (".sql", ".sql.gz", ".dump")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_$]+")
# Columns that rows are looked for by, where a dump has no indexes.
_KEYS = re.compile(r"id|click_id|keyword|(?:short_url|link|tag)_id")
_COMMAND_SECONDS = 300.0

Record = dict[str, Any]


class Foreign(Protocol):
    """Somebody else's database. Nothing in it is ever changed."""

    async def tables(self) -> dict[str, frozenset[str]]:
        """The columns of each table."""
        ...

    async def page(self, table: str, key: str, after: Any, limit: int) -> list[Record]:
        """Rows in the order of `key`, behind a value of it; None: from the first."""
        ...

    async def among(self, table: str, column: str, values: Sequence[int]) -> list[Record]:
        """Rows that have one of these values."""
        ...

    async def count(self, table: str) -> int: ...

    async def close(self) -> None: ...


def is_foreign(place: str) -> bool:
    """Is it a database, or a dump of one, by its name or its first bytes?"""
    if place.startswith(_SERVER + _MYSQL) or place.lower().endswith(_DUMPS):
        return True
    path = Path(place)
    return path.is_file() and _is_file(path)


def _is_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE_HEAD)) == _SQLITE_HEAD


async def open_foreign(place: str, wanted: Callable[[str], bool]) -> Foreign:
    """`wanted` says which tables of a dump are worth loading."""
    if place.startswith(_MYSQL):
        raise ChoiceRefused(
            "source",
            "A MySQL or MariaDB database is read from a dump: mysqldump --hex-blob DATABASE > dump.sql",
        )
    if place.startswith(_SERVER):
        return await _open_server(place)
    path = Path(place)
    if _is_file(path):
        return ForeignFile(path)
    return await asyncio.to_thread(_load, path, wanted)


class ForeignFile:
    """An SQLite file; `folder` is removed at the end."""

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        with translated():
            self._connection = connect_foreign(path)
        self._folder = folder

    async def tables(self) -> dict[str, frozenset[str]]:
        names = await self._rows("SELECT name FROM sqlite_schema WHERE type = 'table'")
        found = {}
        for (name,) in names:
            if _PLAIN_NAME.fullmatch(name):
                columns = await self._rows(f'PRAGMA table_info("{name}")')
                found[str(name)] = frozenset(str(column[1]) for column in columns)
        return found

    async def page(self, table: str, key: str, after: Any, limit: int) -> list[Record]:
        where, arguments = ("", ()) if after is None else (f'WHERE "{key}" > ?', (after,))
        return await self._records(
            f'SELECT * FROM "{table}" {where} ORDER BY "{key}" LIMIT {limit:d}', arguments, table
        )

    async def among(self, table: str, column: str, values: Sequence[int]) -> list[Record]:
        marks = ",".join("?" * len(values))
        return await self._records(f'SELECT * FROM "{table}" WHERE "{column}" IN ({marks})', values, table)

    async def count(self, table: str) -> int:
        return int((await self._rows(f'SELECT count(*) FROM "{table}"'))[0][0])

    async def close(self) -> None:
        self._connection.close()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    async def _records(self, sql: str, arguments: Sequence[Any], table: str) -> list[Record]:
        names = [row[1] for row in await self._rows(f'PRAGMA table_info("{table}")')]
        return [dict(zip(names, row, strict=True)) for row in await self._rows(sql, arguments)]

    async def _rows(self, sql: str, arguments: Sequence[Any] = ()) -> list[Any]:
        def read() -> list[Any]:
            with translated():
                return rows_of(self._connection, sql, arguments)

        return await asyncio.to_thread(read)


class ForeignServer:
    """A PostgreSQL server. Rows come as JSON: one form for all types."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def tables(self) -> dict[str, frozenset[str]]:
        rows = await self._fetch(
            "SELECT table_name::text, array_agg(column_name::text) FROM information_schema.columns"
            " WHERE table_schema = ANY (current_schemas(false)) GROUP BY table_name"
        )
        return {row[0]: frozenset(row[1]) for row in rows if _PLAIN_NAME.fullmatch(row[0])}

    async def page(self, table: str, key: str, after: Any, limit: int) -> list[Record]:
        where, arguments = ("", ()) if after is None else (f'WHERE found."{key}" > $1', (after,))
        return await self._records(
            f'SELECT to_jsonb(found)::text FROM "{table}" AS found {where} ORDER BY found."{key}" LIMIT {limit:d}',
            *arguments,
        )

    async def among(self, table: str, column: str, values: Sequence[int]) -> list[Record]:
        return await self._records(
            f'SELECT to_jsonb(found)::text FROM "{table}" AS found WHERE found."{column}" = ANY ($1::bigint[])',
            list(values),
        )

    async def count(self, table: str) -> int:
        return int((await self._fetch(f'SELECT count(*) FROM "{table}"'))[0][0])

    async def close(self) -> None:
        await self._connection.close()

    async def _records(self, sql: str, *arguments: Any) -> list[Record]:
        return [json.loads(row[0]) for row in await self._fetch(sql, *arguments)]

    async def _fetch(self, sql: str, *arguments: Any) -> list[Any]:
        from laconic.storage.postgres_errors import translated as translated_server

        with translated_server():
            rows: list[Any] = await self._connection.fetch(sql, *arguments)
        return rows


async def _open_server(url: str) -> ForeignServer:
    from laconic.storage.postgres_address import PostgresAddress
    from laconic.storage.postgres_connect import connect as connect_server

    connection = await connect_server(PostgresAddress.from_url(url), _COMMAND_SECONDS)
    await connection.execute("SET default_transaction_read_only = on")
    return ForeignServer(connection)


def _load(path: Path, wanted: Callable[[str], bool]) -> ForeignFile:
    folder = Path(tempfile.mkdtemp(prefix="laconic-import-"))
    try:
        loaded = folder / "dump.db"
        tables: dict[str, tuple[str, ...]] = {}
        with _opened(path) as lines, translated():
            connection = connect(loaded, read_only=False)
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            for rows in read_dump(lines, wanted):
                _insert(connection, tables, rows)
            for table, columns in tables.items():
                for column in filter(_KEYS.fullmatch, columns):
                    connection.execute(f'CREATE INDEX "{table} {column}" ON "{table}" ("{column}")')
            connection.execute("COMMIT")
            connection.close()
        return ForeignFile(loaded, folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _opened(path: Path) -> io.TextIOBase:
    """Lines end where the dump's lines do: a carriage return inside a text is a part of it."""
    if path.name.endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8", errors="replace", newline="\n")
    return path.open(encoding="utf-8", errors="replace", newline="\n")


def _insert(connection: Any, tables: dict[str, tuple[str, ...]], rows: Rows) -> None:
    if rows.table not in tables:
        columns = rows.columns
        if not columns or not all(map(_PLAIN_NAME.fullmatch, columns)):
            raise ChoiceRefused("source", f"The dump does not say which columns the table {rows.table} has.")
        # Ids in a dump may be text; all other values stay as they are written there.
        listed = ", ".join(f'"{name}"{" INTEGER" if name.endswith("id") else ""}' for name in columns)
        connection.execute(f'CREATE TABLE "{rows.table}" ({listed})')
        tables[rows.table] = columns
    names = ", ".join(f'"{name}"' for name in rows.columns)
    marks = ",".join("?" * len(rows.columns))
    if any(len(row) != len(rows.columns) for row in rows.rows):
        raise ChoiceRefused(
            "source", f"A row of the table {rows.table} has not as many values as it has columns."
        )
    connection.executemany(f'INSERT INTO "{rows.table}" ({names}) VALUES ({marks})', rows.rows)
