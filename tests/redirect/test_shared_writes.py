"""What waits to be written to the shared tier: in which order, how much of it, and what is left out."""

from collections.abc import Sequence
from typing import Any

import pytest

from laconic.redirect.cache import key_of
from laconic.redirect.shared import SharedTier
from laconic.storage.redis import RedisStore, open_redis
from laconic.storage.shared import Call, Script
from tests.redirect.links import link

_KEY = key_of(1, "abc")


@pytest.fixture
def tier(store: RedisStore) -> SharedTier:
    tier = SharedTier(store, "test")
    tier.following()
    return tier


async def _written(tier: SharedTier) -> None:
    while tier._pump is not None:
        await tier._pump


@pytest.mark.parametrize("versions", [(2, 3), (3, 2), (3, 3), (1, 3, 2)])
async def test_of_what_waits_for_a_link_the_newest_goes_out(
    tier: SharedTier, redis: Any, versions: Sequence[int]
) -> None:
    """In whatever order it came: nothing else is sent at all."""
    for version in versions:
        tier.keep(_KEY, link(version))
    assert [write.version for write in tier._waiting.values()] == [3]
    await _written(tier)
    assert b"https://example.com/v3" in redis.get("laconic:test:link:1/abc")


@pytest.mark.parametrize("is_told_first", [True, False])
async def test_an_answer_goes_out_rather_than_the_floor_of_its_version(
    tier: SharedTier, redis: Any, is_told_first: bool
) -> None:
    """The writer knows the link, and hears of its own change before or after."""
    if is_told_first:
        tier.changed(_KEY, 3)
    tier.keep(_KEY, link(3))
    tier.changed(_KEY, 3)
    await _written(tier)
    assert b"https://example.com/v3" in redis.get("laconic:test:link:1/abc")


async def test_what_waits_is_sent_256_at_a_time(
    tier: SharedTier, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest first, each once."""
    sent: list[list[str]] = []
    run_many = store.run_many

    async def watched(script: Script, calls: Sequence[Call]) -> None:
        sent.append([name for name, _ in calls])
        await run_many(script, calls)

    monkeypatch.setattr(store, "run_many", watched)
    for number in range(600):
        tier.keep(key_of(1, f"c{number}"), link())
    await _written(tier)
    names = [f"laconic:test:link:1/c{number}" for number in range(600)]
    assert sent == [names[:256], names[256:512], names[512:]]


async def test_20_000_writes_may_wait(tier: SharedTier) -> None:
    """Of more than that the oldest are left out, and counted."""
    keys = [key_of(1, f"c{number}") for number in range(20_003)]
    for key in keys[:20_000]:
        tier.keep(key, link())
    assert (len(tier._waiting), tier.counts.unwritten) == (20_000, 0)
    for key in keys[20_000:]:
        tier.keep(key, link())
    assert (list(tier._waiting), tier.counts.unwritten) == (keys[3:], 3)
    tier._waiting.clear()
    await _written(tier)


async def test_what_cannot_be_written_is_counted() -> None:
    """And not tried again."""
    store = open_redis("redis://127.0.0.1:1")
    tier = SharedTier(store, "test")
    for number in range(300):
        tier.keep(key_of(1, f"c{number}"), link())
    await _written(tier)
    assert (tier.counts.unwritten, len(tier._waiting)) == (300, 0)
    await store.close()


async def test_what_waits_at_the_end_is_written(tier: SharedTier, redis: Any) -> None:
    """A worker that stops gives it a moment; without any there is nothing to wait for."""
    tier.keep(_KEY, link())
    await tier.close()
    assert redis.dbsize() == 1
    await tier.close()
