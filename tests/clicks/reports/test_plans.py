"""How the engines carry out a report's statements: by ranges of keys, whatever the history."""

import pytest

from laconic.clicks.reports.store import (
    _DAILY_VISITORS,
    _QUARTERS_SQL,
    Kind,
    _exact_sql,
    _series_sql,
    _values_sql,
)
from laconic.clock import DAY, now
from laconic.storage.database import Database


async def plan(database: Database, engine: str, sql: str, *args: object) -> str:
    explain = "EXPLAIN QUERY PLAN" if engine == "sqlite" else "EXPLAIN"
    rows = await database.fetch_all(f"{explain} {sql}", *args)
    return "\n".join(str(row[-1]) for row in rows)


@pytest.mark.parametrize("kind", ["link", "workspace"])
async def test_p12_a_series_reads_each_bucket_by_its_range(
    database: Database, engine: str, kind: Kind
) -> None:
    """Not all quarters that a link ever had: as a join, PostgreSQL read those."""
    bounds = [now() - DAY * number for number in range(60, 0, -1)]
    found = await plan(database, engine, _series_sql(kind, 30), 1, 1, *bounds)
    if engine == "sqlite":
        assert "quarter>? AND quarter<?" in found
        assert "SCAN click_quarter" not in found
    else:
        assert "quarter >= " in found.partition("Index Cond")[2]
        assert "Join Filter" not in found


@pytest.mark.parametrize("kind", ["link", "workspace"])
async def test_p12_a_list_reads_its_days_alone(database: Database, engine: str, kind: Kind) -> None:
    """Of one dimension, from the first day to the last."""
    today = now() // DAY
    found = await plan(
        database, engine, _values_sql(kind, 2, "all"), 1, 1, today - 30, today, 1, 10, "os", "city"
    )
    wanted = "dimension=? AND day>? AND day<?" if engine == "sqlite" else "day >= "
    assert found.count(wanted) == 2


@pytest.mark.parametrize("kind", ["link", "workspace"])
async def test_p12_values_that_are_named_are_read_by_their_keys(
    database: Database, engine: str, kind: Kind
) -> None:
    """Not all values of each day: of a list of values SQLite believed that to be cheaper."""
    days = range(now() // DAY - 29, now() // DAY + 1)
    values = [f"{name}.example" for name in "abcdef"]
    found = await plan(
        database, engine, _exact_sql(kind, 30, 6), 1, 1, "referer", days[0], days[-1], *days, *values
    )
    assert ("day=? AND value=?" if engine == "sqlite" else "(value = ") in found
    assert "Join" not in found


@pytest.mark.parametrize("kind", ["link", "workspace"])
async def test_p12_hours_and_visitors_read_their_time_alone(
    database: Database, engine: str, kind: Kind
) -> None:
    """Quarters from one moment to another, visitors from one day to another."""
    quarters = await plan(database, engine, _QUARTERS_SQL[kind], 1, 1, now() - DAY, now())
    assert ("quarter>? AND quarter<?" if engine == "sqlite" else "quarter >= ") in quarters
    days = await plan(database, engine, _DAILY_VISITORS[kind], 1, 1, now() // DAY - 7, now() // DAY)
    assert ("day>? AND day<?" if engine == "sqlite" else "day >= ") in days
