"""/api/v1/urls/{code}/analytics and /api/v1/analytics: reports of a link and of a workspace."""

import asyncio
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.responses import Response

from laconic import clock
from laconic.clicks.csv_text import csv_lines
from laconic.clicks.reports.counts import Traffic
from laconic.clicks.reports.document import CSV_COLUMNS, report_document, report_rows
from laconic.clicks.reports.periods import Interval, read_period
from laconic.clicks.reports.report import DIMENSIONS, LARGEST_LIST, Question, Report
from laconic.errors import ChoiceRefused
from laconic.web.api.answers import API_HEADERS
from laconic.web.api.authentication import Gate
from laconic.web.api.links import DomainQuery, domain_of
from laconic.web.api.openapi import problems
from laconic.wiring import Services
from laconic.workspaces.model import ANALYTICS_READ

Format = Literal["json", "csv"]

_FROM = Query(
    alias="from",
    max_length=64,
    description="Where the period begins: RFC 3339, or a date of `tz`. Default: thirty days, today included.",
)
_TO = Query(
    alias="to",
    max_length=64,
    description="Where it ends: RFC 3339, or a date, which is included. Default: now.",
)
_ZONE = Query(
    description="An IANA time zone, for dates and for the hours, days, weeks and months of the series."
)
_INTERVAL = Query(
    description="At most 31 days by hour, 731 by day, 1,830 by week or month. Default: by length."
)
_GROUP_BY = Query(description="Top lists, separated by commas or repeated: " + ", ".join(DIMENSIONS) + ".")
_TRAFFIC = Query(description="Only people's clicks, only those of bots and link previews, or all.")
_LIMIT = Query(ge=1, le=LARGEST_LIST, description="Entries of each list.")
_COMPARE = Query(description="With the totals of the period before, equally long.")
_FORMAT = Query(alias="format", description="JSON, or one row for each number.")


class Counted(BaseModel):
    clicks: int = Field(description="Bots included, unless `traffic` says otherwise.")
    bot_clicks: int


class TotalsShown(Counted):
    human_clicks: int
    unique_visitors: int | None = Field(description="People; null for bots. See `about`.")


class PreviousShown(TotalsShown):
    from_: str = Field(alias="from")
    to: str


class PeriodShown(BaseModel):
    from_: str = Field(alias="from")
    to: str = Field(description="Not part of the period.")
    tz: str
    interval: Interval


class BucketShown(Counted):
    start: str
    local: str = Field(description="The same moment on the zone's clocks.")


class ValueShown(Counted):
    value: str = Field(description="Empty where it is not known.")


class GroupShown(BaseModel):
    values: list[ValueShown]
    other: Counted = Field(description="All clicks of these days that are not listed.")


class DaysShown(BaseModel):
    from_: str = Field(alias="from")
    to: str
    tz: Literal["UTC"]


class AboutShown(BaseModel):
    """How to read the numbers."""

    days: DaysShown = Field(description="The UTC days that lists and visitors are of.")
    unique_visitors: Literal["estimate_of_one_day", "sum_of_daily_estimates"]
    ingest_lag_seconds: float | None = Field(description="Clicks of the last so many seconds may be missing.")


class ReportShown(BaseModel):
    """Clicks of a period."""

    period: PeriodShown
    traffic: Traffic
    totals: TotalsShown
    previous: PreviousShown | None
    series: list[BucketShown]
    groups: dict[str, GroupShown]
    about: AboutShown


class LinkReport(ReportShown):
    short_code: str


class TopLinkShown(Counted):
    id: str
    short_code: str
    original_url: str | None
    title: str | None
    is_deleted: bool


class WorkspaceReport(ReportShown):
    top_links: list[TopLinkShown]


class AnalyticsRoutes:
    def __init__(self, services: Services, gate: Gate, ingest_lag_seconds: Callable[[], float]) -> None:
        self._services = services
        self._gate = gate
        self._ingest_lag_seconds = ingest_lag_seconds

    async def link(
        self,
        request: Request,
        code: str,
        domain: DomainQuery = None,
        since: Annotated[str | None, _FROM] = None,
        until: Annotated[str | None, _TO] = None,
        interval: Annotated[Interval | None, _INTERVAL] = None,
        tz: Annotated[str, _ZONE] = "UTC",
        group_by: Annotated[list[str] | None, _GROUP_BY] = None,
        traffic: Annotated[Traffic, _TRAFFIC] = "all",
        limit: Annotated[int, _LIMIT] = 10,
        compare: Annotated[bool, _COMPARE] = True,
        form: Annotated[Format, _FORMAT] = "json",
    ) -> Response:
        """Clicks of one link: totals, a series, top lists, and the period before."""
        actor = await self._gate.admit(request, ANALYTICS_READ)
        found = await self._services.browser.get(
            actor.workspace_id, await domain_of(self._services, actor, code, domain), code
        )
        period = read_period(since, until, interval, tz, clock.now())
        question = Question(period, _dimensions(group_by), traffic, limit, compare)
        report = await self._services.reports.of_link(actor.workspace_id, found.id, question)
        return await self._respond(report, form, short_code=found.short_code)

    async def workspace(
        self,
        request: Request,
        since: Annotated[str | None, _FROM] = None,
        until: Annotated[str | None, _TO] = None,
        interval: Annotated[Interval | None, _INTERVAL] = None,
        tz: Annotated[str, _ZONE] = "UTC",
        group_by: Annotated[list[str] | None, _GROUP_BY] = None,
        traffic: Annotated[Traffic, _TRAFFIC] = "all",
        limit: Annotated[int, _LIMIT] = 10,
        compare: Annotated[bool, _COMPARE] = True,
        form: Annotated[Format, _FORMAT] = "json",
    ) -> Response:
        """Clicks of all links of the workspace together, and the links that were followed most."""
        actor = await self._gate.admit(request, ANALYTICS_READ)
        period = read_period(since, until, interval, tz, clock.now())
        question = Question(period, _dimensions(group_by), traffic, limit, compare)
        report = await self._services.reports.of_workspace(actor.workspace_id, question)
        return await self._respond(report, form)

    async def _respond(self, report: Report, form: Format, **before: Any) -> Response:
        lag = round(self._ingest_lag_seconds(), 1)
        # A thousand buckets take milliseconds to write down: not in the loop's thread.
        if form == "csv":
            table = await asyncio.to_thread(_csv, report)
            headers = {**API_HEADERS, "content-disposition": 'attachment; filename="analytics.csv"'}
            return Response(table, headers=headers, media_type="text/csv")
        body = await asyncio.to_thread(lambda: to_json({**before, **report_document(report, lag)}))
        return Response(body, headers=API_HEADERS, media_type="application/json")

    def router(self) -> APIRouter:
        router = APIRouter(tags=["analytics"])
        router.add_api_route(
            "/api/v1/urls/{code}/analytics",
            self.link,
            methods=["GET"],
            summary="Analytics of a link",
            responses={200: {"model": LinkReport, **_AS_CSV}, **problems(400, 401, 403, 404, 410, 422)},
        )
        router.add_api_route(
            "/api/v1/analytics",
            self.workspace,
            methods=["GET"],
            summary="Analytics of the workspace",
            responses={200: {"model": WorkspaceReport, **_AS_CSV}, **problems(401, 403, 422)},
        )
        return router


_AS_CSV: dict[str, Any] = {"content": {"text/csv": {}}}


def _csv(report: Report) -> str:
    return csv_lines([CSV_COLUMNS, *report_rows(report)])


def _dimensions(asked: list[str] | None) -> tuple[str, ...]:
    if asked is None:
        return DIMENSIONS
    names = {name.strip() for some in asked for name in some.split(",")} - {""}
    unknown = sorted(names - set(DIMENSIONS))
    if unknown:
        raise ChoiceRefused("group_by", f"{unknown[0]!r} is none of {', '.join(DIMENSIONS)}.")
    return tuple(name for name in DIMENSIONS if name in names)
