"""A desk on every engine."""

from collections.abc import AsyncIterator

import pytest

from laconic.storage.database import Database
from tests.links.desk import Desk


@pytest.fixture
async def desk(database: Database) -> AsyncIterator[Desk]:
    desk = await Desk.open(database)
    yield desk
    await desk.close()
