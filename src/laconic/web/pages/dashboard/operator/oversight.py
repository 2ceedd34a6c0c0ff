"""/dashboard/operator/takedowns, /reports and /blocked: what the operator does about links, whoever owns them."""

from typing import Any, get_args

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.codes.rules import POSSIBLE_CODE
from laconic.errors import LinkUnknown
from laconic.oversight.model import LONGEST_REASON, ReportState
from laconic.web.api.oversight import entry_number
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash, Undo
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, OPERATOR

_PAGE = 50
_OPERATOR = "/dashboard/operator"
_TAKEDOWNS = f"{_OPERATOR}/takedowns"
_REPORTS = f"{_OPERATOR}/reports"
_BLOCKED = f"{_OPERATOR}/blocked"


class OversightPageRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services
        self._short_url = shell.services.directory.short_url

    # Takedowns.

    async def takedowns(self, request: Request) -> Response:
        return await self._takedown_page(await self._shell.enter(request, OPERATOR))

    async def take_down(self, request: Request) -> Response:
        """From the list of takedowns, by its short URL or code; or from a report."""
        visitor, form = await self._shell.receive(request, OPERATOR)
        try:
            domain_id, code = await self._link(form.get("link"))
            takedown = await self._services.takedowns.take_down(
                domain_id, code, form.get("reason"), visitor.actor
            )
        except (*CORRECTABLE, LinkUnknown) as error:
            mistake = Mistake.from_error("takedown", error, form)
            if form.get("back") == "reports":
                return await self._report_page(visitor, mistake)
            return await self._takedown_page(visitor, mistake)
        short_url = self._short_url(takedown.domain_id, takedown.short_code)
        flash = Flash(
            f"{short_url} is taken down: it answers 410 with your reason.",
            undo=Undo(f"{_TAKEDOWNS}/undo", {"link": [short_url]}),
        )
        return await self._shell.go(_REPORTS if form.get("back") == "reports" else _TAKEDOWNS, flash)

    async def put_back(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, OPERATOR)
        domain_id, code = await self._link(form.get("link"))
        await self._services.takedowns.put_back(domain_id, code, visitor.actor)
        short_url = self._short_url(domain_id, code)
        return await self._shell.go(_TAKEDOWNS, Flash(f"{short_url} is again what it was before."))

    async def _link(self, text: str) -> tuple[int, str]:
        """Of a short URL as it stands in an address bar, or a bare code of the shared domain."""
        text = text.strip().removesuffix("+")
        host, slash, code = text.partition("://")[2].partition("/") if "://" in text else ("", "/", text)
        if not slash or not POSSIBLE_CODE.fullmatch(code):
            raise LinkUnknown(text[:100])
        directory = self._services.directory
        if not host or directory.short_url(DEFAULT_DOMAIN_ID, code) == text:
            return DEFAULT_DOMAIN_ID, code
        await directory.catch_up()
        domain = directory.find_served(host.partition(":")[0])
        if domain is None:
            raise LinkUnknown(code)
        return domain.id, code

    async def _takedown_page(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        cursor = visitor.request.query_params.get("cursor")
        found = await self._services.takedowns.page(None if cursor is None else entry_number(cursor), _PAGE)
        await self._services.directory.know(one.domain_id for one in found)
        more = str(found[-1].link_id) if len(found) == _PAGE else None
        return await self._page(
            visitor,
            "takedowns",
            mistake,
            cursor,
            more,
            takedowns=[(self._short_url(one.domain_id, one.short_code), one) for one in found],
            longest=LONGEST_REASON,
        )

    # Reports.

    async def reports(self, request: Request) -> Response:
        return await self._report_page(await self._shell.enter(request, OPERATOR))

    async def dismiss(self, request: Request, report_id: str) -> Response:
        visitor, _ = await self._shell.receive(request, OPERATOR)
        await self._services.visitor_reports.dismiss(entry_number(report_id), visitor.actor)
        return await self._shell.go(_REPORTS, Flash("Dismissed: nothing is wrong with the link."))

    async def _report_page(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        asked = visitor.request.query_params
        state: ReportState = next((one for one in get_args(ReportState) if one == asked.get("state")), "open")
        cursor = asked.get("cursor")
        found = await self._services.visitor_reports.page(
            state, 0 if cursor is None else entry_number(cursor), _PAGE
        )
        await self._services.directory.know(one.domain_id for one in found)
        more = f"{found[-1].id}&state={state}" if len(found) == _PAGE else None
        return await self._page(
            visitor,
            "reports",
            mistake,
            cursor,
            more,
            reports=[(self._short_url(one.domain_id, one.short_code), one) for one in found],
            state=state,
            states=get_args(ReportState),
            longest=LONGEST_REASON,
        )

    # Blocked hosts.

    async def blocked(self, request: Request) -> Response:
        return await self._blocked_page(await self._shell.enter(request, OPERATOR))

    async def block(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, OPERATOR)
        try:
            blocked = await self._services.blocks.block(
                form.get("host"),
                visitor.actor,
                includes_subdomains=form.get("reach") != "exact",
                reason=form.get("reason"),
            )
        except CORRECTABLE as error:
            return await self._blocked_page(visitor, Mistake.from_error("block", error, form))
        undo = Undo(f"{_BLOCKED}/undo", {"host": [blocked.host]})
        text = f"{blocked.host} is blocked: no new links lead there, and those that do answer 410."
        return await self._shell.go(_BLOCKED, Flash(text, undo=undo))

    async def unblock(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, OPERATOR)
        try:
            await self._services.blocks.unblock(form.get("host"), visitor.actor)
        except CORRECTABLE as error:
            return await self._blocked_page(visitor, Mistake.from_error("block", error, form))
        return await self._shell.go(_BLOCKED, Flash(f"Links to {form.get('host')} work again."))

    async def _blocked_page(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        cursor = visitor.request.query_params.get("cursor")
        found = await self._services.blocks.page(cursor or "", _PAGE)
        more = found[-1].host if len(found) == _PAGE else None
        return await self._page(visitor, "blocked", mistake, cursor, more, blocked=found)

    async def _page(
        self,
        visitor: Visitor,
        name: str,
        mistake: Mistake | None,
        cursor: str | None,
        more: str | None,
        **values: Any,
    ) -> Response:
        path = f"{_OPERATOR}/{name}"
        return await self._shell.page(
            visitor,
            f"dashboard/operator/{name}.html",
            name,
            200 if mistake is None else mistake.status,
            mistake=mistake,
            first=path if cursor else None,
            next=None if more is None else f"{path}?cursor={more}",
            **values,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_TAKEDOWNS, self.takedowns, methods=["GET", "HEAD"])
        router.add_api_route(_TAKEDOWNS, self.take_down, methods=["POST"])
        router.add_api_route(_TAKEDOWNS + "/undo", self.put_back, methods=["POST"])
        router.add_api_route(_REPORTS, self.reports, methods=["GET", "HEAD"])
        router.add_api_route(_REPORTS + "/{report_id}/dismiss", self.dismiss, methods=["POST"])
        router.add_api_route(_BLOCKED, self.blocked, methods=["GET", "HEAD"])
        router.add_api_route(_BLOCKED, self.block, methods=["POST"])
        router.add_api_route(_BLOCKED + "/undo", self.unblock, methods=["POST"])
        return router
