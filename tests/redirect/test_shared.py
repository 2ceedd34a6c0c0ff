"""The shared tier, on a real Redis: what it keeps, for how long, and each way in which it could be too old."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from laconic import clock
from laconic.clock import DAY, HOUR, MINUTE, SECOND
from laconic.errors import Unavailable
from laconic.redirect.cache import RedirectCache, key_of
from laconic.redirect.model import Entry, LinkRow, Redirect, Tombstone
from laconic.redirect.shared import SharedTier, decode
from laconic.storage.redis import RedisStore, open_redis
from tests.redirect.links import Rows, link

_KEY = key_of(1, "abc")
_NAME = "laconic:test:link:1/abc"


class Machine:
    """A worker on a machine of its own: its memory, its shared tier, its view of the database."""

    def __init__(self, store: RedisStore, rows: Rows, *, now: Callable[[], int] = clock.now) -> None:
        self.rows = rows
        self.shared = SharedTier(store, "test", now=now)
        self.cache = RedirectCache(rows, shared=self.shared, now=now)

    async def find(self) -> Entry:
        """What a visitor is told; whatever that makes it write is written."""
        entry = await self.cache.find(1, "abc")
        await self.written()
        return entry

    async def written(self) -> None:
        if self.shared._pump is not None:
            await self.shared._pump

    def changed(self, version: int) -> None:
        self.cache.changed(1, "abc", version, clock.now())


@pytest.fixture
def rows() -> Rows:
    rows = Rows()
    rows.rows[1, "abc"] = link()
    return rows


@pytest.fixture
def here(store: RedisStore, rows: Rows) -> Machine:
    machine = Machine(store, rows)
    machine.cache.following()
    return machine


@pytest.fixture
def there(store: RedisStore, rows: Rows) -> Machine:
    machine = Machine(store, rows)
    machine.cache.following()
    return machine


def _version(entry: Entry) -> int:
    assert isinstance(entry, Redirect), entry
    return entry.version


def _held(redis: Any) -> dict[str, Any]:
    return dict(json.loads(redis.get(_NAME)))


# What is kept.


async def test_how_far_back_changes_must_be_told(store: RedisStore) -> None:
    """As long as an entry may live, a quarter of an hour for late writes, and an hour and five minutes for clocks."""
    assert SharedTier(store, "test").history == SharedTier(store, "test", ttl=HOUR // 2).history
    assert SharedTier(store, "test").history == 2 * HOUR + 20 * MINUTE
    assert SharedTier(store, "test", ttl=3 * HOUR).history == 4 * HOUR + 20 * MINUTE


async def test_a_change_is_known_for_longer_than_any_entry_lives(store: RedisStore) -> None:
    """An hour and a quarter, and not for ever."""
    seconds = 0.0
    tier = SharedTier(store, "test", monotonic=lambda: seconds)
    tier.changed(_KEY, 7)
    seconds = 2 * 75 * 60 - 1
    assert tier._recent.floor(_KEY) == 7
    tier = SharedTier(store, "test", monotonic=lambda: seconds)
    tier.changed(_KEY, 7)
    seconds += 2 * 75 * 60
    assert tier._recent.floor(_KEY) == 0


async def test_what_one_machine_has_looked_up_the_others_need_not(
    here: Machine, there: Machine, rows: Rows
) -> None:
    """One look-up for all; the click still counts for the right link."""
    first = await here.find()
    second = await there.find()
    assert rows.asked == 1
    assert isinstance(first, Redirect)
    assert isinstance(second, Redirect)
    assert (second.tail, second.link_id, second.version) == (first.tail, first.link_id, first.version)
    assert (here.shared.counts.hits, here.shared.counts.misses) == (0, 1)
    assert (there.shared.counts.hits, there.shared.counts.misses) == (1, 0)


async def test_an_entry_is_structured(here: Machine, redis: Any) -> None:
    await here.find()
    held = _held(redis)
    assert abs(held.pop("created_at") - clock.now()) < HOUR
    assert held == {
        "target": "https://example.com/v1",
        "status": 302,
        "link_id": 42,
        "expires_at": None,
        "version": 1,
        "is_tombstone": False,
        "reason": None,
        "note": None,
    }


@pytest.mark.parametrize(
    ("row", "reason", "seconds"),
    [
        (None, "unknown", 5),
        (link(is_deleted=True, is_active=False, gone_reason="deleted"), "deleted", 3600),
        (link(is_active=False, gone_reason="disabled"), "disabled", 3600),
        (link(is_active=False, gone_reason="taken_down"), "taken_down", 3600),
        (link(expires_at=SECOND), "expired", 3600),
    ],
)
async def test_every_no_is_kept_with_its_reason_and_without_its_target(
    here: Machine, there: Machine, rows: Rows, redis: Any, row: LinkRow | None, reason: str, seconds: int
) -> None:
    rows.rows.pop((1, "abc"))
    if row is not None:
        rows.rows[1, "abc"] = row
    for machine in (here, there):
        entry = await machine.find()
        assert isinstance(entry, Tombstone)
        assert entry.reason == reason
    assert rows.asked == 1
    held = _held(redis)
    assert (held["is_tombstone"], held["target"], held["status"]) == (True, None, None)
    assert (seconds - 3) * 1000 < redis.pttl(_NAME) <= seconds * 1000


@pytest.mark.parametrize(("life", "seconds"), [(None, 3600), (DAY, 3600), (600 * SECOND, 600)])
async def test_an_entry_lives_an_hour_or_until_its_link_expires(
    here: Machine, rows: Rows, redis: Any, life: int | None, seconds: int
) -> None:
    rows.rows[1, "abc"] = link(expires_at=None if life is None else clock.now() + life)
    await here.find()
    assert (seconds - 60) * 1000 < redis.pttl(_NAME) <= seconds * 1000


async def test_reading_and_looking_up_again_make_nothing_live_longer(
    here: Machine, there: Machine, redis: Any
) -> None:
    await here.find()
    redis.pexpire(_NAME, 60_000)
    await there.find()
    there.shared.keep(_KEY, link())
    await there.written()
    assert redis.pttl(_NAME) <= 60_000


async def test_a_write_that_was_stuck_on_its_way_does_not_live_from_its_arrival_on(
    store: RedisStore, rows: Rows, redis: Any
) -> None:
    """A Redis that was stopped carries out what was sent to it before, however long ago."""
    late = Machine(store, rows, now=lambda: clock.now() - 2 * HOUR)
    late.shared.keep(_KEY, link())
    await late.written()
    assert redis.get(_NAME) is None


async def test_a_clock_that_is_ahead_makes_nothing_live_longer(
    store: RedisStore, rows: Rows, redis: Any
) -> None:
    """An hour by the clock of Redis, whatever whoever writes takes for the time."""
    ahead = Machine(store, rows, now=lambda: clock.now() + DAY)
    ahead.shared.keep(_KEY, link())
    await ahead.written()
    assert 3_540_000 < redis.pttl(_NAME) <= 3_600_000


async def test_what_a_writer_has_changed_is_there_before_anybody_asks(
    here: Machine, there: Machine, rows: Rows, redis: Any
) -> None:
    """The writer knows the link: the next machine need not look it up."""
    await here.find()
    rows.rows[1, "abc"] = link(2)
    here.changed(2)
    here.cache.wrote(1, "abc", link(2))
    await here.written()
    assert _held(redis)["target"] == "https://example.com/v2"
    there.changed(2)
    await there.written()
    assert _version(await there.find()) == 2
    assert rows.asked == 1


async def test_a_listener_overwrites_what_a_dead_writer_did_not(
    here: Machine, there: Machine, redis: Any
) -> None:
    """A crash between commit and publish heals: the old target is gone from Redis."""
    await here.find()
    there.changed(2)
    await there.written()
    assert _held(redis) == {"version": 2, "floor": True}
    assert 3_540_000 < redis.pttl(_NAME) <= 3_600_000


# Each race of which the design speaks, in exactly that order.


async def test_a_look_up_in_flight_across_an_invalidation_is_kept_nowhere(
    here: Machine, rows: Rows, redis: Any
) -> None:
    rows.gate.clear()
    finding = asyncio.create_task(here.find())
    await rows.began.wait()
    rows.rows[1, "abc"] = link(2)
    here.changed(2)
    rows.gate.set()
    assert _version(await finding) == 2
    assert _held(redis)["version"] == 2
    assert here.cache.entries[_KEY].version == 2


async def test_a_stale_entry_that_is_read_again_after_an_invalidation_is_not_believed(
    here: Machine, there: Machine, rows: Rows, redis: Any
) -> None:
    """The change was told; nobody could overwrite Redis."""
    await here.find()
    stale = redis.get(_NAME)
    rows.rows[1, "abc"] = link(2)
    there.changed(2)
    await there.written()
    redis.set(_NAME, stale, px=3_600_000)
    assert _version(await there.find()) == 2
    assert there.shared.counts.too_old == 1
    assert _held(redis)["version"] == 2


async def test_a_stale_entry_is_not_believed_long_after_the_invalidation(
    here: Machine, there: Machine, rows: Rows, redis: Any
) -> None:
    """Redis was away for the whole of the change and came back with what it had: an hour counts, not a minute."""
    await here.find()
    stale = redis.get(_NAME)
    seconds = 0.0
    there.cache.monotonic = lambda: clock.monotonic() + seconds
    there.shared._recent._monotonic = there.cache.monotonic
    rows.rows[1, "abc"] = link(2)
    there.changed(2)
    await there.written()
    redis.set(_NAME, stale, px=3_600_000)
    seconds = 3_600.0
    assert _version(await there.find()) == 2


async def test_two_publishes_that_arrive_in_the_wrong_order_leave_the_newer(
    here: Machine, there: Machine, redis: Any
) -> None:
    here.shared.keep(_KEY, link(3))
    await here.written()
    there.shared.keep(_KEY, link(2))
    there.shared.changed(_KEY, 2)
    await there.written()
    assert _held(redis)["version"] == 3
    assert _held(redis)["target"] == "https://example.com/v3"


async def test_a_floor_never_replaces_the_answer_of_its_own_version(here: Machine, redis: Any) -> None:
    here.shared.keep(_KEY, link(3))
    await here.written()
    here.shared.changed(_KEY, 3)
    await here.written()
    assert _held(redis)["target"] == "https://example.com/v3"


async def test_a_fill_after_flushall_is_believed_by_nobody(
    here: Machine, there: Machine, rows: Rows, redis: Any, store: RedisStore
) -> None:
    """A slow machine that has not heard of the change yet puts the old answer where the new one was wiped out."""
    slow = Machine(store, rows)
    slow.cache.following()
    rows.gate.clear()
    finding = asyncio.create_task(slow.find())
    await rows.began.wait()
    rows.rows[1, "abc"] = link(2)
    for machine in (here, there):
        machine.changed(2)
        await machine.written()
    redis.flushall()
    rows.gate.set()
    assert _version(await finding) == 1
    assert _held(redis)["version"] == 1
    assert _version(await there.find()) == 2
    assert _held(redis)["version"] == 2
    slow.changed(2)
    assert _version(await slow.find()) == 2


async def test_a_worker_that_starts_later_is_told_what_it_missed(
    here: Machine, rows: Rows, redis: Any, store: RedisStore
) -> None:
    """History comes before anything in Redis is believed."""
    await here.find()
    rows.rows[1, "abc"] = link(2)
    new = Machine(store, rows)
    assert _version(await new.find()) == 2
    redis.set(_NAME, json.dumps(_held(redis) | {"version": 1, "target": "https://example.com/v1"}))
    new = Machine(store, rows)
    new.cache.changed(1, "abc", 2, None)
    new.cache.following()
    assert _version(await new.find()) == 2
    assert new.cache.history >= HOUR


async def test_a_code_that_was_unknown_and_is_made_now_is_found(
    here: Machine, there: Machine, rows: Rows, redis: Any
) -> None:
    """Somebody tried the custom code a moment before."""
    rows.rows.clear()
    assert isinstance(await here.find(), Tombstone)
    rows.rows[1, "abc"] = link()
    there.changed(1)
    assert _version(await there.find()) == 1
    here.changed(1)
    assert _version(await here.find()) == 1
    assert _held(redis)["is_tombstone"] is False


# Clocks, strangers, and servers that are away.


async def test_nothing_is_believed_while_changes_are_not_told(
    here: Machine, there: Machine, rows: Rows
) -> None:
    await here.find()
    there.cache.lost()
    rows.rows[1, "abc"] = link(2)
    assert _version(await there.find()) == 2


async def test_expiry_is_judged_by_the_clock_of_whoever_reads(
    here: Machine, store: RedisStore, rows: Rows
) -> None:
    """A machine a day ahead says that the link has expired; the others do not take its word for it."""
    rows.rows[1, "abc"] = link(expires_at=clock.now() + HOUR)
    ahead = Machine(store, rows, now=lambda: clock.now() + DAY)
    ahead.cache.following()
    assert isinstance(await ahead.find(), Tombstone)
    assert _version(await here.find()) == 1


async def test_an_entry_that_outlived_its_link_is_no_redirect(
    here: Machine, store: RedisStore, rows: Rows
) -> None:
    rows.rows[1, "abc"] = link(expires_at=clock.now() + HOUR)
    behind = Machine(store, rows, now=lambda: clock.now() + 2 * HOUR)
    behind.cache.following()
    await here.find()
    entry = await behind.find()
    assert isinstance(entry, Tombstone)
    assert entry.reason == "expired"


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"\xff",
        b"7",
        b"[]",
        b"{}",
        b'{"version": 1}',
        b'{"version":"1","created_at":1,"expires_at":null,"is_tombstone":true,"reason":"deleted","link_id":1}',
        b'{"version":1,"created_at":1,"expires_at":null,"is_tombstone":true,"reason":"because","link_id":1}',
        b'{"version":1,"created_at":1,"expires_at":null,"is_tombstone":false,"link_id":1,"target":"x","status":200}',
        json.dumps(
            {
                "version": 1,
                "created_at": 1,
                "expires_at": None,
                "is_tombstone": False,
                "link_id": 1,
                "target": "https://a/\r\nset-cookie: a=b",
                "status": 302,
            }
        ).encode(),
    ],
)
async def test_what_a_stranger_has_written_is_no_answer(here: Machine, redis: Any, value: bytes) -> None:
    assert decode(value, clock.now()) is None
    redis.set(_NAME, value)
    assert _version(await here.find()) == 1


@pytest.mark.parametrize("link_id", [None, 0, -1, 2**63, "7", 7.0, True])
def test_a_redirect_of_no_link_is_no_answer(link_id: Any) -> None:
    """A stranger has written it: there would be nobody to count its clicks for, and the journal takes ids alone."""
    document = {"version": 1, "created_at": 1, "expires_at": None, "is_tombstone": False, "link_id": link_id}
    assert (
        decode(json.dumps(document | {"target": "https://a/", "status": 302}).encode(), clock.now()) is None
    )


async def test_p7_without_the_database_what_redis_knows_goes_on(
    here: Machine, there: Machine, rows: Rows
) -> None:
    """P7, also on a machine that has never been asked for the link."""
    await here.find()
    there.cache.lost()
    rows.is_away = True
    assert _version(await there.find()) == 1
    assert there.cache.counts.stale == 1


@pytest.mark.parametrize("row", [None, link(is_active=False, gone_reason="disabled")])
async def test_p6_without_the_database_a_no_from_redis_is_not_believed(
    here: Machine, there: Machine, rows: Rows, row: LinkRow | None
) -> None:
    """P6: it may have become a yes."""
    rows.rows.pop((1, "abc"))
    if row is not None:
        rows.rows[1, "abc"] = row
    await here.find()
    there.cache.lost()
    rows.is_away = True
    with pytest.raises(Unavailable):
        await there.find()


async def test_without_the_database_redis_is_believed_for_max_stale_only(
    here: Machine, store: RedisStore, rows: Rows, redis: Any
) -> None:
    await here.find()
    redis.persist(_NAME)
    rows.is_away = True
    later = Machine(store, rows, now=lambda: clock.now() + HOUR + SECOND)
    with pytest.raises(Unavailable):
        await later.find()


async def test_without_redis_the_database_is_asked(rows: Rows) -> None:
    """P7: nothing fails by it."""
    store = open_redis("redis://127.0.0.1:1")
    machine = Machine(store, rows)
    machine.cache.following()
    assert _version(await machine.find()) == 1
    assert machine.shared.counts.away == 1
    await store.close()


async def test_how_long_a_change_took_is_observed(here: Machine) -> None:
    """History and clocks that are ahead spoil nothing."""
    here.cache.changed(1, "abc", 2, clock.now() - 300_000)
    here.cache.changed(1, "abc", 3, clock.now() + HOUR)
    here.cache.changed(1, "abc", 4, None)
    assert here.cache.propagation.count == 2
    assert 0.3 <= here.cache.propagation.most < 60
    await here.written()
