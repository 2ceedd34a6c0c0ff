"""/api/v1/kgs: codes that programs take ahead are theirs alone; creates are slowed when codes run short."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from laconic.upkeep.lease import Lease
from laconic.wiring import open_filler
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, KEYS_ALLOCATE, LINKS_READ, LINKS_WRITE
from tests.web.site import Site, open_site

POOL = 1_000


@pytest.fixture
async def site(migrated_url: str, tmp_path: Path) -> AsyncIterator[Site]:
    async with open_site(migrated_url, tmp_path / "site", kgs_pool_min_size=POOL, kgs_batch_size=500) as site:
        yield site


async def fill(site: Site) -> None:
    services = site.services
    lease = Lease(services.database, services.works.maker.job)
    await open_filler(services.settings, services.works, lease, services.shared_store).run_to_rest()
    await lease.release()
    await services.pool.look()


async def key(site: Site, *scopes: str) -> dict[str, str]:
    secret, _ = await site.services.api_keys.create(
        DEFAULT_WORKSPACE_ID, "program", frozenset(scopes or (KEYS_ALLOCATE, LINKS_READ, LINKS_WRITE))
    )
    return {"authorization": f"Bearer {secret}"}


async def create(site: Site, code: str, headers: dict[str, str], **fields: Any) -> Any:
    body = {"original_url": "https://example.com/", "custom_code": code, **fields}
    return await site.client.post("/api/v1/urls", json=body, headers=headers)


async def row_of(site: Site, code: str) -> Any:
    return await site.services.database.fetch_one(
        "SELECT status, allocated_to_service, allocated_to_url_id FROM kgs_keys WHERE short_code = $1", code
    )


async def test_code_taken_ahead_becomes_a_link(site: Site) -> None:
    """As a custom code of the same key; the row says which link has it."""
    mine = await key(site)
    code = (await site.client.get("/api/v1/kgs/key", headers=mine)).json()["short_code"]
    assert len(code) == 7
    assert (await row_of(site, code))[0] == "reserved"
    answer = await create(site, code, mine)
    assert answer.status_code == 201
    assert answer.json()["short_code"] == code
    row = await row_of(site, code)
    assert (row[0], str(row[2])) == ("used", answer.json()["id"])


@pytest.mark.parametrize("with_key", [False, True])
async def test_nobody_else_can_use_it(site: Site, with_key: bool) -> None:
    """Another key of the same workspace gets 409, alone and in a bulk; so does it with an Idempotency-Key."""
    mine, other = await key(site), await key(site)
    headers = {**other, **({"idempotency-key": "once"} if with_key else {})}
    code = (await site.client.get("/api/v1/kgs/key", headers=mine)).json()["short_code"]
    answer = await create(site, code, headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "code_taken")
    line = f'{{"original_url": "https://example.com/", "custom_code": "{code}"}}\n'
    bulk = {"content-type": "application/x-ndjson"}
    refused = await site.client.post("/api/v1/urls/bulk", content=line, headers={**headers, **bulk})
    assert refused.json()["status"] == 409
    seen = await site.client.get(f"/api/v1/codes/{code}", headers=other)
    assert seen.json() == {"available": False, "reason": "taken"}
    assert (await site.client.get(f"/api/v1/codes/{code}", headers=mine)).json() == {"available": True}
    made = await site.client.post("/api/v1/urls/bulk", content=line, headers={**mine, **bulk})
    assert made.json()["status"] == 201
    assert (await row_of(site, code))[0] == "used"


async def test_idempotent_create_uses_it_up(site: Site) -> None:
    """In the transaction that makes the link."""
    mine = await key(site)
    code = (await site.client.get("/api/v1/kgs/key", headers=mine)).json()["short_code"]
    for _ in range(2):
        answer = await create(site, code, {**mine, "idempotency-key": "a"})
        assert answer.status_code == 201
    assert (await row_of(site, code))[0] == "used"


async def test_open_mode_has_codes_of_its_own(site: Site) -> None:
    """Without a key in the first minute; a key made later cannot use them."""
    code = (await site.client.get("/api/v1/kgs/key")).json()["short_code"]
    assert (await create(site, code, await key(site))).status_code == 409
    assert (await create(site, code, {})).status_code == 201


async def test_many_at_once(site: Site) -> None:
    """More than a share of the pool are made on the fly; all different, all the caller's."""
    await fill(site)
    mine = await key(site)
    answers = [
        await site.client.post("/api/v1/kgs/keys/bulk", json={"count": 700}, headers=mine) for _ in range(3)
    ]
    codes = [code for answer in answers for code in answer.json()["short_codes"]]
    assert len(set(codes)) == len(codes) == 2_100
    row = await site.services.database.fetch_one("SELECT count(*) FROM kgs_keys WHERE status = 'reserved'")
    assert row is not None
    assert row[0] == 2_100
    assert (await create(site, codes[0], mine)).status_code == 201


async def test_what_is_not_needed_goes_back(site: Site) -> None:
    """Only the caller's own and unused; then anybody may have it."""
    mine, other = await key(site), await key(site)
    codes = (await site.client.post("/api/v1/kgs/keys/bulk", json={"count": 3}, headers=mine)).json()[
        "short_codes"
    ]
    await create(site, codes[0], mine)

    async def give_back(headers: dict[str, str]) -> int:
        answer = await site.client.post(
            "/api/v1/kgs/keys/return", json={"short_codes": [*codes, "unknown", "a' OR"]}, headers=headers
        )
        return int(answer.json()["returned"])

    assert await give_back(other) == 0
    assert await give_back(mine) == 2
    assert await give_back(mine) == 0
    assert tuple(await row_of(site, codes[1])) == ("unused", None, None)
    assert (await create(site, codes[1], other)).status_code == 201


async def test_ten_thousand_there_and_back(site: Site) -> None:
    """As many as one request may name."""
    answer = await site.client.post("/api/v1/kgs/keys/bulk", json={"count": 10_000})
    codes = answer.json()["short_codes"]
    assert len(set(codes)) == 10_000
    returned = await site.client.post("/api/v1/kgs/keys/return", json={"short_codes": codes})
    assert returned.json() == {"returned": 10_000}


@pytest.mark.parametrize("count", [0, 10_001, -1, "x", None])
async def test_counts_that_cannot_be(site: Site, count: Any) -> None:
    """One to ten thousand."""
    answer = await site.client.post("/api/v1/kgs/keys/bulk", json={"count": count})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "key"), ("POST", "keys/bulk"), ("POST", "keys/return"), ("GET", "stats")]
)
async def test_scope_is_needed(site: Site, method: str, path: str) -> None:
    """keys:allocate, on every route."""
    answer = await site.client.request(
        method, f"/api/v1/kgs/{path}", json={"count": 1}, headers=await key(site, LINKS_WRITE)
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


async def test_stats_and_health_tell_the_pool(site: Site) -> None:
    """Sizes by tier and region, thresholds, rates, and the level in a word."""
    before = (await site.client.get("/api/v1/kgs/stats")).json()
    assert (before["pool_size"], before["status"], before["minutes_to_exhaustion"]) == (0, "critical", None)
    await fill(site)
    stats = (await site.client.get("/api/v1/kgs/stats")).json()
    assert POOL <= stats["pool_size"] < POOL + 100
    assert stats["status"] == "ok"
    assert stats["thresholds"] == {"minimum": 1_000, "low": 500, "critical": 100}
    (region,) = stats["regions"]
    assert (region["region"], region["code_length"], region["shared"]) == ("default", 7, None)
    assert region["durable"] == stats["pool_size"]
    health = (await site.client.get("/health")).json()
    assert health["kgs_pool_size"] == stats["pool_size"]
    await site.make_link()
    stats = (await site.client.get("/api/v1/kgs/stats")).json()
    assert 0 < stats["pool_size"] < health["kgs_pool_size"]
    assert stats["rates"]["allocated_per_second"] > 0
    assert stats["minutes_to_exhaustion"] is not None  # on a quick machine next to nothing


async def test_creates_are_slowed_when_codes_run_short(migrated_url: str, tmp_path: Path) -> None:
    """Below the critical mark each workspace has its share, the rest gets 429 with Retry-After; nothing else is slowed."""
    from laconic.settings import Rate

    async with open_site(
        migrated_url, tmp_path / "site", kgs_pool_min_size=POOL, rate_api=Rate(1, 3)
    ) as site:
        # A pool that was never full is one that has just begun to be filled.
        assert [await _status(site) for _ in range(5)] == [201] * 5
        await fill(site)
        await site.services.database.execute("UPDATE kgs_range SET taken = pooled - 50")
        await site.services.pool.look()
        assert [await _status(site) for _ in range(5)] == [201, 201, 201, 429, 429]
        answer = await site.client.post("/shorten", json={"url": "https://example.com/"})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert (await site.client.get("/api/v1/urls")).status_code == 200
        await site.services.database.execute("UPDATE kgs_range SET taken = 0")
        await site.services.pool.look()
        assert await _status(site) == 201


async def _status(site: Site) -> int:
    answer = await site.client.post("/api/v1/urls", json={"original_url": "https://example.com/"})
    return int(answer.status_code)
