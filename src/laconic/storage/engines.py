"""Picks the engine by the database URL, so that no other room has to know there are two."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from laconic.errors import SettingInvalid
from laconic.storage.database import Database
from laconic.storage.examine import Finding
from laconic.storage.migrate import read_migrations
from laconic.storage.shared import SharedStore
from laconic.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from laconic.storage.replica import Replica

Writes = Literal["links", "clicks"]

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class SchemaStatus:
    engine: str
    applied: int
    known: int


def data_folder(url: str) -> Path | None:
    """The folder whose files are the database, or None when a server keeps it."""
    if not url.startswith(_SQLITE):
        return None
    path = Path(url.removeprefix(_SQLITE))
    if path.name != "laconic.db":
        raise SettingInvalid(
            "LACONIC_DATABASE_URL: an SQLite database is named laconic.db, in a folder of its own."
        )
    return path.parent


async def open_database(url: str, *, writes: Writes = "links", owner_url: str = "") -> Database:
    """`writes` says which part this process changes: links (web, command line) or clicks (ingest).

    `owner_url` is for a server whose tables `url`'s role does not own; see `Database.for_workspace`.
    """
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite import open_sqlite

        return await open_sqlite(folder, writes=writes)
    _need_postgres(url)
    from laconic.storage.postgres import open_postgres

    return await open_postgres(url, owner_url=owner_url)


def open_replica(url: str, primary: Database, *, has_owner: bool) -> "Replica | None":
    """None when there is none. `has_owner`: another role owns the tables, and row-level security holds this one."""
    if not url:
        return None
    if not url.startswith(_POSTGRES):
        raise SettingInvalid("LACONIC_DATABASE_REPLICA_URL must begin with postgresql://.")
    _need_postgres(url)
    # Here, because it brings what commands do not need.
    from laconic.storage.replica import Replica

    return Replica(primary, lambda: open_database(url, owner_url=url if has_owner else ""))


@contextlib.asynccontextmanager
async def open_snapshot(url: str) -> AsyncIterator[Snapshot]:
    """One consistent state of a database that may be in use. `url` is that of the tables' owner."""
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite_snapshot import open_sqlite_snapshot

        async with open_sqlite_snapshot(folder) as files:
            yield files
        return
    _need_postgres(url)
    from laconic.storage.postgres_snapshot import open_postgres_snapshot

    async with open_postgres_snapshot(url) as server:
        yield server


async def check_integrity(url: str) -> list[str]:
    """What is damaged, in the engine's own words; may take minutes, and nobody waits for it."""
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite_examine import check_sqlite

        return await check_sqlite(folder)
    _need_postgres(url)
    from laconic.storage.postgres_examine import check_postgres

    return await check_postgres(url)


async def examine(url: str, tenant_url: str = "") -> list[Finding]:
    """Everything that can be told of the database at a glance. `tenant_url`: that of a role without tables."""
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite_examine import examine_sqlite

        return await examine_sqlite(folder)
    _need_postgres(url)
    from laconic.storage.postgres_examine import examine_postgres

    return await examine_postgres(url, tenant_url)


async def put_back(
    url: str,
    stage: Path,
    aside: str,
    conclude: Sequence[str],
    *,
    also: Sequence[tuple[Path, Path]] = (),
    tenant_url: str = "",
) -> str | None:
    """Puts the files of a snapshot, which lie in `stage`, in the place of what is there: all of it or nothing.

    What was there is kept under the name `aside`, and this tells where; None: nothing was there. `conclude` are
    statements that are run before anybody sees the result. `also` are files to be moved along, unless they are there.
    """
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite import migrate_sqlite
        from laconic.storage.sqlite_snapshot import check_files
        from laconic.storage.sqlite_snapshot import conclude as conclude_files
        from laconic.storage.sqlite_swap import swap

        await asyncio.to_thread(check_files, stage)
        await migrate_sqlite(stage)
        await asyncio.to_thread(conclude_files, stage, list(conclude))
        kept = await asyncio.to_thread(swap, folder, stage, aside, also)
        return str(kept) if kept else None
    _need_postgres(url)
    from laconic.storage.postgres_snapshot import DUMP, read_dump

    schema = aside.replace("-", "_").lower()
    was_there = await read_dump(url, stage / DUMP, schema, conclude)
    for source, target in also:
        if not target.exists():
            shutil.move(source, target)
    await migrate(tenant_url or url, url if tenant_url else "")
    return f"the schema {schema}" if was_there else None


def open_shared_store(url: str) -> SharedStore | None:
    """None when there is none: one machine, or several that ask the database."""
    if not url:
        return None
    try:
        from laconic.storage.redis import open_redis
    except ImportError as error:
        raise SettingInvalid("Redis needs an extra: pip install 'laconic[redis]'.") from error
    return open_redis(url)


async def migrate(url: str, owner_url: str = "") -> list[str]:
    """Brings the database to this release's schema; safe from several processes at once."""
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite import migrate_sqlite

        return await migrate_sqlite(folder)
    _need_postgres(url)
    from laconic.storage.postgres_session import migrate_postgres

    return await migrate_postgres(url, owner_url)


async def schema_status(url: str) -> SchemaStatus:
    """Which schema the database has, and which one this release knows."""
    folder = data_folder(url)
    if folder is not None:
        from laconic.storage.sqlite import sqlite_schema_version

        applied = await sqlite_schema_version(folder)
        return SchemaStatus("SQLite", applied, len(read_migrations("sqlite")))
    _need_postgres(url)
    from laconic.storage.postgres_session import postgres_schema_version

    applied = await postgres_schema_version(url)
    return SchemaStatus("PostgreSQL", applied, len(read_migrations("postgres")))


def _need_postgres(url: str) -> None:
    if not url.startswith(_POSTGRES):
        raise SettingInvalid(
            "LACONIC_DATABASE_URL must begin with sqlite:/// or postgresql://, "
            f"not {url.partition(':')[0][:20]!r}."
        )
    try:
        import laconic.storage.postgres  # noqa: F401
    except ImportError as error:
        raise SettingInvalid("PostgreSQL needs an extra: pip install 'laconic[postgres]'.") from error
