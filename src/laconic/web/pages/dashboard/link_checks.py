"""GET /dashboard/check: what a link's form says while it is filled in. A hint: only the create decides."""

from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.errors import LaconicError
from laconic.links.targets import parse
from laconic.web.api.answers import json_response
from laconic.web.api.problems import document_of
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.workspaces.model import LINKS_CREATE

CHECK: Final = "/dashboard/check"
_LONGEST: Final = 10_000


class LinkCheckRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services

    async def check(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, LINKS_CREATE)
        asked = request.query_params
        told: dict[str, Any] = {}
        if asked.get("url", "").strip():
            told["url"] = self._target(asked["url"][:_LONGEST])
        if asked.get("code", "").strip():
            told["code"] = await self._code(visitor, asked["code"].strip()[:100], asked.get("domain") or None)
        return json_response(told)

    def _target(self, url: str) -> dict[str, Any]:
        """Where it leads, as browsers look the host up, or why it is refused. Nothing is fetched."""
        try:
            target = self._services.targets.check(url)
        except LaconicError as error:
            return {"ok": False, "text": str(error), "reason": document_of(error).get("reason")}
        host = parse(target.location)[1]
        is_plain = not target.location.lower().startswith("https:")
        note = " The way there is not encrypted (http)." if is_plain else ""
        return {"ok": True, "text": f"Leads to {host}.{note}", "host": host}

    async def _code(self, visitor: Visitor, code: str, domain: str | None) -> dict[str, Any]:
        try:
            self._services.custom_codes.check(code)
            domain_id = await self._services.locator.for_new(visitor.workspace_id, domain)
        except LaconicError as error:
            return {"ok": False, "text": str(error)}
        holder = visitor.actor.code_holder
        holders = await self._services.allocations.holders([code])
        is_free = holders.get(code, holder) == holder and await self._services.links.is_free(domain_id, code)
        return {"ok": is_free, "text": "This code is free." if is_free else "This code is taken."}

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(CHECK, self.check, methods=["GET"])
        return router
