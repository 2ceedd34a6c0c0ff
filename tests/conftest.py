"""Fixtures that every room's tests share. A test that asks for `database` runs on every engine."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import hypothesis
import pytest

from laconic.storage.database import Database
from laconic.storage.engines import migrate, open_database
from tests import promises
from tests.promises import seed  # noqa: F401  a fixture
from tests.servers import PostgresServer, RedisServer

# No test fails by time: on a machine that is busy an example may take a second.
hypothesis.settings.register_profile("laconic", deadline=None)
# A mutant that a few examples do not find would take a thousand times as long to be let go.
hypothesis.settings.register_profile(
    "mutants",
    deadline=None,
    max_examples=20,
    derandomize=True,
    database=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
)
hypothesis.settings.load_profile("laconic")

_ENGINES = ["sqlite", "postgres"]
_numbers = itertools.count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    promises.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    promises.configure(config)


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {config.option.seed}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    promises.choose(config, items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    promises.leave_out_late(item)


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """Async tests run on the loop that the server runs on."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """One private server for the whole run. A test that stops or kills a server starts its own."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_url(postgres_server: PostgresServer) -> str:
    """The superuser's URL of the private server."""
    return postgres_server.url()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with RedisServer() as server:
        yield server.url()


@pytest.fixture
def fresh_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A new, empty database, dropped after the test."""
    yield from _postgres_database(postgres_server, template="template0")


@pytest.fixture(scope="session")
def _postgres_template(postgres_server: PostgresServer) -> str:
    """A migrated database to copy from, instead of running all migrations for each test."""
    _as_superuser(postgres_server, "CREATE DATABASE migrated TEMPLATE template0")
    asyncio.run(migrate(postgres_server.url("migrated")))
    return "migrated"


@pytest.fixture(scope="session")
def _sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("migrated") / "data"
    asyncio.run(migrate(_sqlite_url(folder)))
    return folder


@pytest.fixture(params=_ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def database_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database that no migration has seen, on every engine."""
    if engine == "sqlite":
        return _sqlite_url(tmp_path / "data")
    return str(request.getfixturevalue("fresh_postgres_url"))


@pytest.fixture
def migrated_url(engine: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of an empty database with this release's schema, on every engine."""
    if engine == "sqlite":
        shutil.copytree(request.getfixturevalue("_sqlite_template"), tmp_path / "data")
        yield _sqlite_url(tmp_path / "data")
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        yield from _postgres_database(server, template=request.getfixturevalue("_postgres_template"))


@pytest.fixture
async def database(migrated_url: str) -> AsyncIterator[Database]:
    """An open, empty database with this release's schema, on every engine."""
    database = await open_database(migrated_url)
    yield database
    await database.close()


def _sqlite_url(folder: Path) -> str:
    return f"sqlite:///{folder}/laconic.db"


def _postgres_database(server: PostgresServer, *, template: str) -> Iterator[str]:
    name = f"test_{next(_numbers)}"
    _as_superuser(server, f"CREATE DATABASE {name} TEMPLATE {template}")
    yield server.url(name)
    _as_superuser(server, f"DROP DATABASE {name} WITH (FORCE)")


def _as_superuser(server: PostgresServer, sql: str) -> None:
    async def run() -> None:
        connection = await asyncpg.connect(server.url())
        try:
            await connection.execute(sql)
        finally:
            await connection.close()

    asyncio.run(run())
