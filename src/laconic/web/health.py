"""Three questions of those who watch: does it live, may it get requests, how is it."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic import __version__
from laconic.clock import now, to_rfc3339
from laconic.errors import LaconicError
from laconic.web.api.links import json_response
from laconic.wiring import Services


class HealthRoutes:
    def __init__(self, services: Services) -> None:
        self._services = services
        self.is_draining = False

    async def live(self) -> Response:
        """The process answers. Nothing else is asked: a database that is away is no reason to restart it."""
        return json_response({"status": "alive"})

    async def ready(self) -> Response:
        """May requests be sent here? No while the worker is stopping or the database is away."""
        if self.is_draining:
            return json_response({"status": "draining"}, 503, {"retry-after": "1"})
        error = await self._database_error()
        if error is not None:
            return json_response({"status": "unavailable", "error": error}, 503, {"retry-after": "1"})
        return json_response({"status": "ready"})

    async def health(self, request: Request) -> Response:
        """The state of everything this worker leans on."""
        error = await self._database_error()
        document: dict[str, Any] = {
            "status": "healthy" if error is None else "unhealthy",
            "timestamp": to_rfc3339(now()),
            "version": __version__,
            "database": "connected" if error is None else "error",
            "redis": "off",
            "kgs_pool_size": 0,
            "ingest_lag_seconds": 0,
        }
        if error is None:
            document["kgs_pool_size"] = await self._pool_size()
            return json_response(document)
        document["error"] = error
        return json_response(document, 503, {"retry-after": "1"})

    async def _pool_size(self) -> int:
        """Codes that are ready for any worker; where no pool is kept, those that this one holds."""
        pool = self._services.pool
        if pool.minimum == 0:
            return len(self._services.codes)
        try:
            await pool.look()
        except LaconicError:
            pass
        return pool.ready

    async def _database_error(self) -> str | None:
        try:
            await self._services.database.fetch_one("SELECT 1")
        except LaconicError as error:
            return str(error)
        return None

    def router(self) -> APIRouter:
        router = APIRouter(tags=["health"])
        router.add_api_route("/live", self.live, methods=["GET"])
        router.add_api_route("/ready", self.ready, methods=["GET"])
        router.add_api_route("/health", self.health, methods=["GET"])
        return router
