"""How much the memory tier remembers, and what goes when it is full."""

import pytest

from laconic.errors import Unavailable
from laconic.redirect.cache import RedirectCache, key_of
from laconic.redirect.model import Redirect, Tombstone
from tests.redirect.links import Clock, Rows, link

pytestmark = pytest.mark.anyio

KEY = key_of(1, "abc")


async def test_the_number_of_entries_is_bounded(rows: Rows, clock: Clock) -> None:
    """The oldest go first."""
    cache = RedirectCache(rows, most_entries=10, now=clock)
    for number in range(100):
        rows.rows[1, f"c{number}"] = link()
        await cache.find(1, f"c{number}")
    assert list(cache.entries) == [key_of(1, f"c{number}") for number in range(90, 100)]
    assert cache.counts.evictions == 90


async def test_the_bytes_of_entries_are_bounded(rows: Rows, clock: Clock) -> None:
    """Long targets take the room of many short ones."""
    cache = RedirectCache(rows, most_bytes=100_000, now=clock)
    for number in range(200):
        rows.rows[1, f"c{number}"] = link(2_000 + number)
        cache.put(key_of(1, f"c{number}"), Redirect(link(number), clock.moment))
        assert cache._bytes <= 100_000
    assert cache._bytes == sum(entry.size for entry in cache.entries.values())
    assert 100 < len(cache.entries) < 200


async def test_visited_entries_survive(rows: Rows, clock: Clock) -> None:
    """A link that is asked for stays, however many others are asked for once."""
    cache = RedirectCache(rows, most_entries=20, now=clock)
    await cache.find(1, "abc")
    for number in range(200):
        await cache.find(1, "abc")
        await cache.find(1, f"flood{number}")
    assert rows.asked == 201


async def test_a_visit_saves_an_entry_once(rows: Rows, clock: Clock) -> None:
    """Who was spared and is not asked for again goes in the next round."""
    cache = RedirectCache(rows, most_entries=2, now=clock)
    for code in ("a", "b", "a", "b", "c", "d"):
        await cache.find(1, code)
    assert list(cache.entries) == [key_of(1, "b"), key_of(1, "d")]


async def test_one_eviction_passes_over_a_bounded_number(rows: Rows, clock: Clock) -> None:
    """When all were visited, the loop does not stop to walk through all of them."""
    cache = RedirectCache(rows, most_entries=1_000, now=clock)
    for number in range(1_000):
        await cache.find(1, f"c{number}")
        await cache.find(1, f"c{number}")
    await cache.find(1, "one more")
    assert len(cache.entries) == 1_000
    assert sum(not entry.visited for entry in cache.entries.values()) <= 101


async def test_a_flood_of_unknown_codes_is_bounded(rows: Rows, clock: Clock) -> None:
    """Remembered noes count like entries."""
    cache = RedirectCache(rows, most_entries=10_000, most_bytes=100_000, now=clock)
    for number in range(5_000):
        await cache.find(1, f"u{number}")
    assert cache._bytes <= 100_000
    assert len(cache.entries) < 300
    assert not cache._flights


async def test_failures_are_remembered_within_bounds(rows: Rows, clock: Clock) -> None:
    """A flood of codes while the database is away: of ten thousand each is tried once, one more and all are forgotten."""
    cache = RedirectCache(rows, now=clock, monotonic=clock.monotonic)
    rows.is_away = True

    async def fail(number: int) -> None:
        with pytest.raises(Unavailable):
            await cache.find(1, f"u{number}")

    for number in (*range(10_000), 0):
        await fail(number)
    assert rows.asked == 10_000
    for number in (10_000, 0):
        await fail(number)
    assert rows.asked == 10_002


async def test_128_mib_are_remembered_unless_told_otherwise(rows: Rows, clock: Clock) -> None:
    """A key, a note and what an entry costs besides are a MiB here; the smallest entry is then too many."""
    cache = RedirectCache(rows, now=clock)
    keys = [key_of(1, f"c{number:03}") for number in range(128)]
    note = "x" * ((1 << 20) - len(keys[0]) - 420)
    for key in keys:
        cache.put(key, Tombstone("taken_down", 1, clock.moment, note))
    assert (cache.size, cache.counts.evictions) == (128 << 20, 0)
    cache.put(KEY, Tombstone("unknown", 0, clock.moment))
    assert list(cache.entries) == [*keys[1:], KEY]


async def test_200_000_entries_are_remembered_unless_told_otherwise(rows: Rows, clock: Clock) -> None:
    """However small they are."""
    cache = RedirectCache(rows, now=clock)
    for number in range(200_001):
        cache.put(b"%d" % number, Tombstone("unknown", 0, clock.moment))
    assert (len(cache.entries), cache.counts.evictions) == (200_000, 1)


@pytest.mark.parametrize(("entries", "size"), [(0, 1 << 20), (100, 0), (0, 0)])
async def test_the_cache_can_be_switched_off(rows: Rows, clock: Clock, entries: int, size: int) -> None:
    """Every request is looked up, nothing is kept, and changes and doubts do no harm."""
    cache = RedirectCache(rows, most_entries=entries, most_bytes=size, now=clock)
    cache.following()
    for _ in range(3):
        assert isinstance(await cache.find(1, "abc"), Redirect)
        assert isinstance(await cache.find(1, "new"), Tombstone)
        cache.changed(1, "abc", 1)
        cache.forget(1, "new")
    assert rows.asked == 6
    assert not cache.entries
    assert cache._bytes == 0


async def test_the_bytes_are_counted_exactly(rows: Rows, clock: Clock) -> None:
    """Whatever replaces, drops or forgets an entry."""
    cache = RedirectCache(rows, now=clock, monotonic=clock.monotonic)
    cache.following()
    for version in (1, 2, 3):
        rows.rows[1, "abc"] = link(version)
        cache.changed(1, "abc", version)
        await cache.find(1, "abc")
        clock.pass_seconds(61)
        await cache.find(1, "abc")
    await cache.find(1, "new")
    cache.forget(1, "new")
    cache.forget(1, "never seen")
    assert cache._bytes == sum(entry.size for entry in cache.entries.values())
