"""GET /metrics, and who may read it: whoever has the token, the operator, and programs of this machine."""

import asyncio
import hmac
from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from laconic.clicks.board import Board
from laconic.redirect.forwarded import TrustedProxies
from laconic.web.api.authentication import Gate, comes_from_here, is_from_proxy, is_loopback
from laconic.web.api.openapi import problems
from laconic.web.health import HealthRoutes
from laconic.web.metrics import catalog
from laconic.web.metrics.board import INSTALLATION, MetricBoard
from laconic.web.metrics.exposition import Exposition
from laconic.web.metrics.installation import Installation
from laconic.wiring import Services
from laconic.workspaces.model import OPERATOR

_HEALTH = {"healthy": 1.0, "degraded": 0.5, "unhealthy": 0.0}


class MetricsRoutes:
    def __init__(
        self,
        services: Services,
        gate: Gate,
        board: MetricBoard,
        clicks: Board,
        health: HealthRoutes,
        tell: Callable[[], None],
    ) -> None:
        settings = services.settings
        self._gate = gate
        self._board = board
        self._clicks = clicks
        self._health = health
        self._tell = tell
        self._token = settings.metrics_token.encode()
        self._from = TrustedProxies(settings.metrics_from)
        self._page = board.page(INSTALLATION)
        self._exposition = Exposition(board, settings.region, services.database.engine)
        self.installation = Installation(self._page, services)

    async def metrics(self, request: Request) -> Response:
        """All numbers of this machine's processes, for Prometheus."""
        if not self._is_let_in(request):
            await self._gate.admit(request, OPERATOR)
        await self.installation.refresh()
        self._page.gauge(catalog.HEALTHY, _HEALTH[await self._health.status()])
        self._tell()
        self._tell_clicks()
        accept = request.headers.get("accept", "")
        body, content_type = await asyncio.to_thread(self._exposition.render, accept)
        return Response(body, headers={"content-type": content_type, "cache-control": "no-store"})

    def _is_let_in(self, request: Request) -> bool:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        if self._token and scheme.lower() == "bearer":
            return hmac.compare_digest(secret.strip().encode(), self._token)
        peer = request.client.host if request.client else ""
        if not self._from.trusts(peer):
            return False
        # What a proxy passes on comes from anywhere, whatever address it has here.
        is_direct = not any(is_from_proxy(name) for name in request.headers)
        return comes_from_here(request) if is_loopback(peer) else is_direct

    def _tell_clicks(self) -> None:
        numbers, page = self._clicks.ingest, self._page
        page.gauge(catalog.LAG, self._clicks.lag_seconds)
        page.count(catalog.UNRECORDED, self._clicks.missed)
        page.gauge(catalog.JOURNAL_BYTES, numbers.journal_bytes)
        page.count(catalog.APPLIED, numbers.applied)
        page.count(catalog.SKIPPED_BYTES, numbers.skipped_bytes)
        page.count(catalog.ORPHANS, numbers.unknown_links)
        page.count(catalog.CLAMPED, numbers.clamped)
        page.count(catalog.FOREIGN_SEGMENTS, numbers.foreign_segments)

    def router(self) -> APIRouter:
        router = APIRouter(tags=["health"])
        router.add_api_route(
            "/metrics",
            self.metrics,
            methods=["GET"],
            response_class=PlainTextResponse,
            responses=problems(401),
        )
        return router
