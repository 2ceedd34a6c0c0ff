"""/api/admin: what the operator does, whoever's links they are. Scope `operator`."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from laconic.clock import to_rfc3339
from laconic.errors import EntryUnknown, LinkUnknown
from laconic.ids import LARGEST_ID
from laconic.oversight.model import BlockedHost, Report, ReportState, Takedown
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import read_model
from laconic.web.api.links import DomainQuery, ShortUrl, require_code
from laconic.web.api.openapi import body_of, problems
from laconic.wiring import Services
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, OPERATOR

Cursor = Annotated[str | None, Query(max_length=255, description="The next_cursor of the page before.")]
Limit = Annotated[int, Query(ge=1, le=1_000)]
_LONGEST_NUMBER = 18


class TakedownRequest(BaseModel):
    """Why. Visitors and the link's owner read it."""

    model_config = ConfigDict(extra="forbid")

    reason: str


class BlockRequest(BaseModel):
    """A host that no link may lead to. The reason is for the operator's own list."""

    model_config = ConfigDict(extra="forbid")

    host: str
    includes_subdomains: bool = True
    reason: str | None = None


class DismissRequest(BaseModel):
    """An empty object."""

    model_config = ConfigDict(extra="forbid")


class ShownTakedown(BaseModel):
    short_code: str
    short_url: str
    original_url: str | None
    workspace_id: str
    reason: str
    taken_down_at: str


class TakedownPage(BaseModel):
    """Links that are taken down, those that were made last first."""

    items: list[ShownTakedown]
    next_cursor: str | None


class ShownBlock(BaseModel):
    host: str
    includes_subdomains: bool
    reason: str | None
    created_at: str


class BlockPage(BaseModel):
    """Blocked hosts by name."""

    items: list[ShownBlock]
    next_cursor: str | None


class ShownReport(BaseModel):
    """`target` is where the link led when it was reported, `original_url` where it leads now."""

    id: str
    short_code: str
    short_url: str
    original_url: str | None
    target: str
    workspace_id: str
    reason: str
    message: str | None
    contact: str | None
    address: str | None
    state: ReportState
    created_at: str
    reviewed_at: str | None


class ReportPage(BaseModel):
    """Reports, those that have waited longest first."""

    items: list[ShownReport]
    next_cursor: str | None


class InstanceNumbers(BaseModel):
    """Of the whole installation; counted at most once a minute. `estimates` names those that are about right, not exact."""

    counted_at: str
    workspaces: int
    users: int
    api_keys: int
    domains: int
    domains_lapsed: int
    blocked_hosts: int
    takedowns: int
    open_reports: int
    links: int
    links_live: int
    links_created_24h: int
    clicks: int
    bot_clicks: int
    estimates: list[str]
    bytes: dict[str, int]


def takedown_json(takedown: Takedown, short_url: ShortUrl) -> dict[str, Any]:
    return {
        "short_code": takedown.short_code,
        "short_url": short_url(takedown.domain_id, takedown.short_code),
        "original_url": takedown.original_url,
        "workspace_id": str(takedown.workspace_id),
        "reason": takedown.reason,
        "taken_down_at": to_rfc3339(takedown.created_at),
    }


def block_json(blocked: BlockedHost) -> dict[str, Any]:
    return {
        "host": blocked.host,
        "includes_subdomains": blocked.includes_subdomains,
        "reason": blocked.reason,
        "created_at": to_rfc3339(blocked.created_at),
    }


def report_json(report: Report, short_url: ShortUrl) -> dict[str, Any]:
    return {
        "id": str(report.id),
        "short_code": report.short_code,
        "short_url": short_url(report.domain_id, report.short_code),
        "original_url": report.original_url,
        "target": report.target,
        "workspace_id": str(report.workspace_id),
        "reason": report.reason,
        "message": report.message,
        "contact": report.contact,
        "address": report.address,
        "state": report.state,
        "created_at": to_rfc3339(report.created_at),
        "reviewed_at": None if report.reviewed_at is None else to_rfc3339(report.reviewed_at),
    }


class OversightRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate
        self._short_url = services.directory.short_url

    async def take_down(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """The link answers 410 with the reason, on every worker within a second."""
        actor = await self._gate.admit(request, OPERATOR)
        asked = await read_model(request, TakedownRequest)
        takedown = await self._services.takedowns.take_down(
            await self._domain(code, domain), code, asked.reason, actor
        )
        return json_response(takedown_json(takedown, self._short_url))

    async def put_back(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """The link is again what it was before it was taken down."""
        actor = await self._gate.admit(request, OPERATOR)
        await self._services.takedowns.put_back(await self._domain(code, domain), code, actor)
        return Response(status_code=204, headers=API_HEADERS)

    async def takedowns(self, request: Request, cursor: Cursor = None, limit: Limit = 50) -> Response:
        await self._gate.admit(request, OPERATOR)
        found = await self._services.takedowns.page(None if cursor is None else entry_number(cursor), limit)
        await self._services.directory.know(one.domain_id for one in found)
        items = [takedown_json(one, self._short_url) for one in found]
        return _page(items, str(found[-1].link_id) if len(found) == limit else None)

    async def block(self, request: Request) -> Response:
        """New links to the host are refused, and those that are there answer 410 while it is blocked."""
        actor = await self._gate.admit(request, OPERATOR)
        asked = await read_model(request, BlockRequest)
        blocked = await self._services.blocks.block(
            asked.host,
            actor,
            includes_subdomains=asked.includes_subdomains,
            reason=asked.reason or "",
        )
        return json_response(block_json(blocked), 201)

    async def unblock(self, request: Request, host: str) -> Response:
        """Links to the host work again."""
        actor = await self._gate.admit(request, OPERATOR)
        await self._services.blocks.unblock(host, actor)
        return Response(status_code=204, headers=API_HEADERS)

    async def blocked(self, request: Request, cursor: Cursor = None, limit: Limit = 50) -> Response:
        await self._gate.admit(request, OPERATOR)
        found = await self._services.blocks.page(cursor or "", limit)
        return _page([block_json(one) for one in found], found[-1].host if len(found) == limit else None)

    async def reports(
        self, request: Request, state: ReportState = "open", cursor: Cursor = None, limit: Limit = 50
    ) -> Response:
        """What visitors report. Taking a link down upholds its reports."""
        await self._gate.admit(request, OPERATOR)
        found = await self._services.visitor_reports.page(
            state, 0 if cursor is None else entry_number(cursor), limit
        )
        await self._services.directory.know(one.domain_id for one in found)
        items = [report_json(one, self._short_url) for one in found]
        return _page(items, str(found[-1].id) if len(found) == limit else None)

    async def dismiss(self, request: Request, report_id: str) -> Response:
        """Nothing is wrong with the link."""
        actor = await self._gate.admit(request, OPERATOR)
        # Nothing is in it, but a page on another site cannot send this type (see `require_json`).
        await read_model(request, DismissRequest)
        report = await self._services.visitor_reports.dismiss(entry_number(report_id), actor)
        return json_response(report_json(report, self._short_url))

    async def end_domain(self, request: Request, host: str) -> Response:
        """Ends a workspace's domain, such as one that was sold, whether or not links live on it. Whoever proves the host
        from now on has it."""
        actor = await self._gate.admit(request, OPERATOR)
        await self._services.domains.end(actor, host)
        return Response(status_code=204, headers=API_HEADERS)

    async def stats(self, request: Request) -> Response:
        await self._gate.admit(request, OPERATOR)
        numbers = await self._services.statistics.numbers()
        kept = {"estimates": numbers.estimates, "bytes": numbers.bytes}
        return json_response({"counted_at": to_rfc3339(numbers.counted_at), **numbers.counts, **kept})

    async def _domain(self, code: str, host: str | None) -> int:
        require_code(code)
        if host is None:
            return DEFAULT_DOMAIN_ID
        await self._services.directory.catch_up()
        domain = self._services.directory.find_served(host)
        if domain is None:
            raise LinkUnknown(code)
        return domain.id

    def router(self) -> APIRouter:
        router = APIRouter(prefix="/api/admin", tags=["operator"])
        self._add_takedowns(router)
        self._add_blocks(router)
        self._add_reports(router)
        router.add_api_route(
            "/domains/{host}",
            self.end_domain,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404),
        )
        router.add_api_route(
            "/stats",
            self.stats,
            methods=["GET"],
            summary="Instance statistics",
            responses={200: {"model": InstanceNumbers}, **problems(401, 403)},
        )
        return router

    def _add_takedowns(self, router: APIRouter) -> None:
        one = "/links/{code}/takedown"
        router.add_api_route(
            one,
            self.take_down,
            methods=["POST"],
            responses={200: {"model": ShownTakedown}, **problems(400, 401, 403, 404, 410, 413, 415, 422)},
            openapi_extra=body_of(TakedownRequest),
        )
        router.add_api_route(
            one,
            self.put_back,
            methods=["DELETE"],
            status_code=204,
            responses=problems(400, 401, 403, 404, 410, 422),
        )
        router.add_api_route(
            "/takedowns",
            self.takedowns,
            methods=["GET"],
            responses={200: {"model": TakedownPage}, **problems(401, 403, 404, 422)},
        )

    def _add_blocks(self, router: APIRouter) -> None:
        every = "/blocked-hosts"
        router.add_api_route(
            every,
            self.block,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": ShownBlock}, **problems(400, 401, 403, 413, 415, 422)},
            openapi_extra=body_of(BlockRequest),
        )
        router.add_api_route(
            every,
            self.blocked,
            methods=["GET"],
            responses={200: {"model": BlockPage}, **problems(401, 403, 422)},
        )
        router.add_api_route(
            every + "/{host}",
            self.unblock,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404, 422),
        )

    def _add_reports(self, router: APIRouter) -> None:
        router.add_api_route(
            "/reports",
            self.reports,
            methods=["GET"],
            responses={200: {"model": ReportPage}, **problems(401, 403, 404, 422)},
        )
        router.add_api_route(
            "/reports/{report_id}/dismiss",
            self.dismiss,
            methods=["POST"],
            responses={200: {"model": ShownReport}, **problems(400, 401, 403, 404, 413, 415, 422)},
            openapi_extra=body_of(DismissRequest),
        )


def _page(items: list[dict[str, Any]], next_cursor: str | None) -> Response:
    return json_response({"items": items, "next_cursor": next_cursor})


def entry_number(text: str) -> int:
    """An id that was given out: what is no number was not."""
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER + 1):
        raise EntryUnknown("There is no such entry.")
    return min(int(text), LARGEST_ID)
