"""A site with people in it, their browsers; and an office: on the fast engine, or on every one."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.web.api.opened import Api, opener
from tests.web.pages.dashboard.office import Office, open_office
from tests.web.people import Browser, browser, make_user

ANN = "ann@example.com"
VERA = "vera@example.com"


@pytest.fixture
async def office(empty_database: str, tmp_path: Path) -> AsyncIterator[Office]:
    async with opener(empty_database, tmp_path / "data")(host="0.0.0.0") as api, open_office(api) as office:
        yield office


@pytest.fixture
async def every_office(migrated_url: str, tmp_path: Path) -> AsyncIterator[Office]:
    """The same on every engine."""
    async with opener(migrated_url, tmp_path / "data")(host="0.0.0.0") as api, open_office(api) as office:
        yield office


@pytest.fixture
async def api(empty_database: str, tmp_path: Path) -> AsyncIterator[Api]:
    """On an address that others can reach."""
    async with opener(empty_database, tmp_path / "data")(host="0.0.0.0") as api:
        yield api


@pytest.fixture
async def ann(api: Api) -> AsyncIterator[Browser]:
    """An admin, signed in."""
    await make_user(api, ANN, "admin")
    one = browser(api)
    async with one.client:
        await one.sign_in(ANN)
        yield one


@pytest.fixture
async def vera(api: Api) -> AsyncIterator[Browser]:
    """A viewer, signed in."""
    await make_user(api, VERA, "viewer")
    one = browser(api, "198.51.100.7")
    async with one.client:
        await one.sign_in(VERA)
        yield one
