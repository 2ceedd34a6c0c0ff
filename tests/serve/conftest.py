"""A place to start servers in, on every engine."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.serve.running import RunningServer

MakeServer = Callable[..., RunningServer]


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[MakeServer]:
    """Servers in the test's folder, of which none outlives the test."""
    made: list[RunningServer] = []

    def make(*options: str, folder: Path = tmp_path, **settings: str) -> RunningServer:
        server = RunningServer(folder, *options, **settings)
        made.append(server)
        return server.start()

    yield make
    for server in made:
        server.kill_all()


@pytest.fixture
def server(make_server: MakeServer, migrated_url: str) -> RunningServer:
    """One server with one worker, on every engine."""
    return make_server(database_url=migrated_url)
