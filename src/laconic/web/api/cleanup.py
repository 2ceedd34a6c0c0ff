"""/api/admin/cleanup: the reaper's figures, and a run by hand. For the operator alone."""

import asyncio
from dataclasses import asdict
from typing import Any

import structlog
from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import to_rfc3339
from laconic.errors import Refused
from laconic.upkeep.reaper import Outcome, Stats
from laconic.web.api.answers import json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.openapi import problems
from laconic.wiring import Services
from laconic.workspaces.model import OPERATOR

log = structlog.get_logger(__name__)

# A run may take minutes: who calls is told after this that it goes on.
_PATIENCE_SECONDS = 10.0


class CleanupRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._reaper = services.reaper
        self._gate = gate
        # Kept, so that a run goes on when its caller does not wait for it.
        self._running: set[asyncio.Task[Outcome]] = set()

    async def stats(self, request: Request) -> Response:
        """What all runs have done so far."""
        await self._gate.admit(request, OPERATOR)
        return json_response(stats_document(await self._reaper.stats()))

    async def run(self, request: Request) -> Response:
        """Cleans now, whatever the interval says. 202 when it takes longer than ten seconds and goes on."""
        actor = await self._gate.admit(request, OPERATOR)
        task = asyncio.create_task(self._reaper.run(actor))
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                outcome = await asyncio.shield(task)
        except TimeoutError:
            return json_response({"status": "running"}, 202)
        return json_response({"status": "done", **outcome_document(outcome)})

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Refused):
            log.warning("a cleanup has failed", error=str(error))

    def router(self) -> APIRouter:
        router = APIRouter(tags=["operator"])
        path = "/api/admin/cleanup"
        router.add_api_route(
            f"{path}/stats",
            self.stats,
            methods=["GET"],
            summary="Cleanup figures",
            response_class=Response,
            responses=problems(401, 403),
        )
        router.add_api_route(
            f"{path}/run",
            self.run,
            methods=["POST"],
            summary="Clean now",
            response_class=Response,
            responses=problems(401, 403, 409),
        )
        return router


def stats_document(stats: Stats) -> dict[str, Any]:
    last = stats.last_cleanup_time
    return {**asdict(stats), "last_cleanup_time": None if last is None else to_rfc3339(last)}


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "duration_ms": round(outcome.duration_ms, 1)}
