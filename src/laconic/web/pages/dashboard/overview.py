"""GET /dashboard: the workspace at a glance."""

from functools import partial

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.links.browse import Query
from laconic.web.pages.dashboard.choices import OFFER, Choices
from laconic.web.pages.dashboard.insights import Analyst
from laconic.web.pages.dashboard.link_paths import host_of
from laconic.web.pages.dashboard.navigation import HOME
from laconic.web.pages.dashboard.shell import Shell
from laconic.workspaces.model import ANALYTICS_READ


class OverviewRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._analyst = Analyst(shell.services.reports)

    async def show(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, ANALYTICS_READ)
        services = self._shell.services
        insights, error = await self._analyst.look_or_default(
            visitor.workspace_id, None, Choices.from_request(request)
        )
        newest = (await services.browser.page(visitor.workspace_id, Query(limit=1))).links
        return await self._shell.page(
            visitor,
            "dashboard/overview.html",
            "overview",
            200 if error is None else 422,
            insights=insights,
            error=error,
            newest=newest[0] if newest else None,
            short_url=services.directory.short_url,
            domain_of=partial(self._domain_of, visitor.workspace_id),
            **OFFER,
        )

    def _domain_of(self, workspace_id: int, domain_id: int) -> str:
        """The host by which a link's page finds it; none where it is found without."""
        services = self._shell.services
        is_default = domain_id == services.directory.default_of(workspace_id)
        return "" if is_default else host_of(services, domain_id)

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(HOME, self.show, methods=["GET", "HEAD"])
        return router
