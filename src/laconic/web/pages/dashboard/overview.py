"""GET /dashboard: the workspace at a glance."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.web.pages.dashboard.navigation import HOME
from laconic.web.pages.dashboard.shell import Shell
from laconic.workspaces.model import ANALYTICS_READ


class OverviewRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    async def show(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, ANALYTICS_READ)
        return await self._shell.page(visitor, "dashboard/overview.html", "overview")

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(HOME, self.show, methods=["GET", "HEAD"])
        return router
