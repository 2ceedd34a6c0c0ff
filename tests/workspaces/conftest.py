"""PostgreSQL as a careful operator has it: one role owns the tables, another one acts for tenants."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import asyncpg
import pytest

from laconic.storage.database import Database
from laconic.storage.engines import migrate, open_database
from tests.workspaces.desk import Desk, open_desk

OWNER, TENANTS = "laconic_owner", "laconic_tenants"


def as_role(url: str, role: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}").geturl()


@pytest.fixture
def two_role_urls(fresh_postgres_url: str) -> tuple[str, str]:
    """(LACONIC_DATABASE_URL, LACONIC_DATABASE_OWNER_URL) of a migrated database."""
    name = urlsplit(fresh_postgres_url).path.lstrip("/")

    async def make_roles() -> None:
        superuser = await asyncpg.connect(fresh_postgres_url)
        for role in (OWNER, TENANTS):
            if not await superuser.fetchval("SELECT true FROM pg_roles WHERE rolname = $1", role):
                await superuser.execute(f"CREATE ROLE {role} LOGIN")
        await superuser.execute(f"ALTER DATABASE {name} OWNER TO {OWNER}")
        await superuser.execute(f"ALTER SCHEMA public OWNER TO {OWNER}")
        await superuser.close()

    asyncio.run(make_roles())
    urls = as_role(fresh_postgres_url, TENANTS), as_role(fresh_postgres_url, OWNER)
    asyncio.run(migrate(*urls))
    return urls


@pytest.fixture
async def two_roles(two_role_urls: tuple[str, str]) -> AsyncIterator[Database]:
    """A database on which row-level security holds whatever is done for one workspace."""
    url, owner_url = two_role_urls
    database = await open_database(url, owner_url=owner_url)
    yield database
    await database.close()


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[Desk]:
    """The verbs on every engine."""
    async with open_desk(database) as desk:
        yield desk
