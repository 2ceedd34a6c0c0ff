"""How fast anyone may create: by address, with 429 and Retry-After beyond."""

import pytest

from laconic.errors import TooManyRequests
from laconic.settings import Rate
from laconic.web.api.limits import Limiter
from tests.web.api.opened import OpenApi
from tests.web.api.routes import URLS

# So slow that no second token comes while a test runs.
SLOW = Rate(per_second=0.001, burst=3)
BODY = {"original_url": "https://example.com/"}


async def test_burst_then_429(open_api: OpenApi) -> None:
    """As many at once as the burst, then a refusal that says when to come again; others are not held up."""
    async with open_api(host="0.0.0.0", open=True, rate_create=SLOW) as api:
        async with api.client("203.0.113.9") as client:
            answers = [await client.post(URLS, json=BODY) for _ in range(5)]
            assert [answer.status_code for answer in answers] == [201, 201, 201, 429, 429]
            assert answers[4].json()["code"] == "too_many_requests"
            assert int(answers[4].headers["retry-after"]) >= 1
            assert (await client.post("/shorten", json={"url": "https://example.com/"})).status_code == 429
        async with api.client("203.0.113.10") as other:
            assert (await other.post(URLS, json=BODY)).status_code == 201


async def test_key_is_not_held_up(open_api: OpenApi) -> None:
    """The limit is for those who are nobody."""
    async with (
        open_api(host="0.0.0.0", open=True, rate_create=SLOW) as api,
        api.client("203.0.113.9", x_api_key=await api.key("links:write")) as client,
    ):
        assert {(await client.post(URLS, json=BODY)).status_code for _ in range(6)} == {201}


async def test_forwarded_address_counts_only_from_a_trusted_proxy(open_api: OpenApi) -> None:
    """Behind our proxy each visitor has a limit of their own; a stranger cannot make up addresses."""
    options = {"host": "0.0.0.0", "open": True, "rate_create": SLOW, "trusted_proxies": ("10.0.0.0/8",)}
    async with (
        open_api(**options) as api,
        api.client("10.0.0.1") as proxy,
        api.client("203.0.113.9") as stranger,
    ):
        for client, statuses in ((proxy, [201] * 6), (stranger, [201, 201, 201, 429, 429, 429])):
            answers = [
                await client.post(URLS, json=BODY, headers={"x-forwarded-for": f"198.51.100.{number}"})
                for number in range(6)
            ]
            assert [answer.status_code for answer in answers] == statuses


def test_limiter_lets_more_in_as_time_passes() -> None:
    """Burst 2 and one a second: the third waits for a second to pass, for exactly as long as it is told."""
    moment = 100.0
    limiter = Limiter(1.0, 2, monotonic=lambda: moment)
    limiter.check("a")
    limiter.check("a")
    with pytest.raises(TooManyRequests) as refusal:
        limiter.check("a")
    assert refusal.value.retry_after == pytest.approx(1.0)
    moment += refusal.value.retry_after
    limiter.check("a")
    with pytest.raises(TooManyRequests):
        limiter.check("a")
