"""What a report says: totals, series, top lists, the period before, the most followed links."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from laconic import clock
from laconic.clicks.reports.counts import Counts, Traffic, only, total
from laconic.clicks.reports.lists import Group, TopLists
from laconic.clicks.reports.periods import Bucket, Period
from laconic.clicks.reports.sketches import heaviest_links
from laconic.clicks.reports.store import Days, LinkRow, ReportStore, Scope
from laconic.clicks.reports.week import LONGEST_WEEKS, Week, hours_of_week

DIMENSIONS = ("country", "city", "device_type", "browser", "os", "referer", "language")
LARGEST_LIST = 100


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
        counted = [(quarter, only(traffic, counts).clicks) for quarter, counts in quarters]
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
        lists = TopLists(self._store, workspace_id, scope, days, question.traffic, question.limit)
        found, groups, visitors, top_links = await asyncio.gather(
            self._store.series(
                workspace_id, scope, [*buckets, *(Bucket(one.start, one.end) for one in periods[1:])]
            ),
            lists.of(question.dimensions),
            self._visitors(workspace_id, scope, [one.days(moment) for one in periods], question.traffic),
            self._top_links(workspace_id, scope, days, question),
        )
        *counted, previous = (
            only(question.traffic, found.get(place, Counts())) for place in range(len(buckets) + 1)
        )
        return Report(
            question=question,
            totals=Totals(period, total(counted), visitors[0]),
            previous=Totals(periods[1], previous, visitors[1]) if question.compare else None,
            series=list(zip(buckets, counted, strict=True)),
            groups=groups,
            top_links=top_links,
            days=days,
        )

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
        candidates = await self._candidates(workspace_id, days, question.limit)
        counted, known = await asyncio.gather(
            self._store.count_links(workspace_id, candidates, days),
            self._store.describe_links(workspace_id, candidates),
        )
        links = [
            TopLink(known[link_id], only(question.traffic, counts))
            for link_id, counts in counted.items()
            if link_id in known
        ]
        links = [one for one in links if one.counts.clicks]
        links.sort(key=lambda one: (-one.counts.clicks, one.link.link_id))
        return links[: question.limit]

    async def _candidates(self, workspace_id: int, days: Days, limit: int) -> list[int]:
        """Links that may be among the `limit` most followed of these days."""
        count = limit + _SPARE_CANDIDATES
        if days[1] - days[0] < _MOST_SKETCHES:
            sketches = await self._store.top_sketches(workspace_id, days)
            # Hundreds of names for each day: not in the loop's thread.
            found = await asyncio.to_thread(heaviest_links, sketches, count, limit)
            if found:
                return found
        return await self._store.top_totals(workspace_id, count)
