"""How fast anyone may create: by address, with 429 and Retry-After beyond."""

import pytest
import structlog

from laconic.errors import TooManyRequests
from laconic.settings import Rate
from laconic.web.api.limits import Limiter, Limits
from laconic.workspaces.model import command_actor
from tests.web.api.opened import OpenApi
from tests.web.api.routes import URLS
from tests.web.people import browser, make_user, make_workspace

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


async def test_a_key_is_told_what_is_left(open_api: OpenApi) -> None:
    """RateLimit-* on every answer; beyond the rate 429 with Retry-After, and nothing is done."""
    async with (
        open_api(host="0.0.0.0", rate_api=SLOW) as api,
        api.client(x_api_key=await api.key("links:write", "links:read")) as client,
        api.client(x_api_key=await api.key("links:write")) as other,
    ):
        answers = [
            await client.post(URLS, json=BODY),
            await client.get(URLS),
            await client.post("/shorten", json={"url": "https://example.com/"}),
            await client.post(URLS, json=BODY),
            await client.get(URLS),
        ]
        assert [answer.status_code for answer in answers] == [201, 200, 201, 429, 429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0", "0"]
        assert {answer.headers["ratelimit-limit"] for answer in answers} == {"3"}
        assert all(int(answer.headers["ratelimit-reset"]) >= 1 for answer in answers)
        assert int(answers[4].headers["retry-after"]) >= 1
        assert (await other.post(URLS, json=BODY)).status_code == 201


async def test_trying_out_keys_is_slowed_down_by_address(open_api: OpenApi) -> None:
    """401 as often as the burst, then 429; another address is not held up."""
    async with open_api(host="0.0.0.0", rate_api=SLOW) as api:
        async with api.client("203.0.113.9", x_api_key="nonsense") as guesser:
            assert [(await guesser.get(URLS)).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
        async with api.client("203.0.113.10", x_api_key="nonsense") as other:
            assert (await other.get(URLS)).status_code == 401


async def test_a_person_has_one_rate_in_all_browsers(open_api: OpenApi) -> None:
    """The limit is the user's, not the session's."""
    async with open_api(host="0.0.0.0", rate_api=SLOW) as api:
        user = await make_user(api, "ann@example.com", password=None)
        statuses = []
        for number in range(4):
            token = await api.services.people.sessions.start(user, command_actor(1), None)
            async with browser(api, f"203.0.113.{number}").client as client:
                client.cookies.set("laconic_session", token)
                statuses.append((await client.get(URLS)).status_code)
        assert statuses == [200, 200, 200, 429]


async def test_machines_count_together_through_redis(open_api: OpenApi, redis_url: str) -> None:
    """A key's requests on two machines are of one rate."""
    async with (
        open_api(host="0.0.0.0", rate_api=SLOW, redis_url=redis_url) as one,
        open_api(host="0.0.0.0", rate_api=SLOW, redis_url=redis_url) as another,
    ):
        headers = {"x_api_key": await one.key("links:read")}
        async with one.client(**headers) as here, another.client(**headers) as there:
            answers = [await client.get(URLS) for client in (here, there, here, there, here)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["2", "1", "0", "0", "0"]
        assert int(answers[4].headers["retry-after"]) >= 1


async def test_without_redis_each_counts_alone_and_says_so(open_api: OpenApi) -> None:
    """No request fails for it; one log line, and a counter."""
    nowhere = "redis://127.0.0.1:1/0"
    with structlog.testing.capture_logs() as logs:
        async with (
            open_api(host="0.0.0.0", rate_api=SLOW, redis_url=nowhere) as api,
            api.client(x_api_key=await api.key("links:read")) as client,
        ):
            statuses = [(await client.get(URLS)).status_code for _ in range(5)]
            limits = Limits("test", Limiter(1.0, 2), api.services.shared_store)
            await limits.check("somebody")
            assert limits.counted_alone == 1
    assert statuses == [200, 200, 200, 429, 429]
    told = [line for line in logs if line["event"] == "rate limits are counted by each machine alone"]
    assert len(told) == 2  # one for each limit that was used, however many requests there were


async def test_machines_count_looks_for_a_proof_together(open_api: OpenApi, redis_url: str) -> None:
    """A workspace may make other servers be asked five times at once, on whichever machine; another workspace may, too.

    The headers are those of the limit that was met, and a host that nobody has claimed costs no look.
    """
    base_url = "http://proofs.example"
    async with (
        open_api(host="0.0.0.0", redis_url=redis_url, base_url=base_url) as one,
        open_api(host="0.0.0.0", redis_url=redis_url, base_url=base_url) as two,
    ):
        other = await make_workspace(one, "acme")
        keys = [await one.key("admin"), await one.key("admin", workspace_id=other)]
        verify = "/api/v1/domains/unproved.invalid.example/verify"
        for key in keys:
            async with one.client(x_api_key=key) as client:
                assert (
                    await client.post("/api/v1/domains", json={"host": "unproved.invalid.example"})
                ).status_code == 201
        async with one.client(x_api_key=keys[0]) as here, two.client(x_api_key=keys[0]) as there:
            for _ in range(6):
                unknown = await here.post("/api/v1/domains/unclaimed.invalid.example/verify", json={})
                assert unknown.status_code == 404
            answers = [
                await client.post(verify, json={}) for client in (here, there, here, there, here, there)
            ]
        assert [answer.status_code for answer in answers] == [409] * 5 + [429]
        assert [answer.headers["ratelimit-remaining"] for answer in answers[:2]] == ["4", "3"]
        assert answers[5].headers["ratelimit-remaining"] == "0"
        assert 1 <= int(answers[5].headers["retry-after"]) <= 5
        async with two.client(x_api_key=keys[1]) as client:
            assert (await client.post(verify, json={})).status_code == 409


async def test_workers_count_reports_together(open_api: OpenApi, redis_url: str) -> None:
    """Two workers with one Redis: five at once for an address, whichever of them it meets."""
    async with (
        open_api(host="0.0.0.0", redis_url=redis_url, base_url="http://reports.example") as one,
        open_api(host="0.0.0.0", redis_url=redis_url, base_url="http://reports.example") as two,
    ):
        key = await one.key("links:write")
        async with one.client(x_api_key=key) as client:
            code = (await client.post(URLS, json=BODY)).json()["short_code"]
        answers = []
        for number in range(6):
            caller = browser((one, two)[number % 2], base_url="http://reports.example")
            async with caller.client:
                sent = await caller.send(f"/{code}+", f"/{code}+", reason="spam")
                answers.append(sent.status_code)
        assert answers == [201] * 5 + [429]
