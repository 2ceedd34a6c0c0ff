"""A PostgreSQL with a synchronous standby: what is committed on one is on both."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import asyncpg

from tests.servers import PostgresServer, ServerFailed

_PATIENCE_SECONDS = 60.0
_DATABASE = "laconic"


class Standby(PostgresServer):
    """Begins as a copy of its primary, and follows it."""

    def __init__(self, primary: PostgresServer, **options: Any) -> None:
        super().__init__(**options)
        self._primary = primary

    def _initialise(self) -> None:
        result = subprocess.run(
            [
                str(self._bin / "pg_basebackup"),
                "--pgdata",
                str(self._data),
                "--dbname",
                f"host=127.0.0.1 port={self._primary.port} user=postgres",
                "--write-recovery-conf",
                "--wal-method=stream",
                "--checkpoint=fast",
                "--no-sync",
            ],
            capture_output=True,
            text=True,
            cwd=self.folder,
            check=False,
            **self._identity(),
        )
        if result.returncode != 0:
            raise ServerFailed(f"pg_basebackup failed:\n{result.stderr}")


class PostgresPair:
    def __init__(self, *, durable: bool) -> None:
        settings = {"max_connections": "200"}
        self.primary = PostgresServer(durable=durable, settings=settings)
        self.standby = Standby(self.primary, durable=durable, settings=settings)

    @property
    def url(self) -> str:
        """For Laconic: both hosts, of which it finds the one that takes writes."""
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.standby.port}"
        return f"postgresql://postgres@{hosts}/{_DATABASE}?target_session_attrs=read-write"

    @contextmanager
    def running(self) -> Iterator["PostgresPair"]:
        with ExitStack() as stack:
            stack.enter_context(self.primary)
            ask(self.primary.url(), f"CREATE DATABASE {_DATABASE}")
            stack.enter_context(self.standby)
            # From now on a commit is answered when the standby has it, too.
            ask(self.primary.url(), "ALTER SYSTEM SET synchronous_standby_names = '*'")
            ask(self.primary.url(), "SELECT pg_reload_conf()")
            self._wait_for_sync()
            yield self

    def _wait_for_sync(self) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not ask(self.primary.url(), "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"):
            if time.monotonic() > deadline:
                raise ServerFailed("the standby does not follow")
            time.sleep(0.05)

    def lose_primary(self) -> None:
        """As a machine is lost: at once, and for good."""
        self.primary.kill()

    def promote(self) -> None:
        """What a failover manager does when it has noticed."""
        ask(self.standby.url(), "SELECT pg_promote()")

    def surviving_url(self) -> str:
        return self.standby.url(_DATABASE)


def ask(url: str, query: str, *arguments: object) -> list[Any]:
    async def asked() -> list[Any]:
        connection = await asyncpg.connect(url)
        try:
            return await connection.fetch(query, *arguments, timeout=_PATIENCE_SECONDS)
        finally:
            await connection.close()

    return asyncio.run(asked())
