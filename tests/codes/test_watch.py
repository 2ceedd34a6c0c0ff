"""What the pools are watched for: how much is left, how fast it goes, and when that is too little."""

from dataclasses import dataclass

import pytest

from laconic import clock
from laconic.codes.store import RangeState
from laconic.codes.watch import PoolWatch, RegionPool
from laconic.storage.database import Database
from tests.codes.works import Works


@dataclass
class _Watched:
    """A region whose counters are told by the test, and a clock that it turns."""

    works: Works
    watch: PoolWatch
    seconds: float = 1_000.0

    async def see(self, *, pooled: int, taken: int, made: int = 0, skipped: int = 0) -> None:
        await self.works.database.execute(
            "UPDATE kgs_range SET pooled = $1, taken = $2, next = $3, skipped = $4,"
            " pool_lineage = database_lineage()",
            pooled,
            taken,
            made + skipped,
            skipped,
        )
        await self.watch.look()


@pytest.fixture
async def watched(database: Database, monkeypatch: pytest.MonkeyPatch) -> _Watched:
    works = await Works.open(database)
    watch = PoolWatch(works.store, works.maker, works.allocator(), None, min_size=1_000)
    watched = _Watched(works, watch)
    monkeypatch.setattr(clock, "monotonic", lambda: watched.seconds)
    return watched


async def test_before_the_first_look_nothing_is_known(watched: _Watched) -> None:
    """And nothing is slowed down for that."""
    watch = watched.watch
    assert (watch.ready, watch.made, watch.rates(), watch.minutes_left()) == (0, 0, (0.0, 0.0), None)
    assert not watch.is_critical


@pytest.mark.parametrize(
    ("unused", "level"),
    [(1_000, "ok"), (500, "ok"), (499, "low"), (100, "low"), (99, "critical"), (0, "critical")],
)
async def test_the_level_says_how_much_is_left(watched: _Watched, unused: int, level: str) -> None:
    """Below half of what should be there it is low, below a tenth critical; then creates are slowed down."""
    await watched.see(pooled=2_000, taken=2_000 - unused)
    assert watched.watch.ready == unused
    assert watched.watch.level == level
    assert watched.watch.is_critical == (level == "critical")


async def test_a_pool_that_was_never_full_slows_nobody_down(watched: _Watched) -> None:
    """At the first start it is filled beside the creates; from half of it on it has been filled."""
    await watched.see(pooled=499, taken=450)
    assert not watched.watch.is_critical
    await watched.see(pooled=500, taken=450)
    assert watched.watch.is_critical


async def test_without_a_pool_nothing_is_critical(watched: _Watched) -> None:
    """Who wants none has every code made on the fly."""
    works = watched.works
    watch = PoolWatch(works.store, works.maker, works.allocator(), None, min_size=0)
    await watched.see(pooled=0, taken=0)
    await watch.look()
    assert watch.level == "off"
    assert not watch.is_critical


async def test_rates_are_those_of_the_last_minute(watched: _Watched) -> None:
    """What left the pool is told apart from what came in, and a jump of the cursor makes no code."""
    watch = watched.watch
    await watched.see(pooled=1_000, taken=0, made=1_100)
    assert watch.rates() == (0.0, 0.0), "one look tells no rate"
    watched.seconds += 60
    await watched.see(pooled=1_300, taken=600, made=1_400, skipped=10**9)
    assert watch.rates() == (10.0, 5.0)
    assert watch.made == 1_400
    assert watch.minutes_left() == pytest.approx(700 / 10 / 60)
    report = await watch.report()
    assert report["rates"] == {"allocated_per_second": 10.0, "generated_per_second": 5.0}
    assert report["minutes_to_exhaustion"] == 1.17
    assert report["thresholds"] == {"minimum": 1_000, "low": 500, "critical": 100}
    for _ in range(13):
        watched.seconds += 5
        await watched.see(pooled=1_300, taken=600, made=1_400, skipped=10**9)
    assert watch.rates() == (0.0, 0.0)
    assert watch.minutes_left() is None


async def test_who_asks_often_does_not_shorten_the_minute(watched: _Watched) -> None:
    """A metrics page that is read every second sees the same rate."""
    await watched.see(pooled=1_000, taken=0)
    for second in range(1, 31):
        watched.seconds += 1
        await watched.see(pooled=1_000, taken=2 * second)
    assert watched.watch.rates()[0] == 2.0


async def test_a_pool_that_was_thrown_away_has_no_rate_below_zero(watched: _Watched) -> None:
    """After a failover the counters may go back."""
    await watched.see(pooled=1_000, taken=500, made=1_000)
    watched.seconds += 60
    await watched.see(pooled=1_000, taken=100, made=900)
    assert watched.watch.rates() == (0.0, 0.0)


@pytest.mark.parametrize(
    ("offered", "durable", "shared"), [(None, 700, None), (0, 700, 0), (300, 400, 300), (900, 0, 700)]
)
def test_each_code_is_counted_in_one_tier(offered: int | None, durable: int, shared: int | None) -> None:
    """What Redis offers are rows of the table as well, and it may offer some that are gone."""
    state = RangeState("default", 7, "", 2_000, 1_000, 300, 0, True)
    document = RegionPool(state, offered).document()
    assert (document["durable"], document["shared"]) == (durable, shared)
