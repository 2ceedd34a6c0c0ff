"""/dashboard/operator: how the installation is; its code pool; its clean-up."""

import asyncio
from dataclasses import replace

import structlog
from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clicks.board import Board
from laconic.clock import now
from laconic.errors import CleanupRunning, Refused
from laconic.oversight.statistics import Numbers
from laconic.storage.breaker import Breaker
from laconic.upkeep.reaper import Outcome
from laconic.web.health import HealthRoutes
from laconic.web.pages.dashboard.operator.checks import (
    Breakers,
    Check,
    check_cleanup,
    check_clicks,
    check_database,
    check_pool,
    check_redis,
    headline,
    minutes_text,
    seconds_text,
    worst,
)
from laconic.web.pages.dashboard.shell import Shell
from laconic.web.pages.flashes import Flash
from laconic.workspaces.model import OPERATOR

log = structlog.get_logger(__name__)

_HEALTH = "/dashboard/operator"
_CODES = f"{_HEALTH}/codes"
_CLEANUP = f"{_HEALTH}/cleanup"
_SHOWN_RUNS = 20
# A run may take minutes: whoever has asked for it sees it go on after this.
_PATIENCE_SECONDS = 5.0
_COUNTING_SECONDS = 1.0


class UpkeepRoutes:
    def __init__(self, shell: Shell, health: HealthRoutes, board: Board) -> None:
        self._shell = shell
        self._services = shell.services
        self._health = health
        self._board = board
        # Kept, so that a run goes on when its caller does not wait for it.
        self._running: set[asyncio.Task[Outcome]] = set()
        self._counting: asyncio.Task[Numbers] | None = None

    async def health(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, OPERATOR)
        state = await self._health.state()
        checks = await self._checks(state)
        mood = worst(checks)
        return await self._shell.page(
            visitor,
            "dashboard/operator/health.html",
            "health",
            state=state,
            checks=checks,
            mood=mood,
            headline=headline(mood),
            numbers=await self._numbers(),
        )

    async def _numbers(self) -> Numbers | None:
        """None while they are being counted, which reads every link: nobody waits for that to see what is wrong."""
        if self._counting is None or self._counting.done():
            self._counting = asyncio.create_task(self._services.statistics.numbers())
        await asyncio.wait([self._counting], timeout=_COUNTING_SECONDS)
        return self._counting.result() if self._counting.done() else None

    async def _checks(self, state: dict[str, object]) -> list[Check]:
        services, settings = self._services, self._services.settings
        shared, ingest = services.shared_store, self._board.ingest
        board = self._board
        return [
            check_database(state, await services.database.sizes(), _breakers(*services.database.breakers)),
            check_redis(str(state["redis"]), _breakers(*(shared.breakers if shared is not None else ()))),
            check_pool(await services.pool.report(), is_critical=services.pool.is_critical),
            check_clicks(ingest, board.lag_seconds, board.missed, board.last_missed_at, now()),
            check_cleanup(
                await services.reaper.stats(),
                now(),
                settings.cleanup_interval,
                is_enabled=settings.cleanup_enabled,
            ),
        ]

    async def codes(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, OPERATOR)
        report = await self._services.pool.report()
        left = report["minutes_to_exhaustion"]
        return await self._shell.page(
            visitor,
            "dashboard/operator/codes.html",
            "codes",
            report=report,
            # Its numbers stand beside it.
            pool=replace(check_pool(report, is_critical=self._services.pool.is_critical), facts=[]),
            left=None if left is None else minutes_text(left),
            custom_pattern=self._services.settings.custom_code_pattern,
        )

    async def cleanup(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, OPERATOR)
        reaper, settings = self._services.reaper, self._services.settings
        stats = await reaper.stats()
        return await self._shell.page(
            visitor,
            "dashboard/operator/cleanup.html",
            "cleanup",
            state=check_cleanup(stats, now(), settings.cleanup_interval, is_enabled=settings.cleanup_enabled),
            stats=stats,
            forecast=await reaper.forecast(),
            runs=await reaper.runs(_SHOWN_RUNS),
            interval=seconds_text(settings.cleanup_interval / 1_000_000),
            buffer=seconds_text(settings.cleanup_buffer_time / 1_000_000),
            purge=seconds_text(settings.cleanup_purge_after / 1_000_000),
        )

    async def clean_now(self, request: Request) -> Response:
        await self._shell.receive(request, OPERATOR)
        task = asyncio.create_task(self._services.reaper.run())
        self._running.add(task)
        task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                outcome = await asyncio.shield(task)
        except CleanupRunning as error:
            return await self._shell.go(_CLEANUP, Flash(str(error), "problem"))
        except TimeoutError:
            return await self._shell.go(_CLEANUP, Flash("It is running. Look again in a minute."))
        text = (
            f"Done in {outcome.duration_ms:,.0f} ms: {outcome.retired:,} links retired, {outcome.blanked:,} blanked,"
            f" {outcome.removed:,} old records removed."
        )
        return await self._shell.go(_CLEANUP, Flash(text))

    def _ended(self, task: asyncio.Task[Outcome]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, Refused):
            log.warning("a cleanup has failed", error=str(error))

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_HEALTH, self.health, methods=["GET", "HEAD"])
        router.add_api_route(_CODES, self.codes, methods=["GET", "HEAD"])
        router.add_api_route(_CLEANUP, self.cleanup, methods=["GET", "HEAD"])
        router.add_api_route(_CLEANUP, self.clean_now, methods=["POST"])
        return router


def _breakers(*found: Breaker) -> list[Breakers]:
    return [Breakers(one.name, one.state, one.opened, one.refused) for one in found]
