"""Raw clicks of workspaces that keep them for a shorter time than the installation; on every engine."""

import json
from typing import Any

import pytest

from laconic.clock import DAY, HOUR
from laconic.errors import Unavailable
from laconic.storage.database import Database
from laconic.storage.months import begin_of, month_from_name
from laconic.upkeep.months import Months
from laconic.upkeep.retention import Retention
from tests.clicks.raw_events import event, store_events

pytestmark = pytest.mark.anyio

INSTALLATION = 396 * DAY
OCTOBER = month_from_name("2025-10")
START = begin_of(OCTOBER)
NOW = begin_of(OCTOBER + 1) + 10 * DAY + HOUR // 2
ACME, BETA, CALM = 1, 2, 3


async def hold() -> None:
    """Nobody else wants the job."""


@pytest.fixture(autouse=True)
async def workspaces(database: Database, links: tuple[int, ...]) -> None:
    for workspace_id in (BETA, CALM):
        await database.execute(
            "INSERT INTO workspace (id, name, slug, settings, created_at, updated_at)"
            " VALUES ($1, $2, $2, '{}', $3, $3)",
            workspace_id,
            f"w{workspace_id}",
            START,
        )


async def choose(database: Database, workspace_id: int, **settings: Any) -> None:
    await database.execute(
        "UPDATE workspace SET settings = $2 WHERE id = $1", workspace_id, json.dumps(settings)
    )


def retention(database: Database, now: int = NOW, **options: Any) -> Retention:
    return Retention(database, INSTALLATION, before_step=hold, now=lambda: now, **options)


async def kept(database: Database, workspace_id: int) -> list[int]:
    """Moments of a workspace's clicks."""
    found: list[int] = []
    for month in await database.event_months():
        rows = await database.fetch_events(
            month,
            "SELECT clicked_at FROM click_event WHERE clicked_at >= $1 AND clicked_at < $2 AND workspace_id = $3",
            begin_of(month),
            begin_of(month + 1),
            workspace_id,
        )
        found += [row[0] for row in rows]
    return sorted(found)


async def test_each_workspace_keeps_its_own_time(database: Database, clicks_database: Database) -> None:
    """Over two months, to the hour; who has chosen nothing keeps everything."""
    days = [START + day * DAY for day in range(41)]
    await store_events(
        clicks_database,
        [event(101, day, workspace_id=owner) for owner in (ACME, BETA, CALM) for day in days],
    )
    await choose(database, ACME, click_retention_days=3)
    await choose(database, BETA, click_retention_days=20)
    assert await retention(database).run() == 38 + 21
    assert await kept(database, ACME) == days[38:]
    assert await kept(database, BETA) == days[21:]
    assert await kept(database, CALM) == days
    assert await retention(database).run() == 0


async def test_steps_are_bounded(database: Database, clicks_database: Database) -> None:
    """However many clicks an hour has, a step reads a few of them, and asks first whether the job is still ours."""
    await store_events(clicks_database, [event(101, START + number) for number in range(25)])
    await choose(database, ACME, click_retention_days=1)
    asked = 0

    async def count() -> None:
        nonlocal asked
        asked += 1

    sweep = Retention(database, INSTALLATION, before_step=count, now=lambda: NOW, step=10)
    assert await sweep.run() == 25
    assert asked == 3


async def test_goes_on_where_it_was_cut_off(database: Database, clicks_database: Database) -> None:
    """Another process took the job over: what is not done is not written down as done."""
    await store_events(clicks_database, [event(101, START + number * HOUR) for number in range(5)])
    await choose(database, ACME, click_retention_days=1)
    left = 2

    async def taken() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Unavailable("Another process has taken the job over.")

    with pytest.raises(Unavailable):
        await Retention(database, INSTALLATION, before_step=taken, now=lambda: NOW).run()
    assert len(await kept(database, ACME)) == 3
    assert await retention(database).run() == 3


async def test_a_shorter_choice_reaches_what_was_kept(database: Database, clicks_database: Database) -> None:
    """And a longer one, or none, brings nothing back and removes nothing."""
    days = [NOW - number * DAY for number in range(1, 9)]
    await store_events(clicks_database, [event(101, day) for day in days])
    await choose(database, ACME, click_retention_days=6)
    assert await retention(database).run() == 2
    await choose(database, ACME, click_retention_days=2)
    assert await retention(database).run() == 4
    await choose(database, ACME, click_retention_days=9)
    assert await retention(database).run() == 0
    assert len(await kept(database, ACME)) == 2


async def test_a_longer_time_than_the_installations_is_capped(
    database: Database, clicks_database: Database
) -> None:
    """The month goes when the installation says so; until then nothing of it."""
    await store_events(clicks_database, [event(101, START)])
    await choose(database, ACME, click_retention_days=3650)
    assert await retention(database, START + 395 * DAY).run() == 0
    due = begin_of(OCTOBER + 1) + INSTALLATION
    assert await Months(database, INSTALLATION, None, now=lambda: due).run() == [OCTOBER]
    assert await kept(database, ACME) == []


async def test_upkeep_does_it_with_the_months(database: Database, clicks_database: Database) -> None:
    """The same hourly round that drops months."""
    await store_events(clicks_database, [event(101, START)])
    await choose(database, ACME, click_retention_days=1)
    assert await Months(database, INSTALLATION, None, now=lambda: NOW).run() == []
    assert await kept(database, ACME) == []
