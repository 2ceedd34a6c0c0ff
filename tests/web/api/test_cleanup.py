"""The reaper by hand, and its figures: for the operator alone."""

from collections.abc import AsyncIterator

import pytest

from laconic import clock
from laconic.clock import HOUR
from laconic.upkeep.lease import Lease
from laconic.upkeep.reaper import JOB
from tests.web.api.opened import Api, OpenApi

_STATS = "/api/admin/cleanup/stats"
_RUN = "/api/admin/cleanup/run"


@pytest.fixture
async def every_api(open_every_api: OpenApi) -> AsyncIterator[Api]:
    async with open_every_api() as api:
        yield api


async def test_a_run_by_hand_says_what_it_did_and_the_figures_follow(every_api: Api) -> None:
    async with every_api.client() as client:
        before = (await client.get(_STATS)).json()
        assert before == {
            "last_cleanup_time": None,
            "total_cleaned": 0,
            "last_batch_size": 0,
            "successful_runs": 0,
            "failed_runs": 0,
            "average_cleanup_ms": 0.0,
            "is_running": False,
        }
        made = await client.post(
            "/api/v1/urls", json={"original_url": "https://example.com/", "expires_in_hours": 1}
        )
        await every_api.services.database.execute(
            "UPDATE short_link SET expires_at = $1 WHERE short_code = $2",
            clock.now() - 2 * HOUR,
            made.json()["short_code"],
        )
        done = await client.post(_RUN)
        assert done.status_code == 200
        assert (done.json()["status"], done.json()["retired"], done.json()["is_complete"]) == (
            "done",
            1,
            True,
        )
        after = (await client.get(_STATS)).json()
    assert after["last_cleanup_time"].endswith("Z")
    assert (after["total_cleaned"], after["last_batch_size"], after["successful_runs"]) == (1, 1, 1)


async def test_a_second_run_is_refused_while_one_is_under_way(every_api: Api) -> None:
    lease = Lease(every_api.services.database, JOB)
    assert await lease.hold()
    async with every_api.client() as client:
        refused = await client.post(_RUN)
    assert (refused.status_code, refused.json()["code"]) == (409, "cleanup_running")


async def test_a_tenants_admin_is_not_the_operator(closed_api: Api) -> None:
    """Cleaning concerns all tenants."""
    key = await closed_api.key("admin")
    async with closed_api.client(x_api_key=key) as client:
        assert [(await client.get(_STATS)).status_code, (await client.post(_RUN)).status_code] == [403, 403]
    key = await closed_api.key("operator")
    async with closed_api.client(x_api_key=key) as client:
        assert [(await client.get(_STATS)).status_code, (await client.post(_RUN)).status_code] == [200, 200]
