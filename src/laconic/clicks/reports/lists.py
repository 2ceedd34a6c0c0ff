"""Top lists of a report: the most frequent values of each dimension, exactly.

Sorting all values of a month takes most of a report's time where there are many, such as referrers, and all but a few
of them are not shown. So leaders are found by their good days alone, and then counted exactly. Why nobody is missed:
whoever has no day with `least` clicks has less than that a day. When so many on every day, on top of what the best
one who was left out has on good days, are no more than the last one listed has, the list is right. When they are
more, all are sorted.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from laconic.clicks.reports.counts import Counts, Traffic, measure, only, total
from laconic.clicks.reports.store import Days, ReportStore, Scope, ValueRow

# Dimensions whose values may be hundreds or thousands.
_LONG = frozenset({"country", "city", "referer"})
_SPARE = 10
# A value with less than this part of what a place in the list would have, if all had the same, is no leader.
_PART = 20


@dataclass(frozen=True, slots=True)
class Group:
    """The top list of one dimension, and what all other clicks of these days have together."""

    values: list[tuple[str, Counts]]
    other: Counts


@dataclass(frozen=True, slots=True)
class TopLists:
    """What is asked for, of whom."""

    store: ReportStore
    workspace_id: int
    scope: Scope
    days: Days
    traffic: Traffic
    limit: int

    async def of(self, dimensions: Sequence[str]) -> dict[str, Group]:
        if not dimensions:
            return {}
        short = [name for name in dimensions if name not in _LONG]
        all_clicks, busy = await self.store.days_total(self.workspace_id, self.scope, self.days)
        everything = only(self.traffic, all_clicks)
        sorted_, leaders = await asyncio.gather(
            self._sorted(short, 1, self.limit),
            self._leaders([name for name in dimensions if name in _LONG], everything, busy),
        )
        lists = sorted_ | leaders
        return {name: self._group(lists.get(name, []), everything) for name in dimensions}

    async def _leaders(
        self, dimensions: Sequence[str], everything: Counts, span: int
    ) -> dict[str, list[ValueRow]]:
        """`span`: days that have any clicks at all."""
        least = max(everything.clicks // (max(span, 1) * _PART * self.limit), 1)
        if least == 1:
            return await self._sorted(dimensions, 1, self.limit)
        found = await self._sorted(dimensions, least, self.limit + _SPARE + 1)
        proved = await asyncio.gather(*(self._proved(name, found[name], least, span) for name in found))
        lists = {name: rows for name, rows in zip(found, proved, strict=True) if rows}
        return lists | await self._sorted([name for name in dimensions if name not in lists], 1, self.limit)

    async def _proved(self, name: str, rows: list[ValueRow], least: int, span: int) -> list[ValueRow]:
        """The list, counted exactly; nothing where somebody who was left out may have more. Whoever has no good day has
        less than `least * span`, and the bad days of anybody make less than that."""
        candidates, left_out = rows[: self.limit + _SPARE], rows[self.limit + _SPARE :]
        exact = await self._counted(name, candidates, span)
        bound = least * span + sum(self._measure(row) for row in left_out)
        is_right = len(exact) >= self.limit and self._measure(exact[self.limit - 1]) >= bound
        return exact[: self.limit] if is_right else []

    async def _sorted(self, dimensions: Sequence[str], least: int, limit: int) -> dict[str, list[ValueRow]]:
        """By what they have on days with at least `least`."""
        lists: dict[str, list[ValueRow]] = {}
        if dimensions:
            rows = await self.store.values(
                self.workspace_id, self.scope, self.days, dimensions, self.traffic, least, limit
            )
            for row in rows:
                lists.setdefault(row.dimension, []).append(row)
        return lists

    async def _counted(self, name: str, candidates: Sequence[ValueRow], span: int) -> list[ValueRow]:
        """By all their days. Leaders have good days only, mostly: nothing of theirs is missing."""
        rows = [row for row in candidates if row.days == span]
        partly = [row.value for row in candidates if row.days < span]
        if partly:
            rows += await self.store.exact_values(self.workspace_id, self.scope, self.days, name, partly)
        return sorted(rows, key=lambda row: (-self._measure(row), row.value))

    def _measure(self, row: ValueRow) -> int:
        return measure(self.traffic, row.counts)

    def _group(self, rows: list[ValueRow], everything: Counts) -> Group:
        values = [(row.value, only(self.traffic, row.counts)) for row in rows]
        if not values:
            # Such as cities where no file knows any.
            return Group([], Counts())
        return Group(values, everything - total(counts for _, counts in values))
