"""Three questions of those who watch: does it live, may it get requests, how is it."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic import __version__
from laconic.backups.notes import read_notes
from laconic.clicks.board import Board
from laconic.clock import MINUTE, now, to_rfc3339
from laconic.errors import LaconicError
from laconic.web.api.answers import json_response
from laconic.wiring import Services

# As the alert has it.
_LATE_SECONDS = 60
_RECENT = MINUTE


# In each answer, for whoever wonders which of the three to ask.
_LIVE = "This process answers. If it does not, start it again."
_READY = "Requests may be sent here. If not, send them elsewhere and do not restart it."
_HEALTH = "The state of all that this worker leans on, for people and alerts. Redirects may go on when it is not healthy."


class HealthRoutes:
    def __init__(self, services: Services, board: Board) -> None:
        self._services = services
        self._board = board
        self.is_draining = False

    async def live(self) -> Response:
        """The process answers. Nothing else is asked: a database that is away is no reason to restart it."""
        return json_response({"status": "alive", "means": _LIVE})

    async def ready(self) -> Response:
        """May requests be sent here? No while the worker is stopping or the database is away."""
        if self.is_draining:
            document = {"status": "draining", "means": _READY}
            return json_response(document, 503, {"retry-after": "1"})
        error = await self._database_error()
        if error is not None:
            document = {"status": "unavailable", "means": _READY, "error": error}
            return json_response(document, 503, {"retry-after": "1"})
        return json_response({"status": "ready", "means": _READY})

    async def health(self, request: Request) -> Response:
        """The state of everything this worker leans on."""
        document = await self.state()
        if "error" in document:
            return json_response(document, 503, {"retry-after": "1"})
        return json_response(document)

    async def state(self) -> dict[str, Any]:
        """The document of /health; `error` is in it when the database does not answer."""
        error = await self._database_error()
        redis = await self._redis_state()
        notes = await asyncio.to_thread(read_notes, self._services.settings.data_folder)
        document: dict[str, Any] = {
            "status": self._judge(error, redis),
            "means": _HEALTH,
            "timestamp": to_rfc3339(now()),
            "version": __version__,
            "database": "connected",
            "redis": redis,
            "kgs_pool_size": 0,
            "ingest_lag_seconds": round(self._board.lag_seconds, 1),
            "clicks_missed": self._board.missed,
            "integrity": "unknown" if not notes.checked_at else "damaged" if notes.problems else "sound",
            "last_backup_at": to_rfc3339(notes.backed_up_at) if notes.backed_up_at else None,
        }
        if notes.problems or notes.backup_error:
            document["status"] = "degraded"
        if error is None:
            document["kgs_pool_size"] = await self._pool_size()
            return document
        return document | {"database": "error", "error": error}

    async def status(self) -> str:
        """healthy, degraded or unhealthy."""
        return self._judge(await self._database_error(), await self._redis_state())

    def _judge(self, database_error: str | None, redis: str) -> str:
        if database_error is not None:
            return "unhealthy"
        return "degraded" if redis == "error" or self._is_degraded() else "healthy"

    def _is_degraded(self) -> bool:
        """Redirects go on, but clicks are late or were lost to a full disk a moment ago."""
        missed_ago = now() - self._board.last_missed_at
        return self._board.lag_seconds > _LATE_SECONDS or missed_ago < _RECENT

    async def _redis_state(self) -> str:
        """Without Redis everything goes on, so it is no reason to be unhealthy."""
        store = self._services.shared_store
        if store is None:
            return "off"
        return "connected" if await store.ping() else "error"

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
