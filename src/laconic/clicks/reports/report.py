"""What a report says: totals, series, top lists, the period before, the most followed links."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from laconic import clock
from laconic.clicks.reports.periods import Bucket, Period
from laconic.clicks.reports.sketches import heaviest_links
from laconic.clicks.reports.store import Counts, Days, GroupRow, LinkRow, ReportStore, Scope, Traffic
from laconic.clicks.reports.week import LONGEST_WEEKS, Week, hours_of_week

DIMENSIONS = ("country", "city", "device_type", "browser", "os", "referer", "language")
LARGEST_LIST = 100

# Asked for beside the others: they have most of the rows, and two statements can be read at once.
_MANY_VALUES = frozenset({"city", "referer"})

# The sketches of more days cost more than they tell: the links of a long time are found by their totals.
_MOST_SKETCHES = 93
# A sketch knows roughly who comes first: that many more are counted exactly.
_SPARE_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Question:
    """What a report shall be about."""

    period: Period
    dimensions: Sequence[str] = DIMENSIONS
    traffic: Traffic = "all"
    limit: int = 10
    compare: bool = True
    top_links: bool = True


@dataclass(frozen=True, slots=True)
class Totals:
    """Of one period. `visitors` is None where nobody can tell: bots are not told apart."""

    period: Period
    counts: Counts
    visitors: int | None


@dataclass(frozen=True, slots=True)
class Group:
    """The top list of one dimension, and what all other values have together."""

    values: list[tuple[str, Counts]]
    other_values: int
    other: Counts


@dataclass(frozen=True, slots=True)
class TopLink:
    link: LinkRow
    counts: Counts


@dataclass(frozen=True, slots=True)
class Report:
    question: Question
    totals: Totals
    previous: Totals | None
    series: list[tuple[Bucket, Counts]]
    groups: dict[str, Group]
    top_links: list[TopLink] | None
    days: Days
    """The UTC days that top lists and visitors are of."""


class Reports:
    """The verb "report", of a link or of a workspace."""

    def __init__(self, store: ReportStore, *, now: Callable[[], int] = clock.now) -> None:
        self._store = store
        self._now = now

    async def of_link(self, workspace_id: int, link_id: int, question: Question) -> Report:
        return await self._report(workspace_id, Scope(link_id), question)

    async def of_workspace(self, workspace_id: int, question: Question) -> Report:
        """With the links that were followed most."""
        return await self._report(workspace_id, Scope(), question)

    async def week(self, workspace_id: int, scope: Scope, period: Period, traffic: Traffic) -> Week:
        """The hours of the week, by the period's clocks; of a long period, its last weeks."""
        start = max(period.start, period.end - LONGEST_WEEKS)
        quarters = await self._store.quarters(workspace_id, scope, start, period.end)
        counted = [(quarter, _only(traffic, counts).clicks) for quarter, counts in quarters]
        # Some thousand quarters: not in the loop's thread.
        return await asyncio.to_thread(hours_of_week, counted, period.zone)

    async def daily_visitors(self, workspace_id: int, scope: Scope, period: Period) -> list[tuple[int, int]]:
        """The visitors of each UTC day that stands for the period, in order, without gaps."""
        first, last = period.days(self._now())
        found = await self._store.daily_visitors(workspace_id, scope, (first, last))
        return [(day, found.get(day, 0)) for day in range(first, last + 1)]

    async def _report(self, workspace_id: int, scope: Scope, question: Question) -> Report:
        moment = self._now()
        period = question.period
        days = period.days(moment)
        periods = [period, period.before()] if question.compare else [period]
        buckets = period.buckets()
        found, groups, visitors, top_links = await asyncio.gather(
            self._store.series(
                workspace_id, scope, [*buckets, *(Bucket(one.start, one.end) for one in periods[1:])]
            ),
            self._groups(workspace_id, scope, days, question),
            self._visitors(workspace_id, scope, [one.days(moment) for one in periods], question.traffic),
            self._top_links(workspace_id, scope, days, question),
        )
        *counted, previous = (
            _only(question.traffic, found.get(place, Counts())) for place in range(len(buckets) + 1)
        )
        return Report(
            question=question,
            totals=Totals(period, _sum(counted), visitors[0]),
            previous=Totals(periods[1], previous, visitors[1]) if question.compare else None,
            series=list(zip(buckets, counted, strict=True)),
            groups=groups,
            top_links=top_links,
            days=days,
        )

    async def _groups(
        self, workspace_id: int, scope: Scope, days: Days, question: Question
    ) -> dict[str, Group]:
        if not question.dimensions:
            return {}
        parts = [
            [name for name in question.dimensions if (name in _MANY_VALUES) is is_long]
            for is_long in (True, False)
        ]
        lists = await asyncio.gather(
            *(
                self._store.groups(workspace_id, scope, days, part, question.traffic, question.limit)
                for part in parts
                if part
            )
        )
        rows: dict[str, list[GroupRow]] = {}
        for row in chain.from_iterable(lists):
            rows.setdefault(row.dimension, []).append(row)
        found = {dimension: _group(some, question.traffic) for dimension, some in rows.items()}
        return {dimension: found.get(dimension, Group([], 0, Counts())) for dimension in question.dimensions}

    async def _visitors(
        self, workspace_id: int, scope: Scope, periods: Sequence[Days], traffic: Traffic
    ) -> Sequence[int | None]:
        if traffic == "bots":
            return [None] * len(periods)
        return await self._store.visitors(workspace_id, scope, periods)

    async def _top_links(
        self, workspace_id: int, scope: Scope, days: Days, question: Question
    ) -> list[TopLink] | None:
        if scope.link_id is not None or not question.top_links:
            return None
        candidates = await self._candidates(workspace_id, days, question.limit + _SPARE_CANDIDATES)
        counted, known = await asyncio.gather(
            self._store.count_links(workspace_id, candidates, days),
            self._store.describe_links(workspace_id, candidates),
        )
        links = [
            TopLink(known[link_id], _only(question.traffic, counts))
            for link_id, counts in counted.items()
            if link_id in known
        ]
        links = [one for one in links if one.counts.clicks]
        links.sort(key=lambda one: (-one.counts.clicks, one.link.link_id))
        return links[: question.limit]

    async def _candidates(self, workspace_id: int, days: Days, count: int) -> list[int]:
        """Links that may be among the most followed of these days."""
        if days[1] - days[0] < _MOST_SKETCHES:
            sketches = await self._store.top_sketches(workspace_id, days)
            # Hundreds of names for each day: not in the loop's thread.
            found = await asyncio.to_thread(heaviest_links, sketches, count)
            if found:
                return found
        return await self._store.top_totals(workspace_id, count)


def _group(rows: list[GroupRow], traffic: Traffic) -> Group:
    shown = [(row.value, _only(traffic, row.counts)) for row in rows]
    everything = _only(traffic, rows[0].all_counts)
    listed = _sum(counts for _, counts in shown)
    other = Counts(everything.clicks - listed.clicks, everything.bot_clicks - listed.bot_clicks)
    return Group(shown, rows[0].values - len(rows), other)


def _only(traffic: Traffic, counts: Counts) -> Counts:
    """As if there had been no other clicks."""
    if traffic == "humans":
        return Counts(counts.clicks - counts.bot_clicks, 0)
    if traffic == "bots":
        return Counts(counts.bot_clicks, counts.bot_clicks)
    return counts


def _sum(some: Iterable[Counts]) -> Counts:
    counted = list(some)
    return Counts(sum(one.clicks for one in counted), sum(one.bot_clicks for one in counted))
