"""Where a measured Laconic keeps its data, and a look into it once the server has stopped.

A fresh store for each server that needs one; on a real disk and synced, so that what is measured is durable.
"""

import asyncio
import itertools
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import apsw
import asyncpg

from bench import proc
from tests.servers import PostgresServer

_CODES = "SELECT short_code FROM short_link"
_OLDEST = "SELECT short_code FROM short_link ORDER BY id LIMIT 1"
_COUNTS = "SELECT count(*) FILTER (WHERE gone_reason = 'expired'), count(*) FILTER (WHERE is_active) FROM short_link"
_CLICKS = "SELECT coalesce(sum(clicks), 0) FROM link_total"


class Store(Protocol):
    """One installation's data."""

    folder: Path
    environment: Mapping[str, str]
    roots: list[int]
    """Processes that work for the server beside its own: their CPU counts as the server's."""

    url: str
    """For a program that opens it beside the server."""

    def codes(self) -> list[str]: ...

    def oldest_code(self) -> str: ...

    def clicks(self) -> int: ...

    def look_ups(self) -> int | None:
        """How often the index of codes was read, where the engine counts it."""
        ...

    def expire_all(self) -> None:
        """Every link has expired two hours ago. While no server runs."""
        ...

    def counts(self) -> tuple[int, int]:
        """Links that are retired, and those that are active."""
        ...

    def remove(self) -> None: ...


class Engine(Protocol):
    def new_store(self) -> Store: ...

    def close(self) -> None: ...


class SqliteStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment: Mapping[str, str] = {}
        self.roots: list[int] = []
        self.url = f"sqlite:///{folder}/laconic.db"

    def codes(self) -> list[str]:
        return [code for (code,) in self._read("laconic.db", _CODES)]

    def oldest_code(self) -> str:
        ((code,),) = self._read("laconic.db", _OLDEST)
        return str(code)

    def clicks(self) -> int:
        ((total,),) = self._read("clicks.db", _CLICKS)
        return int(total)

    def look_ups(self) -> int | None:
        return None

    def expire_all(self) -> None:
        connection = apsw.Connection(str(self.folder / "laconic.db"))
        try:
            connection.execute(
                "UPDATE short_link SET expires_at = CAST((unixepoch() - 7200) * 1000000 AS INTEGER)"
            ).fetchall()
        finally:
            connection.close()

    def counts(self) -> tuple[int, int]:
        ((retired, active),) = self._read("laconic.db", _COUNTS)
        return int(retired), int(active)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _read(self, file: str, query: str) -> list[tuple[Any, ...]]:
        connection = apsw.Connection(str(self.folder / file), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(connection.execute(query))
        finally:
            connection.close()


class SqliteEngine:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)

    def new_store(self) -> SqliteStore:
        return SqliteStore(self._folder / f"data-{next(self._numbers)}")

    def close(self) -> None:
        pass


class PostgresStore:
    def __init__(self, folder: Path, server_url: str, url: str, root: int) -> None:
        self.folder = folder
        self.environment: Mapping[str, str] = {"LACONIC_DATABASE_URL": url}
        self.roots = [root]
        self._server_url = server_url
        self.url = url

    def codes(self) -> list[str]:
        return [row[0] for row in _ask(self.url, _CODES)]

    def oldest_code(self) -> str:
        return str(_ask(self.url, _OLDEST)[0][0])

    def clicks(self) -> int:
        return int(_ask(self.url, _CLICKS)[0][0])

    def look_ups(self) -> int | None:
        found = _ask(
            self.url, "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'short_link_code_key'"
        )
        return int(found[0][0])

    def expire_all(self) -> None:
        _ask(self.url, "UPDATE short_link SET expires_at = now() - interval '2 hours'")
        _ask(self.url, "VACUUM ANALYZE short_link")

    def counts(self) -> tuple[int, int]:
        ((retired, active),) = _ask(self.url, _COUNTS)
        return int(retired), int(active)

    def remove(self) -> None:
        _ask(self._server_url, f"DROP DATABASE IF EXISTS {self.url.rpartition('/')[2]} WITH (FORCE)")
        shutil.rmtree(self.folder, ignore_errors=True)


class PostgresEngine:
    """One private server for the whole run, a database for each store."""

    def __init__(self, folder: Path, cores: frozenset[int]) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        self._server = PostgresServer(
            durable=True, settings={"shared_buffers": "512MB", "max_wal_size": "2GB"}
        )
        try:
            self._server.start()
            self._root = int((self._server.folder / "data" / "postmaster.pid").read_text().split()[0])
            for pid in proc.tree(self._root):
                os.sched_setaffinity(pid, cores or os.sched_getaffinity(0))
        except BaseException:
            self.close()
            raise

    def new_store(self) -> PostgresStore:
        name = f"bench_{next(self._numbers)}"
        _ask(self._server.url(), f"CREATE DATABASE {name}")
        return PostgresStore(self._folder / name, self._server.url(), self._server.url(name), self._root)

    def close(self) -> None:
        self._server.remove()


def _ask(url: str, query: str) -> list[Any]:
    async def ask() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetch(query, timeout=600)
        finally:
            await connection.close()

    return asyncio.run(ask())
