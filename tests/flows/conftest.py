"""One running Laconic on each engine, for all flows of a run."""

from collections.abc import Iterator

import httpx
import pytest

from tests.flows.server import LaconicServer, new_postgres_database


@pytest.fixture(scope="session", params=["sqlite", "postgres"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LaconicServer]:
    """In open mode, as `make run` starts it."""
    url = ""
    if request.param == "postgres":
        url = new_postgres_database(request.getfixturevalue("postgres_server"))
    with LaconicServer(tmp_path_factory.mktemp("flows"), url) as server:
        yield server


@pytest.fixture(scope="session")
def api(server: LaconicServer) -> Iterator[httpx.Client]:
    """A program on the same machine."""
    with server.client() as client:
        yield client
