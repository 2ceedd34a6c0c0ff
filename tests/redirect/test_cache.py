"""The memory tier: what may be remembered, for how long, and what a change that is told does to it."""

import asyncio

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

from laconic.clock import HOUR, SECOND
from laconic.errors import Unavailable
from laconic.redirect.cache import RedirectCache, key_of
from laconic.redirect.model import Entry, LinkRow, Redirect, Tombstone
from tests.redirect.links import NOON, Clock, Rows, link

pytestmark = pytest.mark.anyio

KEY = key_of(1, "abc")


@pytest.fixture
def cache(rows: Rows, clock: Clock) -> RedirectCache:
    """One that is being told of changes."""
    cache = RedirectCache(rows, now=clock, monotonic=clock.monotonic)
    cache.following()
    return cache


def _version(entry: Entry) -> int:
    assert isinstance(entry, Redirect), entry
    return entry.version


def _is_fresh_to_the_lane(cache: RedirectCache, clock: Clock, key: bytes = KEY) -> bool:
    entry = cache.entries.get(key)
    return entry is not None and clock.moment < entry.fresh_until


# Remembering.


async def test_a_link_is_looked_up_once(cache: RedirectCache, rows: Rows) -> None:
    """The second time it comes from memory."""
    assert _version(await cache.find(1, "abc")) == 1
    assert _version(await cache.find(1, "abc")) == 1
    assert rows.asked == 1
    assert (cache.counts.hits, cache.counts.misses) == (1, 1)


async def test_a_code_means_something_else_on_another_domain(cache: RedirectCache, rows: Rows) -> None:
    """The domain is part of the key."""
    rows.rows[11, "abc"] = link(link_id=77)
    await cache.find(1, "abc")
    other = await cache.find(11, "abc")
    assert isinstance(other, Redirect)
    assert other.link_id == 77


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (None, "unknown"),
        (link(is_deleted=True, is_active=False, gone_reason="deleted"), "deleted"),
        (link(is_active=False, gone_reason="disabled"), "disabled"),
        (link(is_active=False, gone_reason="taken_down"), "taken_down"),
        (link(is_active=False, gone_reason="expired"), "expired"),
        (link(expires_at=NOON), "expired"),
        (link(is_active=False), "disabled"),
        (link(is_deleted=True), "deleted"),
    ],
)
async def test_a_no_is_remembered_with_its_reason(
    cache: RedirectCache, rows: Rows, clock: Clock, row: LinkRow | None, reason: str
) -> None:
    """It costs one look-up, and the lane never answers it."""
    rows.rows.pop((1, "abc"))
    if row is not None:
        rows.rows[1, "abc"] = row
    for _ in range(3):
        entry = await cache.find(1, "abc")
        assert isinstance(entry, Tombstone)
        assert entry.reason == reason
    assert rows.asked == 1
    assert not _is_fresh_to_the_lane(cache, clock)


async def test_an_unknown_code_is_asked_for_again_after_five_seconds(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """Links with generated codes are made without telling anybody."""
    await cache.find(1, "new")
    rows.rows[1, "new"] = link()
    clock.pass_seconds(4.9)
    assert isinstance(await cache.find(1, "new"), Tombstone)
    clock.pass_seconds(0.1)
    assert _version(await cache.find(1, "new")) == 1


async def test_a_no_is_checked_again_after_a_minute(cache: RedirectCache, rows: Rows, clock: Clock) -> None:
    """That of a link which is gone, not of one that is unknown."""
    rows.rows[1, "abc"] = link(is_active=False, gone_reason="disabled")
    for seconds, asked in ((0, 1), (59.9, 1), (0.1, 2)):
        clock.pass_seconds(seconds)
        assert isinstance(await cache.find(1, "abc"), Tombstone)
        assert rows.asked == asked


async def test_an_entry_is_checked_again_after_a_minute(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """Should a change ever not have been told."""
    await cache.find(1, "abc")
    rows.rows[1, "abc"] = link(2)
    clock.pass_seconds(59.9)
    assert _version(await cache.find(1, "abc")) == 1
    assert _is_fresh_to_the_lane(cache, clock)
    clock.pass_seconds(0.1)
    assert not _is_fresh_to_the_lane(cache, clock)
    assert _version(await cache.find(1, "abc")) == 2


async def test_an_entry_is_as_old_as_the_beginning_of_its_look_up(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """What was committed while the look-up was under way it may not have seen."""
    rows.gate.clear()
    finding = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    clock.pass_seconds(50)
    rows.gate.set()
    await finding
    clock.pass_seconds(10)
    assert not _is_fresh_to_the_lane(cache, clock)


@pytest.mark.parametrize("step", [-HOUR, 24 * HOUR])
async def test_a_clock_that_was_set_puts_everything_in_doubt(
    cache: RedirectCache, rows: Rows, clock: Clock, step: int
) -> None:
    """Or an entry would stay fresh, and a no believed, for as long as the clock was wrong."""
    offset = 0
    cache.now = lambda: clock.moment + offset
    # The other clock began when the machine did.
    cache.monotonic = lambda: 1_000.3 + (clock.moment - NOON) / SECOND
    cache.watch_clock()
    await cache.find(1, "abc")
    rows.rows.pop((1, "abc"))
    for _ in range(9):
        clock.pass_seconds(1.7)
        cache.watch_clock()
        assert _version(await cache.find(1, "abc")) == 1
    offset = step
    cache.watch_clock()
    assert isinstance(await cache.find(1, "abc"), Tombstone)


@pytest.mark.parametrize(("drift", "is_fresh"), [(-0.45, True), (0.45, True), (-0.55, False), (0.55, False)])
async def test_a_clock_that_is_corrected_a_little_puts_nothing_in_doubt(
    cache: RedirectCache, clock: Clock, drift: float, is_fresh: bool
) -> None:
    """Less than half a second between two looks at it is no other time; more is."""
    cache.watch_clock()
    await cache.find(1, "abc")
    started = clock.monotonic()
    cache.monotonic = lambda: started
    clock.pass_seconds(drift)
    cache.watch_clock()
    assert _is_fresh_to_the_lane(cache, clock) == is_fresh


async def test_look_ups_and_what_the_lane_found_itself_are_counted(cache: RedirectCache, rows: Rows) -> None:
    """Its hits cost it no counter: they are its answers less what it had to look up."""
    assert isinstance(cache.find_now(1, "abc"), Redirect)
    assert isinstance(cache.find_now(1, "new"), Tombstone)
    await cache.find(1, "abc")
    counts = cache.counts
    assert (counts.look_ups, counts.in_lane, counts.hits, counts.misses) == (2, 1, 1, 2)
    assert counts.asked_twice == 1


async def test_the_lane_does_not_wait_for_a_look_up(cache: RedirectCache, rows: Rows) -> None:
    """One that is not answered at once is nobody's: whoever asks next begins anew. Nor is a failure an answer."""
    rows.gate.clear()
    assert cache.find_now(1, "abc") is None
    assert not cache._flights
    rows.is_away = True
    assert cache.find_now(1, "new") is None
    assert (cache.counts.in_lane, cache.counts.asked_twice) == (0, 0)
    rows.is_away = False
    rows.gate.set()
    assert _version(await cache.find(1, "abc")) == 1


# Changes that are told.


async def test_nothing_older_is_served_once_a_change_is_told(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """The entry is gone at that moment, for the lane too."""
    await cache.find(1, "abc")
    rows.rows[1, "abc"] = link(2)
    cache.changed(1, "abc", 2)
    assert not _is_fresh_to_the_lane(cache, clock)
    assert _version(await cache.find(1, "abc")) == 2


async def test_a_change_that_is_known_already_costs_nothing(cache: RedirectCache, rows: Rows) -> None:
    """The worker that made it hears of it a second time, from the database."""
    rows.rows[1, "abc"] = link(2)
    cache.changed(1, "abc", 2)
    await cache.find(1, "abc")
    cache.changed(1, "abc", 2)
    await cache.find(1, "abc")
    assert rows.asked == 1


async def test_a_look_up_in_flight_across_a_change_is_not_believed(cache: RedirectCache, rows: Rows) -> None:
    """It read the row before the change was committed: it is asked again, and nobody sees the old target."""
    rows.gate.clear()
    finding = [asyncio.create_task(cache.find(1, "abc")) for _ in range(3)]
    await rows.began.wait()
    rows.rows[1, "abc"] = link(2)
    cache.changed(1, "abc", 2)
    rows.gate.set()
    assert [_version(await found) for found in finding] == [2, 2, 2]
    assert _version(await cache.find(1, "abc")) == 2
    assert rows.asked == 2


async def test_a_waiter_does_not_get_what_changed_before_its_turn(cache: RedirectCache, rows: Rows) -> None:
    """The change is told between the end of the look-up and the moment the waiter wakes."""
    rows.gate.clear()
    first = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    second = asyncio.create_task(cache.find(1, "abc"))
    await asyncio.sleep(0)

    async def change_at_once() -> None:
        await first
        rows.rows[1, "abc"] = link(2)
        cache.changed(1, "abc", 2)

    # Wakes before `second`, which waits for the same look-up through one future more.
    changing = asyncio.create_task(change_at_once())
    await asyncio.sleep(0)
    rows.gate.set()
    await changing
    assert _version(await second) == 2


async def test_two_changes_told_in_the_wrong_order_leave_the_newer(cache: RedirectCache, rows: Rows) -> None:
    """Versions only grow: the older one, told later, takes nothing back."""
    rows.rows[1, "abc"] = link(3)
    cache.changed(1, "abc", 3)
    await cache.find(1, "abc")
    cache.changed(1, "abc", 2)
    assert _version(await cache.find(1, "abc")) == 3
    assert rows.asked == 1
    cache.put(KEY, Redirect(link(2), NOON))
    assert _version(await cache.find(1, "abc")) == 3


async def test_an_old_answer_that_comes_late_is_not_remembered(cache: RedirectCache, clock: Clock) -> None:
    """A fill older than the floor is dropped."""
    cache.changed(1, "abc", 5)
    cache.put(KEY, Redirect(link(4), clock.moment))
    assert KEY not in cache.entries
    cache.put(KEY, Redirect(link(5), clock.moment))
    assert KEY in cache.entries


async def test_an_old_answer_does_not_replace_a_newer_one(cache: RedirectCache, clock: Clock) -> None:
    """Without any floor."""
    cache.put(KEY, Redirect(link(5), clock.moment))
    cache.put(KEY, Redirect(link(4), clock.moment))
    assert cache.entries[KEY].version == 5


async def test_a_custom_code_made_after_it_was_found_unknown_works_at_once(
    cache: RedirectCache, rows: Rows
) -> None:
    """Its making is told like a change."""
    assert isinstance(await cache.find(1, "new"), Tombstone)
    rows.rows[1, "new"] = link()
    cache.changed(1, "new", 1)
    assert _version(await cache.find(1, "new")) == 1


async def test_a_code_made_while_it_was_looked_up_works_at_once(cache: RedirectCache, rows: Rows) -> None:
    """The look-up found nothing, the link was made, and only then did the look-up end."""
    rows.gate.clear()
    finding = asyncio.create_task(cache.find(1, "new"))
    await rows.began.wait()
    rows.rows[1, "new"] = link()
    cache.forget(1, "new")
    rows.gate.set()
    assert _version(await finding) == 1
    assert _version(await cache.find(1, "new")) == 1


async def test_a_code_that_was_unknown_is_forgotten_when_it_is_made(cache: RedirectCache, rows: Rows) -> None:
    """By the process that makes it."""
    await cache.find(1, "new")
    rows.rows[1, "new"] = link()
    cache.forget(1, "new")
    assert _version(await cache.find(1, "new")) == 1


async def test_a_link_that_changes_all_the_time_is_unavailable_and_never_old(
    cache: RedirectCache, rows: Rows
) -> None:
    """Each look-up is overtaken by a change: 503 rather than an old target."""

    class Restless(Rows):
        async def __call__(self, domain_id: int, code: str) -> LinkRow | None:
            row = await rows(domain_id, code)
            version = rows.asked + 1
            rows.rows[1, "abc"] = link(version)
            cache.changed(1, "abc", version)
            return row

    cache.look_up = Restless()
    with pytest.raises(Unavailable):
        await cache.find(1, "abc")
    assert rows.asked == 4


async def test_a_million_changes_at_once_take_little_memory(cache: RedirectCache, rows: Rows) -> None:
    """Floors are bounded, and a look-up whose floor had to go is asked again."""
    rows.gate.clear()
    finding = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    rows.rows[1, "abc"] = link(2)
    cache.changed(1, "abc", 2)
    for number in range(150_000):
        cache.changed(1, f"bulk{number}", 2)
    assert len(cache._floors) == 100_000
    rows.gate.set()
    assert _version(await finding) == 2


async def test_floors_go_when_no_look_up_can_be_that_old(cache: RedirectCache, clock: Clock) -> None:
    """A minute is longer than the longest look-up."""
    cache.changed(1, "abc", 2)
    clock.pass_seconds(61)
    cache.changed(1, "other", 2)
    assert list(cache._floors) == [key_of(1, "other")]


async def test_how_long_changes_took_is_observed(cache: RedirectCache, clock: Clock) -> None:
    """From the moment of each; one that seems to come from the future took no time, and of history none is known."""
    cache.changed(1, "abc", 2, clock.moment - 300_000)
    cache.changed(1, "abc", 3, clock.moment - 2 * SECOND)
    cache.changed(1, "abc", 4, clock.moment + HOUR)
    cache.changed(1, "abc", 5, None)
    spread = cache.propagation
    assert (spread.count, spread.counts[0], spread.most, spread.total) == (3, 1, 2.0, 2.3)


# Changes that are not told.


async def test_when_changes_are_no_longer_told_everything_is_checked_before_use(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """The listening connection broke: what was remembered may be old."""
    await cache.find(1, "abc")
    await cache.find(1, "gone")
    rows.rows[1, "abc"] = rows.rows[1, "gone"] = link(2)
    cache.lost()
    assert not _is_fresh_to_the_lane(cache, clock)
    assert _version(await cache.find(1, "abc")) == 2
    assert _version(await cache.find(1, "gone")) == 2


async def test_while_changes_are_not_told_nothing_is_believed_for_a_second(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """P4 without the listening connection: a yes is asked for again after half a second, a no after one."""
    cache.lost()
    await cache.find(1, "abc")
    await cache.find(1, "new")
    rows.rows[1, "abc"] = rows.rows[1, "new"] = link(2)
    clock.pass_seconds(0.5)
    assert not _is_fresh_to_the_lane(cache, clock)
    assert _version(await cache.find(1, "abc")) == 2
    clock.pass_seconds(0.5)
    assert _version(await cache.find(1, "new")) == 2


async def test_when_changes_are_told_again_everything_is_checked_once(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """Some may have been missed in between; afterwards memory is believed again."""
    cache.lost()
    await cache.find(1, "abc")
    rows.rows[1, "abc"] = link(2)
    cache.following()
    assert not _is_fresh_to_the_lane(cache, clock)
    assert _version(await cache.find(1, "abc")) == 2
    clock.pass_seconds(30)
    assert _is_fresh_to_the_lane(cache, clock)


@pytest.mark.parametrize("event", ["following", "lost"])
async def test_a_look_up_begun_before_the_telling_broke_proves_nothing_after_it(
    cache: RedirectCache, rows: Rows, event: str
) -> None:
    """The change between its reading and the event was told to nobody."""
    rows.gate.clear()
    finding = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    rows.rows[1, "abc"] = link(2)
    getattr(cache, event)()
    rows.gate.set()
    assert _version(await finding) == 2
    assert rows.asked == 2


async def test_losing_what_is_lost_already_changes_nothing(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """Each failed attempt to listen says so again; entries checked meanwhile stay."""
    cache.lost()
    await cache.find(1, "abc")
    cache.lost()
    assert _is_fresh_to_the_lane(cache, clock)


# Many at once.


async def test_256_who_ask_at_once_cost_one_look_up(cache: RedirectCache, rows: Rows) -> None:
    """Single flight."""
    rows.gate.clear()
    finding = [asyncio.create_task(cache.find(1, "abc")) for _ in range(256)]
    await rows.began.wait()
    await asyncio.sleep(0)
    rows.gate.set()
    assert {_version(entry) for entry in await asyncio.gather(*finding)} == {1}
    assert rows.asked == 1


async def test_256_who_ask_at_once_share_one_failure(cache: RedirectCache, rows: Rows) -> None:
    """And nobody waits for ever."""
    rows.is_away = True
    finding = [asyncio.create_task(cache.find(1, "abc")) for _ in range(256)]
    outcomes = await asyncio.gather(*finding, return_exceptions=True)
    assert all(isinstance(outcome, Unavailable) for outcome in outcomes)
    assert rows.asked == 1


async def test_when_the_one_who_looks_up_goes_away_the_others_ask_again(
    cache: RedirectCache, rows: Rows
) -> None:
    """Being cancelled says nothing about the link."""
    rows.gate.clear()
    first = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    others = [asyncio.create_task(cache.find(1, "abc")) for _ in range(3)]
    await asyncio.sleep(0)
    first.cancel()
    rows.gate.set()
    assert [_version(entry) for entry in await asyncio.gather(*others)] == [1, 1, 1]
    assert rows.asked == 2
    assert not cache._flights


async def test_one_who_waits_may_go_away_alone(cache: RedirectCache, rows: Rows) -> None:
    """The look-up goes on for the rest."""
    rows.gate.clear()
    first = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    second = asyncio.create_task(cache.find(1, "abc"))
    await asyncio.sleep(0)
    second.cancel()
    rows.gate.set()
    assert _version(await first) == 1


# The database is away.


async def test_a_failing_look_up_is_tried_once_a_second(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """However many ask for the code."""
    rows.is_away = True
    for _ in range(50):
        with pytest.raises(Unavailable):
            await cache.find(1, "abc")
    assert rows.asked == 1
    clock.pass_seconds(1)
    with pytest.raises(Unavailable):
        await cache.find(1, "abc")
    assert rows.asked == 2
    rows.is_away = False
    clock.pass_seconds(1)
    assert _version(await cache.find(1, "abc")) == 1


async def test_known_links_go_on_without_the_database(cache: RedirectCache, rows: Rows, clock: Clock) -> None:
    """P7: for max_stale, at one attempt a second, counted; and the lane answers them in between."""
    await cache.find(1, "abc")
    rows.is_away = True
    clock.pass_seconds(60)
    for _ in range(10):
        assert _version(await cache.find(1, "abc")) == 1
    assert rows.asked == 2
    assert cache.counts.stale == 10
    assert _is_fresh_to_the_lane(cache, clock)
    clock.pass_seconds(1)
    assert not _is_fresh_to_the_lane(cache, clock)


async def test_no_link_is_known_for_ever(cache: RedirectCache, rows: Rows, clock: Clock) -> None:
    """After max_stale the answer is 503."""
    await cache.find(1, "abc")
    rows.is_away = True
    clock.moment = NOON + HOUR
    assert _version(await cache.find(1, "abc")) == 1
    clock.moment += 1
    with pytest.raises(Unavailable):
        await cache.find(1, "abc")


async def test_a_changed_link_does_not_come_back_when_the_database_goes(
    cache: RedirectCache, rows: Rows
) -> None:
    """What was told to be old is gone, not stale."""
    await cache.find(1, "abc")
    cache.changed(1, "abc", 2)
    rows.is_away = True
    with pytest.raises(Unavailable):
        await cache.find(1, "abc")


@pytest.mark.parametrize("reason", ["unknown", "disabled", "taken_down", "expired"])
async def test_a_remembered_no_is_not_served_stale(
    cache: RedirectCache, rows: Rows, clock: Clock, reason: str
) -> None:
    """P6: it may have become a yes that nobody could tell us; 503, not 404 or 410."""
    rows.rows.pop((1, "abc"))
    if reason != "unknown":
        rows.rows[1, "abc"] = link(is_active=False, gone_reason=reason)
    await cache.find(1, "abc")
    rows.is_away = True
    clock.pass_seconds(61)
    with pytest.raises(Unavailable):
        await cache.find(1, "abc")


async def test_a_deleted_link_stays_deleted_without_the_database(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """It is the one no that can never become a yes."""
    rows.rows[1, "abc"] = link(is_deleted=True, gone_reason="deleted")
    await cache.find(1, "abc")
    rows.is_away = True
    clock.pass_seconds(61)
    assert isinstance(await cache.find(1, "abc"), Tombstone)


# Expiry.


async def test_an_expired_entry_never_redirects(cache: RedirectCache, rows: Rows, clock: Clock) -> None:
    """P5: from the very microsecond, by the lane's measure and by the endpoint's, whoever has reaped or not."""
    rows.rows[1, "abc"] = link(expires_at=NOON + 30 * SECOND)
    await cache.find(1, "abc")
    clock.moment = NOON + 30 * SECOND - 1
    assert _is_fresh_to_the_lane(cache, clock)
    assert _version(await cache.find(1, "abc")) == 1
    clock.moment += 1
    assert not _is_fresh_to_the_lane(cache, clock)
    entry = await cache.find(1, "abc")
    assert isinstance(entry, Tombstone)
    assert entry.reason == "expired"


async def test_a_link_that_expires_while_it_is_looked_up_does_not_redirect(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """Expiry is judged when the answer is there."""
    rows.rows[1, "abc"] = link(expires_at=NOON + SECOND)
    rows.gate.clear()
    finding = asyncio.create_task(cache.find(1, "abc"))
    await rows.began.wait()
    clock.pass_seconds(1)
    rows.gate.set()
    assert isinstance(await finding, Tombstone)


async def test_an_expired_entry_never_redirects_without_the_database(
    cache: RedirectCache, rows: Rows, clock: Clock
) -> None:
    """Nor does it answer 410, for the expiry may have been put off: nobody can know, so 503."""
    rows.rows[1, "abc"] = link(expires_at=NOON + 90 * SECOND)
    await cache.find(1, "abc")
    rows.is_away = True
    clock.pass_seconds(89)
    assert _version(await cache.find(1, "abc")) == 1
    clock.pass_seconds(1)
    assert not _is_fresh_to_the_lane(cache, clock)
    with pytest.raises(Unavailable):
        await cache.find(1, "abc")


async def test_an_expiry_that_was_put_off_is_seen(cache: RedirectCache, rows: Rows, clock: Clock) -> None:
    """When it is told at once, and also when changes are not being told."""
    rows.rows[1, "abc"] = link(expires_at=NOON + SECOND)
    await cache.find(1, "abc")
    rows.rows[1, "abc"] = link(2, expires_at=NOON + HOUR)
    clock.pass_seconds(2)
    assert isinstance(await cache.find(1, "abc"), Tombstone)
    cache.changed(1, "abc", 2)
    assert _version(await cache.find(1, "abc")) == 2

    cache.lost()
    await cache.find(1, "abc")
    clock.moment = NOON + HOUR - SECOND // 4
    await cache.find(1, "abc")
    rows.rows[1, "abc"] = link(3, expires_at=None)
    clock.pass_seconds(0.5)
    assert _version(await cache.find(1, "abc")) == 3


@pytest.mark.parametrize("status", [301, 308])
@pytest.mark.parametrize("lives", [0.5, 30, 100, 3_600, 86_400, 90_000])
async def test_a_max_age_never_passes_the_expiry(
    cache: RedirectCache, rows: Rows, clock: Clock, status: int, lives: float
) -> None:
    """Whenever a permanent redirect is sent, fresh or stale, a browser may keep it no longer than it lives."""
    expires_at = NOON + int(lives * SECOND)
    rows.rows[1, "abc"] = link(expires_at=expires_at, redirect_status=status)
    rows.is_away = False
    for seconds in (0, 29, 30, 11, 20, 15):
        clock.pass_seconds(seconds)
        try:
            entry = await cache.find(1, "abc")
        except Unavailable:
            continue
        if isinstance(entry, Redirect):
            max_age = int(dict(entry.headers())[b"cache-control"].removeprefix(b"private, max-age="))
            last_sent = max(clock.moment, min(entry.fresh_until, expires_at) - 1)
            assert last_sent + max_age * SECOND <= expires_at
            assert 0 <= max_age <= 86_400
        rows.is_away = True


async def test_a_permanent_link_without_expiry_may_be_kept_for_a_day(
    cache: RedirectCache, rows: Rows
) -> None:
    """And no longer, for it may be edited."""
    rows.rows[1, "abc"] = link(redirect_status=301)
    entry = await cache.find(1, "abc")
    assert isinstance(entry, Redirect)
    assert dict(entry.headers())[b"cache-control"] == b"private, max-age=86400"


# Everything at once.


class VersionsOnlyGrow(RuleBasedStateMachine):
    """Writers commit and tell, in any order and late; look-ups read and end, in any order and late.

    Whatever is told to be old is not served again, by `find` or to the lane, and expired links never redirect.
    """

    flights = Bundle("flights")
    untold = Bundle("untold")

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.tasks: set[asyncio.Task[Entry]] = set()
        self.clock = Clock()
        self.stored = link()
        self.told = 1
        self.is_away = False
        self.cache = RedirectCache(self._look_up, now=self.clock, monotonic=self.clock.monotonic)
        self.cache.following()

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            outcomes = self.loop.run_until_complete(self._cut_off())
            self.loop.close()
            for outcome in outcomes:
                assert isinstance(outcome, Redirect | Tombstone | Unavailable | asyncio.CancelledError), (
                    outcome
                )

    async def _cut_off(self) -> list[Entry | BaseException]:
        for task in self.tasks:
            task.cancel()
        return await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _look_up(self, domain_id: int, code: str) -> LinkRow | None:
        if self.is_away:
            raise Unavailable("away")
        row = self.stored
        await self.gate.wait()
        return row

    def _turn(self) -> None:
        for _ in range(5):
            self.loop.run_until_complete(asyncio.sleep(0))

    def _find(self) -> asyncio.Task[Entry]:
        task = self.loop.create_task(self.cache.find(1, "abc"))
        self.tasks.add(task)
        self._turn()
        return task

    def _judge(self, entry: Entry, least: int) -> None:
        assert entry.version >= least
        if isinstance(entry, Redirect):
            assert not entry.has_expired(self.clock.moment)

    @rule(target=flights)
    def begin_look_up(self) -> tuple[asyncio.Task[Entry], asyncio.Event]:
        self.gate = asyncio.Event()
        task = self._find()
        return task, self.gate

    @rule(flight=consumes(flights))
    def end_look_up(self, flight: tuple[asyncio.Task[Entry], asyncio.Event]) -> None:
        task, gate = flight
        if task.done():
            return
        gate.set()
        self.gate = asyncio.Event()
        self.gate.set()
        self._turn()
        if task.done() and task.exception() is None:
            self._judge(task.result(), 0)

    @rule()
    def find_now(self) -> None:
        """Nothing told before it begins may be missing from its answer."""
        least = self.told
        self.gate = asyncio.Event()
        self.gate.set()
        task = self._find()
        if task.done() and task.exception() is None:
            self._judge(task.result(), least)

    @rule(target=untold, lives=st.sampled_from([None, 1, 45, 600]), deleted=st.booleans())
    def commit(self, lives: int | None, deleted: bool) -> int:
        version = self.stored.version + 1
        expires_at = None if lives is None else self.clock.moment + lives * SECOND
        self.stored = link(version, expires_at=expires_at, is_deleted=deleted)
        return version

    @rule(version=consumes(untold))
    def tell(self, version: int) -> None:
        self.cache.changed(1, "abc", version)
        self.told = max(self.told, version)

    @rule(seconds=st.sampled_from([0.3, 1, 30, 61]))
    def wait(self, seconds: float) -> None:
        self.clock.pass_seconds(seconds)

    @rule(event=st.sampled_from(["lost", "following"]))
    def connection(self, event: str) -> None:
        getattr(self.cache, event)()

    @rule()
    def database_goes_or_comes(self) -> None:
        self.is_away = not self.is_away

    @invariant()
    def memory_is_no_older_than_what_was_told(self) -> None:
        if not hasattr(self, "cache"):
            return
        entry = self.cache.entries.get(KEY)
        if entry is not None:
            assert entry.version >= self.told
            if self.clock.moment < entry.fresh_until:
                assert isinstance(entry, Redirect)
                assert not entry.has_expired(self.clock.moment)
        assert self.cache._bytes == sum(entry.size for entry in self.cache.entries.values())


TestVersionsOnlyGrow = VersionsOnlyGrow.TestCase
TestVersionsOnlyGrow.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
