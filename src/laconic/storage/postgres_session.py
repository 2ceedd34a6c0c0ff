"""PostgreSQL before the pools are open: migrations, and which schema there is."""

import contextlib
from collections.abc import AsyncIterator

from laconic.errors import OutcomeUnknown, Unavailable
from laconic.storage.database import Statements
from laconic.storage.postgres_address import PostgresAddress
from laconic.storage.postgres_connect import connect
from laconic.storage.postgres_errors import HOPELESS
from laconic.storage.postgres_migrate import apply_migrations, let_in, role_of, schema_version
from laconic.storage.postgres_statements import ConnectionStatements, Known


@contextlib.asynccontextmanager
async def session(url: str, lost: type[Unavailable] = Unavailable) -> AsyncIterator[Statements]:
    """One connection for a caller alone, without a limit of time: a migration takes as long as it takes."""
    address = PostgresAddress.from_url(url)
    connection = await address.patiently(lambda: connect(address, None), hopeless=HOPELESS)
    try:
        yield ConnectionStatements(connection, Known(), lost)
    finally:
        connection.terminate()


async def migrate_postgres(url: str, owner_url: str = "") -> list[str]:
    """Brings the database to this release's schema and names what was applied. Not through a pooler."""
    async with session(owner_url or url, OutcomeUnknown) as owner:
        applied = await apply_migrations(owner)
        if owner_url:
            async with session(url) as other:
                role = await role_of(other)
            await let_in(owner, role)
        return applied


async def postgres_schema_version(url: str) -> int:
    async with session(url) as own:
        return await schema_version(own)
