"""The SQL of reports: rollups, read by ranges of their primary keys. Every method is told the workspace it may read.

What a statement costs depends on the time that is shown and the values seen in it, not on the history around it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from laconic.clicks.reports.counts import Counts, Traffic
from laconic.clicks.reports.periods import Bucket
from laconic.storage.database import Row
from laconic.storage.replica import Readable

Days = tuple[int, int]  # the first and the last, both included

# Every click has exactly one value of it, and there are five: the cheapest way to a link's clicks of a day.
_COUNTED_BY = "device_type"
# What of a row is counted; `counts.only` says the same of a sum.
_MEASURES: dict[Traffic, str] = {
    "all": "clicks",
    "humans": "(clicks - bot_clicks)",
    "bots": "bot_clicks",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose clicks: one link's, or with `link_id` None all of the workspace."""

    link_id: int | None = None

    @property
    def kind(self) -> "Kind":
        return "workspace" if self.link_id is None else "link"


Kind = Literal["link", "workspace"]
# Without names of their own: one that is also a column's would be taken for it in ORDER BY.
_SUMS = "CAST(coalesce(sum(clicks), 0) AS bigint), CAST(coalesce(sum(bot_clicks), 0) AS bigint)"
_QUARTERS: dict[Kind, str] = {"link": "click_quarter", "workspace": "workspace_quarter"}
_DAYS: dict[Kind, str] = {"link": "click_daily", "workspace": "workspace_daily"}
# $1 is the workspace, $2 the link, or the workspace again.
_OWN: dict[Kind, str] = {
    "link": "workspace_id = $1 AND link_id = $2",
    "workspace": "workspace_id = $1 AND workspace_id = $2",
}
_DAILY_VISITORS: dict[Kind, str] = {
    kind: "SELECT day, visitors FROM click_unique"
    f" WHERE scope = '{kind}' AND workspace_id = $1 AND scope_id = $2 AND day >= $3 AND day <= $4"
    for kind in _QUARTERS
}
_QUARTERS_SQL: dict[Kind, str] = {
    kind: f"SELECT quarter, clicks, bot_clicks FROM {table}"
    f" WHERE {_OWN[kind]} AND quarter >= $3 AND quarter < $4"
    for kind, table in _QUARTERS.items()
}


class ValueRow(NamedTuple):
    """One value of a dimension."""

    dimension: str
    value: str
    counts: Counts
    days: int
    """How many days were added up."""


class LinkRow(NamedTuple):
    link_id: int
    short_code: str
    original_url: str | None
    title: str | None
    is_deleted: bool
    domain_id: int


class ReportStore:
    def __init__(self, database: Readable) -> None:
        self._database = database

    async def _read(self, workspace_id: int, scope: Scope, sql: str, *args: Any) -> list[Row]:
        owner = workspace_id if scope.link_id is None else scope.link_id
        return await self._database.for_workspace(workspace_id).fetch_all(sql, workspace_id, owner, *args)

    async def series(self, workspace_id: int, scope: Scope, buckets: Sequence[Bucket]) -> dict[int, Counts]:
        """The counts of each bucket, by its place; none for a bucket without clicks. Buckets may overlap."""
        bounds = [moment for bucket in buckets for moment in bucket]
        rows = await self._read(workspace_id, scope, _series_sql(scope.kind, len(buckets)), *bounds)
        return {place: Counts(*map(int, sums.split())) for place, sums in rows if sums}

    async def days_total(self, workspace_id: int, scope: Scope, days: Days) -> tuple[Counts, int]:
        """All clicks of these UTC days, and how many of the days have any."""
        ((clicks, bots, busy),) = await self._read(
            workspace_id,
            scope,
            f"SELECT {_SUMS}, count(DISTINCT day) FROM {_DAYS[scope.kind]} WHERE {_OWN[scope.kind]}"
            f" AND dimension = '{_COUNTED_BY}' AND day >= $3 AND day <= $4",
            *days,
        )
        return Counts(clicks, bots), busy

    async def values(
        self,
        workspace_id: int,
        scope: Scope,
        days: Days,
        dimensions: Sequence[str],
        traffic: Traffic,
        least: int,
        limit: int,
    ) -> list[ValueRow]:
        """The first `limit` values of each dimension, by what they have on days with at least `least`."""
        sql = _values_sql(scope.kind, len(dimensions), traffic)
        rows = await self._read(workspace_id, scope, sql, *days, least, limit, *dimensions)
        return [
            ValueRow(name, value, Counts(clicks, bots), count) for name, value, clicks, bots, count in rows
        ]

    async def exact_values(
        self, workspace_id: int, scope: Scope, days: Days, dimension: str, values: Sequence[str]
    ) -> list[ValueRow]:
        """What each of these values has on all these days, each row found by its whole key."""
        dates = range(days[0], days[1] + 1)
        sql = _exact_sql(scope.kind, len(dates), len(values))
        rows = await self._read(workspace_id, scope, sql, dimension, *days, *dates, *values)
        return [
            ValueRow(dimension, name, Counts(int(clicks), int(bots)), int(count))
            for name, sums in rows
            if sums
            for clicks, bots, count in [sums.split()]
        ]

    async def visitors(self, workspace_id: int, scope: Scope, periods: Sequence[Days]) -> list[int]:
        """For each range of days the sum of what each day's sketch estimates."""
        one = (
            "SELECT {place}, CAST(coalesce(sum(visitors), 0) AS bigint) FROM click_unique"
            f" WHERE scope = '{scope.kind}' AND workspace_id = $1 AND scope_id = $2"
            " AND day >= ${first} AND day <= ${last}"
        )
        sql = " UNION ALL ".join(
            one.format(place=place, first=3 + 2 * place, last=4 + 2 * place) for place in range(len(periods))
        )
        rows = await self._read(workspace_id, scope, sql, *(day for days in periods for day in days))
        return [visitors for _, visitors in sorted(map(tuple, rows))]

    async def daily_visitors(self, workspace_id: int, scope: Scope, days: Days) -> dict[int, int]:
        """What the sketch of each of these days estimates; none for a day without visitors."""
        rows = await self._read(workspace_id, scope, _DAILY_VISITORS[scope.kind], *days)
        return {int(day): int(visitors) for day, visitors in rows}

    async def quarters(
        self, workspace_id: int, scope: Scope, start: int, end: int
    ) -> list[tuple[int, Counts]]:
        """Every quarter of an hour that has clicks, with its beginning."""
        rows = await self._read(workspace_id, scope, _QUARTERS_SQL[scope.kind], start, end)
        return [(quarter, Counts(clicks, bots)) for quarter, clicks, bots in rows]

    async def top_sketches(self, workspace_id: int, days: Days) -> list[bytes]:
        """What each day knows of the most followed links."""
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            "SELECT sketch FROM workspace_top WHERE workspace_id = $1 AND day >= $2 AND day <= $3",
            workspace_id,
            *days,
        )
        return [bytes(sketch) for (sketch,) in rows]

    async def top_totals(self, workspace_id: int, limit: int) -> list[int]:
        """The most followed links of all time."""
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            "SELECT link_id FROM link_total WHERE workspace_id = $1 ORDER BY clicks DESC, link_id DESC LIMIT $2",
            workspace_id,
            limit,
        )
        return [link_id for (link_id,) in rows]

    async def count_links(self, workspace_id: int, link_ids: Sequence[int], days: Days) -> dict[int, Counts]:
        """How often each of these links was followed on these UTC days."""
        if not link_ids:
            return {}
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT link_id, {_SUMS} FROM click_daily"
            f" WHERE workspace_id = $1 AND dimension = '{_COUNTED_BY}' AND day >= $2 AND day <= $3"
            f" AND link_id IN ({_marks(4, len(link_ids))}) GROUP BY link_id",
            workspace_id,
            *days,
            *link_ids,
        )
        return {link_id: Counts(clicks, bots) for link_id, clicks, bots in rows}

    async def describe_links(self, workspace_id: int, link_ids: Sequence[int]) -> dict[int, LinkRow]:
        if not link_ids:
            return {}
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            "SELECT id, short_code, original_url, title, is_deleted, domain_id FROM short_link"
            f" WHERE workspace_id = $1 AND id IN ({_marks(2, len(link_ids))})",
            workspace_id,
            *link_ids,
        )
        return {row[0]: LinkRow(*row) for row in rows}


def _marks(first: int, count: int) -> str:
    return ", ".join(f"${number}" for number in range(first, first + count))


@lru_cache(maxsize=256)
def _series_sql(kind: Kind, buckets: int) -> str:
    """For each bucket one range of the primary key: no engine has to know of time zones.

    A subquery with one value, so that no planner can turn it round and read all there is of a link: as a join
    one of them did. Hence both sums in one text. The type named in the casts is one engine's; the other takes any
    name and leaves the number as it is.
    """
    bounds = ", ".join(
        f"({place}, CAST(${3 + 2 * place} AS timestamptz), CAST(${4 + 2 * place} AS timestamptz))"
        for place in range(buckets)
    )
    return (
        f"WITH bucket (place, start, stop) AS (VALUES {bounds})"
        " SELECT place, (SELECT CAST(sum(clicks) AS text) || ' ' || CAST(sum(bot_clicks) AS text)"
        f" FROM {_QUARTERS[kind]} WHERE {_OWN[kind]} AND quarter >= start AND quarter < stop) FROM bucket"
    )


@lru_cache(maxsize=256)
def _exact_sql(kind: Kind, days: int, values: int) -> str:
    """A subquery for each value, as in `_series_sql`: of a list of values a planner believed that reading whole days is
    cheaper (1.6 ms instead of 0.3 for six referrers of a month).

    The range of days is said as well: one that knows nothing of the table yet reads by it and not all.
    """
    names = ", ".join(f"(CAST(${6 + days + place} AS text))" for place in range(values))
    return (
        f"WITH asked (name) AS (VALUES {names}) SELECT name, (SELECT CAST(sum(clicks) AS text) || ' ' ||"
        f" CAST(sum(bot_clicks) AS text) || ' ' || CAST(count(*) AS text) FROM {_DAYS[kind]} WHERE {_OWN[kind]}"
        f" AND dimension = $3 AND day >= $4 AND day <= $5 AND day IN ({_marks(6, days)}) AND value = name) FROM asked"
    )


@lru_cache(maxsize=256)
def _values_sql(kind: Kind, dimensions: int, traffic: Traffic) -> str:
    """A list for each dimension, made by itself: sorting all values together takes twice as long (measured)."""
    measure = _MEASURES[traffic]
    one = (
        f"SELECT ${{name}} AS dimension, value, {_SUMS}, count(*) AS days FROM {_DAYS[kind]}"
        f" WHERE {_OWN[kind]} AND dimension = ${{name}} AND day >= $3 AND day <= $4 AND {measure} >= $5"
        f" GROUP BY value ORDER BY sum({measure}) DESC, value LIMIT $6"
    )
    lists = (one.format(name=7 + place) for place in range(dimensions))
    return " UNION ALL ".join(f"SELECT * FROM ({one}) AS list{place}" for place, one in enumerate(lists))
