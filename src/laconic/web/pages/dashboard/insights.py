"""From reports to what a page of charts shows: figures, drawings, lists. The same verbs as the API's analytics."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from laconic.clicks.reports.counts import Counts, Traffic
from laconic.clicks.reports.lists import Group
from laconic.clicks.reports.periods import Period
from laconic.clicks.reports.report import Question, Report, Reports
from laconic.clicks.reports.store import Scope
from laconic.clicks.reports.week import LONGEST_WEEKS, Week
from laconic.errors import ChoiceRefused
from laconic.web.pages.charts.countries import country_name
from laconic.web.pages.charts.labels import (
    WEEKDAYS,
    Direction,
    change,
    long_name,
    period_name,
    short_name,
    utc_day_name,
)
from laconic.web.pages.charts.languages import language_name
from laconic.web.pages.charts.scale import percent, shades
from laconic.web.pages.charts.timeline import HEIGHT, LOW, Line, draw_timeline
from laconic.web.pages.charts.world import draw_world
from laconic.web.pages.dashboard.choices import Choices, before_by_date

_LIST_LENGTH: Final = 100
_LISTS: Final[Mapping[str, str]] = {
    "referer": "Referrers",
    "device_type": "Devices",
    "browser": "Browsers",
    "os": "Systems",
    "city": "Cities",
    "language": "Languages",
}
_DEVICES: Final[Mapping[str, str]] = {
    "desktop": "Computers",
    "mobile": "Phones",
    "tablet": "Tablets",
    "bot": "Bots",
    "unknown": "Unknown",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """One large number, with how it has moved."""

    name: str
    label: str
    value: int
    before: int
    direction: Direction
    words: str
    hint: str = ""

    @classmethod
    def compared(cls, name: str, label: str, value: int, before: int, hint: str = "") -> "Figure":
        return cls(name, label, value, before, *change(value, before), hint)


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, and the same numbers as a table: names of its columns, then rows that begin with a name."""

    drawing: Markup
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[int]]]


@dataclass(frozen=True, slots=True)
class Rank:
    name: str
    clicks: int
    share: float  # percent of all
    length: float  # percent of the longest
    is_known: bool = True


@dataclass(frozen=True, slots=True)
class Ranking:
    """A top list; `others` is the rest in one row."""

    name: str
    label: str
    ranks: Sequence[Rank]
    others: Rank | None


@dataclass(frozen=True, slots=True)
class WeekDay:
    name: str
    hours: Sequence[tuple[int, int]]  # clicks and shade


@dataclass(frozen=True, slots=True)
class Insights:
    choices: Choices
    period: Period
    period_name: str
    report: Report
    figures: Sequence[Figure]
    timeline: Chart
    visitors: Chart | None
    world: Markup
    countries: Ranking
    rankings: Sequence[Ranking]
    week: Sequence[WeekDay]
    is_week_cut: bool

    @property
    def is_empty(self) -> bool:
        return not any(figure.value for figure in self.figures)


class Analyst:
    """Asks for what a page shows, at once."""

    def __init__(self, reports: Reports) -> None:
        self._reports = reports

    async def look_or_default(
        self, workspace_id: int, link_id: int | None, choices: Choices
    ) -> tuple[Insights, ChoiceRefused | None]:
        """A time that cannot be is told beside the charts of one that can."""
        try:
            return await self.look(workspace_id, link_id, choices), None
        except ChoiceRefused as error:
            return await self.look(workspace_id, link_id, choices.or_default()), error

    async def look(self, workspace_id: int, link_id: int | None, choices: Choices) -> Insights:
        """Raises ChoiceRefused for a time that cannot be."""
        period = choices.period()
        earlier = before_by_date(period)
        scope = Scope(link_id)
        lists, series, before, week, visitors = await asyncio.gather(
            self._report(
                workspace_id, scope, Question(period, ("country", *_LISTS), choices.traffic, _LIST_LENGTH)
            ),
            self._report(workspace_id, scope, Question(period, (), "all", top_links=False)),
            self._report(
                workspace_id,
                scope,
                Question(earlier, (), choices.traffic, compare=False, top_links=False),
            ),
            self._reports.week(workspace_id, scope, period, choices.traffic),
            self._reports.daily_visitors(workspace_id, scope, period),
        )
        # Drawing hundreds of points takes milliseconds: not in the loop's thread.
        return await asyncio.to_thread(_insights, choices, lists, series, before, week, visitors)

    async def _report(self, workspace_id: int, scope: Scope, question: Question) -> Report:
        if scope.link_id is None:
            return await self._reports.of_workspace(workspace_id, question)
        return await self._reports.of_link(workspace_id, scope.link_id, question)


def _insights(
    choices: Choices,
    lists: Report,
    series: Report,
    before: Report,
    week: Week,
    visitors: list[tuple[int, int]],
) -> Insights:
    period = lists.question.period
    countries = _ranking("country", "Countries", lists.groups["country"], country_name)
    rankings = [_ranking(name, label, lists.groups[name], _naming(name)) for name, label in _LISTS.items()]
    return Insights(
        choices=choices,
        period=period,
        period_name=period_name(period),
        report=lists,
        figures=_figures(series, lists),
        timeline=_timeline(choices, series, before),
        visitors=_visitors(choices, visitors, LOW if lists.top_links is not None else HEIGHT)
        if len(visitors) > 1 and choices.traffic != "bots"
        else None,
        world=draw_world(
            {value: counts.clicks for value, counts in lists.groups["country"].values},
            labelled_by="countries",
            description=_world_words(countries),
        ),
        countries=countries,
        rankings=[one for one in rankings if one.name != "city" or any(rank.is_known for rank in one.ranks)],
        week=_week(week),
        is_week_cut=period.end - period.start > LONGEST_WEEKS,
    )


def _figures(series: Report, lists: Report) -> list[Figure]:
    now, then = series.totals, series.previous
    before = Counts() if then is None else then.counts
    people, people_before = now.counts.clicks - now.counts.bot_clicks, before.clicks - before.bot_clicks
    is_one_day = lists.days[0] == lists.days[1]
    visitors_before = 0 if then is None else then.visitors or 0
    return [
        Figure.compared("people", "Clicks by people", people, people_before),
        Figure.compared(
            "visitors",
            "Visitors",
            now.visitors or 0,
            visitors_before,
            "Estimated for the day." if is_one_day else "Estimated for each day, and added up.",
        ),
        Figure.compared("bots", "Bots and previews", now.counts.bot_clicks, before.bot_clicks),
    ]


_TIMELINE_COLUMNS: Final[Mapping[Traffic, tuple[str, ...]]] = {
    "humans": ("People", "Bots", "Before"),
    "bots": ("Bots", "Before"),
    "all": ("Everybody", "Bots", "Before"),
}


def _timeline(choices: Choices, series: Report, before: Report) -> Chart:
    traffic = choices.traffic
    period = series.question.period
    buckets = [bucket for bucket, _ in series.series]
    counts = [one for _, one in series.series]
    earlier = [one.clicks for _, one in before.series][: len(buckets)]
    bots = [one.bot_clicks for one in counts]
    main = {
        "humans": [one.clicks - one.bot_clicks for one in counts],
        "bots": bots,
        "all": [one.clicks for one in counts],
    }[traffic]
    lines = [Line("before", earlier), Line("main", main, is_filled=True, is_open=choices.is_open)]
    columns = [main, earlier + [0] * (len(main) - len(earlier))]
    if traffic != "bots":
        lines.append(Line("bots", bots, is_open=choices.is_open))
        columns.insert(1, bots)
    drawing = draw_timeline(
        lines,
        [short_name(period, bucket) for bucket in buckets],
        labelled_by="timeline",
        description=_timeline_words(series, main),
    )
    names = [long_name(period, bucket) for bucket in buckets]
    return Chart(
        drawing, _TIMELINE_COLUMNS[traffic], list(zip(names, zip(*columns, strict=True), strict=True))
    )


def _timeline_words(series: Report, values: Sequence[int]) -> str:
    period = series.question.period
    total, most = sum(values), max(values)
    if not total:
        return f"{period_name(period)}: no clicks."
    best, _ = series.series[values.index(most)]
    return f"{period_name(period)}: {total:,} clicks, most of them ({most:,}) on {long_name(period, best)}."


def _visitors(choices: Choices, days: Sequence[tuple[int, int]], height: int) -> Chart:
    values = [visitors for _, visitors in days]
    names = [utc_day_name(day) for day, _ in days]
    drawing = draw_timeline(
        [Line("visitors", values, is_filled=True, is_open=choices.is_open)],
        names,
        labelled_by="visitors",
        description=f"At most {max(values):,} visitors on a day.",
        height=height,
    )
    return Chart(
        drawing, ("Visitors",), [(name, (value,)) for name, value in zip(names, values, strict=True)]
    )


def _naming(dimension: str) -> Callable[[str], str]:
    if dimension == "device_type":
        return lambda value: _DEVICES.get(value, value)
    return language_name if dimension == "language" else str


def _ranking(name: str, label: str, group: Group, naming: Callable[[str], str]) -> Ranking:
    unknown = "Direct or unknown" if name == "referer" else "Unknown"
    whole = sum(counts.clicks for _, counts in group.values) + group.other.clicks
    longest = max((counts.clicks for _, counts in group.values), default=0)

    def rank(text: str, clicks: int, *, is_known: bool) -> Rank:
        return Rank(text, clicks, percent(clicks, whole), percent(clicks, longest), is_known)

    ranks = [
        rank(naming(value) if value else unknown, counts.clicks, is_known=bool(value))
        for value, counts in group.values
    ]
    others = rank("All others", group.other.clicks, is_known=False)
    return Ranking(name, label, ranks, others if group.other.clicks > 0 else None)


def _world_words(countries: Ranking) -> str:
    known = [rank for rank in countries.ranks if rank.is_known]
    if not known:
        return "No country is known yet."
    first = ", ".join(f"{rank.name} {rank.share:g} %" for rank in known[:3])
    return f"Clicks came from {len(known):,} {'country' if len(known) == 1 else 'countries'}: {first}."


def _week(week: Week) -> list[WeekDay]:
    shaded = iter(shades([clicks for day in week for clicks in day]))
    return [
        WeekDay(name, [(clicks, next(shaded)) for clicks in day])
        for name, day in zip(WEEKDAYS, week, strict=True)
    ]
