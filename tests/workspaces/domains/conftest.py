"""An office, and one worker in it, on every engine."""

from collections.abc import AsyncIterator

import pytest

from laconic.storage.database import Database
from tests.workspaces.domains.office import Office, Worker, open_office


@pytest.fixture
async def office(database: Database) -> AsyncIterator[Office]:
    async with open_office(database) as office:
        yield office


@pytest.fixture
async def worker(office: Office) -> Worker:
    return await office.worker()
