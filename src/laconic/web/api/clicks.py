"""/api/v1/urls/{code}/clicks: raw clicks, newest first, as a file, or no longer; /api/v1/clicks: of one visitor."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from laconic import clock
from laconic.clicks.csv_text import csv_lines
from laconic.clicks.events.browse import LARGEST_PAGE
from laconic.clicks.events.model import FIELDS, ClickEvent
from laconic.clicks.reports.periods import read_bounds
from laconic.errors import LinkUnknown
from laconic.links.model import Link
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.links import DomainQuery, domain_of
from laconic.web.api.openapi import problems
from laconic.web.api.problems import WRONG_SHAPE, Problem
from laconic.wiring import Services
from laconic.workspaces.model import ADMIN, ANALYTICS_READ, LINKS_WRITE, Actor

ExportFormat = Literal["csv", "ndjson"]
_MEDIA_TYPES: dict[ExportFormat, str] = {"csv": "text/csv", "ndjson": "application/x-ndjson"}


class ShownClick(BaseModel):
    """One click. What is not known, or is not kept (LACONIC_PRIVACY), is null."""

    id: str
    short_code: str
    clicked_at: str
    visitor: str | None = Field(description="Tells visitors of one UTC day apart, and of no longer.")
    ip_address: str | None = Field(
        description="The network, cut to /24 or /48 unless LACONIC_PRIVACY is full."
    )
    user_agent: str | None
    referer: str | None
    country: str | None
    city: str | None
    device_type: Literal["desktop", "mobile", "tablet", "bot", "unknown"]
    browser: str | None
    os: str | None
    language: str | None


class ClickPage(BaseModel):
    """Clicks, and where the next page begins."""

    items: list[ShownClick]
    next_cursor: str | None


class Erased(BaseModel):
    erased: int = Field(description="How many raw clicks there were.")


class ClickRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate

    async def recent(
        self,
        request: Request,
        code: str,
        domain: DomainQuery = None,
        cursor: Annotated[str | None, Query(max_length=64)] = None,
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = 50,
    ) -> Response:
        """Raw clicks of a link, newest first, a page at a time; also of a deleted link, as long as they are kept."""
        actor = await self._gate.admit(request, ANALYTICS_READ)
        link = await self._find(actor, code, domain)
        page = await self._services.events.recent(actor.workspace_id, link.id, link.created_at, cursor, limit)
        items = [event.document(link.short_code) for event in page.events]
        return json_response({"items": items, "next_cursor": page.next_cursor})

    async def export(
        self,
        request: Request,
        code: str,
        domain: DomainQuery = None,
        since: Annotated[
            str | None,
            Query(alias="from", max_length=64, description="RFC 3339, or a date of `tz`. Default: all."),
        ] = None,
        until: Annotated[
            str | None, Query(alias="to", max_length=64, description="The same; a date is included.")
        ] = None,
        tz: Annotated[str, Query(description="An IANA time zone, for dates.")] = "UTC",
        form: Annotated[ExportFormat, Query(alias="format")] = "csv",
    ) -> Response:
        """All raw clicks of a link, oldest first, streamed. In CSV a text that a spreadsheet would take for a formula
        has an apostrophe before it; NDJSON has every text as it was."""
        actor = await self._gate.admit(request, ANALYTICS_READ)
        link = await self._find(actor, code, domain)
        start, end = read_bounds(since, until, tz, clock.now())
        batches = self._services.events.export(actor.workspace_id, link.id, start, end)
        # Read before the answer begins: what cannot be read is then a 503, not half a file.
        first: list[ClickEvent] = await anext(batches, [])
        headers = {
            **API_HEADERS,
            "content-disposition": f'attachment; filename="{link.short_code}-clicks.{form}"',
        }
        body = _written(_WRITERS[form], link.short_code, first, batches)
        return StreamingResponse(body, headers=headers, media_type=_MEDIA_TYPES[form])

    async def erase_link(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """Erases the raw clicks of a link, for good (GDPR, article 17). Counts and charts stay as they are."""
        actor = await self._gate.admit(request, LINKS_WRITE)
        link = await self._find(actor, code, domain)
        return json_response({"erased": await self._services.eraser.link(actor, link)})

    async def erase_visitor(
        self,
        request: Request,
        visitor: Annotated[
            str | None, Query(max_length=128, description="Needed. As `visitor` of a click shows it.")
        ] = None,
    ) -> Response:
        """Erases the raw clicks of one visitor in the whole workspace, for good (GDPR, article 17). Counts and charts
        stay as they are. A visitor's hash is of one UTC day: erase each that is known. It looks through all raw clicks."""
        actor = await self._gate.admit(request, ADMIN)
        if visitor is None:
            raise Problem(WRONG_SHAPE, "visitor: Say whose clicks.")
        return json_response({"erased": await self._services.eraser.visitor(actor, visitor)})

    async def _find(self, actor: Actor, code: str, domain: str | None) -> Link:
        """Deleted ones too: their clicks can still be asked for, and must be erasable."""
        domain_id = await domain_of(self._services, actor, code, domain)
        link = await self._services.links.find(actor.workspace_id, domain_id, code)
        if link is None:
            raise LinkUnknown(code)
        return link

    def router(self) -> APIRouter:
        router = APIRouter(tags=["clicks"])
        clicks = "/api/v1/urls/{code}/clicks"
        files: dict[str, dict[str, Any]] = {name: {} for name in _MEDIA_TYPES.values()}
        router.add_api_route(
            clicks,
            self.recent,
            methods=["GET"],
            summary="Recent clicks of a link",
            responses={200: {"model": ClickPage}, **problems(400, 401, 403, 404, 422)},
        )
        router.add_api_route(
            clicks + "/export",
            self.export,
            methods=["GET"],
            summary="Raw clicks of a link as a file",
            response_class=Response,
            responses={200: {"content": files}, **problems(400, 401, 403, 404, 422)},
        )
        router.add_api_route(
            clicks,
            self.erase_link,
            methods=["DELETE"],
            summary="Erase a link's raw clicks",
            responses={200: {"model": Erased}, **problems(400, 401, 403, 404, 422)},
        )
        router.add_api_route(
            "/api/v1/clicks",
            self.erase_visitor,
            methods=["DELETE"],
            summary="Erase a visitor's raw clicks",
            responses={200: {"model": Erased}, **problems(401, 403, 422)},
        )
        return router


Writer = Callable[[str, list[ClickEvent]], bytes]


def _csv(code: str, events: list[ClickEvent]) -> bytes:
    return csv_lines(event.values(code) for event in events).encode("utf-8", "replace")


def _ndjson(code: str, events: list[ClickEvent]) -> bytes:
    return b"".join(to_json(event.document(code)) + b"\n" for event in events)


_WRITERS: dict[ExportFormat, Writer] = {"csv": _csv, "ndjson": _ndjson}


async def _written(
    write: Writer, code: str, first: list[ClickEvent], rest: AsyncIterator[list[ClickEvent]]
) -> AsyncIterator[bytes]:
    if write is _csv:
        yield csv_lines([FIELDS]).encode()
    if first:
        yield await asyncio.to_thread(write, code, first)
    async for events in rest:
        yield await asyncio.to_thread(write, code, events)
