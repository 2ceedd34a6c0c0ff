"""GET /dashboard/links/{code}: one link, with its charts and its clicks as they come."""

from typing import Final, NamedTuple

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clicks.events.model import ClickEvent
from laconic.web.api.links import domain_of
from laconic.web.pages.charts.countries import country_name
from laconic.web.pages.dashboard.choices import OFFER, Choices
from laconic.web.pages.dashboard.insights import Analyst
from laconic.web.pages.dashboard.link_paths import LINKS, ShownLink
from laconic.web.pages.dashboard.shell import Shell
from laconic.workspaces.model import ANALYTICS_READ

_RECENT: Final = 12


class LinkPageRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._analyst = Analyst(shell.services.reports)

    async def show(self, request: Request, code: str) -> Response:
        visitor = await self._shell.enter(request, ANALYTICS_READ)
        services = self._shell.services
        choices = Choices.from_request(request)
        domain_id = await domain_of(services, visitor.actor, code, choices.domain or None)
        link = await services.browser.get(visitor.workspace_id, domain_id, code)
        insights, error = await self._analyst.look_or_default(visitor.workspace_id, link.id, choices)
        recent = await services.events.recent(visitor.workspace_id, link.id, link.created_at, None, _RECENT)
        return await self._shell.page(
            visitor,
            "dashboard/link.html",
            "links",
            200 if error is None else 422,
            link=link,
            shown=ShownLink.of(services, link),
            insights=insights,
            error=error,
            recent=[_shown(event) for event in recent.events],
            **OFFER,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(LINKS + "/{code}", self.show, methods=["GET", "HEAD"])
        return router


class ShownClick(NamedTuple):
    """A click as a line of the list, as the script writes it, too."""

    clicked_at: int
    is_bot: bool
    place: str
    program: str
    referer: str


def _shown(event: ClickEvent) -> ShownClick:
    country = country_name(event.country) if event.country else "Unknown country"
    program = ", ".join(filter(None, (event.browser, event.os))) or event.device_type
    return ShownClick(
        event.clicked_at,
        event.device_type == "bot",
        f"{event.city}, {country}" if event.city else country,
        program,
        event.referer or "",
    )
