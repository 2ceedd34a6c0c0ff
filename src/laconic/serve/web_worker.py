"""The process that answers: lane, endpoint, API and pages on one loop."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterator
from functools import partial

import structlog
import uvicorn

from laconic.clicks.board import WorkerBoard
from laconic.clicks.journal import Journal
from laconic.clock import SECOND
from laconic.redirect.cache import RedirectCache
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.lane import Lane, lane_protocol
from laconic.serve.children import Lifeline, tune_interpreter
from laconic.serve.claims import turn_away
from laconic.serve.directory import follow_directory
from laconic.serve.import_worker import RemoteImports
from laconic.serve.telling import tell_always
from laconic.settings import Settings
from laconic.web.api.limit_table import LimitTable
from laconic.web.app import App
from laconic.web.memory import MemoryRoom
from laconic.web.metrics.board import MetricBoard
from laconic.wiring import Services, open_services

log = structlog.get_logger(__name__)

_KEEP_ALIVE_SECONDS = 75
_DRAIN_SECONDS = 6
# Between "not ready" and "no longer accepting", for whoever watches /ready, whatever the setting says.
_LEAST_NOTICE_SECONDS = 0.3
# For connections that were on their way when the door closed.
_LAST_GUESTS_SECONDS = 0.1
_SYNC_SECONDS = 0.1


class _Server(uvicorn.Server):
    """uvicorn without signal handlers of its own, which tells when it answers."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()


async def run_web_worker(
    settings: Settings,
    listener: socket.socket,
    desk: socket.socket | None,
    board: WorkerBoard,
    metrics: MetricBoard,
    process: str,
    limit_table: LimitTable,
    lifeline: Lifeline,
) -> None:
    """`desk` is where imports are handed over; without one they are carried out here."""
    tune_interpreter()
    logging.getLogger("uvicorn.error").addFilter(_is_no_cancellation)
    lifeline.watch()
    async with open_services(settings) as services:
        journal = Journal(settings.journal_folder)
        try:
            metrics.page(process).go_on()
            imports = RemoteImports(desk) if desk else None
            app = App(services, journal, board.board, imports, metrics, process, limit_table)
            await _answer(services, journal, app, board, listener, lifeline)
        finally:
            journal.close()


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    """A request that did not arrive in time is cut off at the end; that needs no stack trace."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


async def _answer(
    services: Services,
    journal: Journal,
    app: App,
    board: WorkerBoard,
    listener: socket.socket,
    lifeline: Lifeline,
) -> None:
    proxies = TrustedProxies(services.settings.trusted_proxies)
    at_once = services.database.answers_at_once
    lane = Lane(services.cache, services.hosts, journal, proxies, looks_up=at_once)
    server = _Server(
        uvicorn.Config(
            app,
            http=lane_protocol(lane),
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        ),
        on_started=lifeline.ready,
    )
    app.numbers.lane = lane
    app.numbers.count_connections = lambda: len(server.server_state.connections)
    tasks = [
        asyncio.create_task(services.database.follow_changes(services.cache, services.cache.history)),
        asyncio.create_task(follow_directory(services.directory)),
        asyncio.create_task(_turn_seconds(lane, services.cache, app.memory, server)),
        asyncio.create_task(_sync(journal, board)),
        asyncio.create_task(tell_always(app.numbers.tell)),
        asyncio.create_task(services.pool.run()),
        asyncio.create_task(
            _stop(lifeline.stopping, app, server, services, partial(_close_door, listener, lane))
        ),
    ]
    for task in tasks:
        task.add_done_callback(partial(_end_with, server))
    try:
        await server.serve(sockets=[listener])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, app.metrics.installation.close(), return_exceptions=True)
        lane.flush()
        app.numbers.tell()
        if app.traces is not None:
            await app.traces.close()


def _end_with(server: uvicorn.Server, task: asyncio.Task[None]) -> None:
    """A worker that no longer follows changes or syncs its journal must not go on: it is started anew."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a task of the worker has failed; the worker ends", exc_info=error)
        server.should_exit = True


async def _turn_seconds(lane: Lane, cache: RedirectCache, memory: MemoryRoom, server: uvicorn.Server) -> None:
    while True:
        await asyncio.sleep(1)
        lane.turn_second()
        cache.watch_clock()
        memory.look()
        lane.close_overdue(server.server_state.connections)


async def _sync(journal: Journal, board: WorkerBoard) -> None:
    while True:
        await asyncio.sleep(_SYNC_SECONDS)
        board.tell_missed(journal.missed)
        journal.leave_old_segment()
        job = journal.sync_job()
        if job is not None:
            try:
                await asyncio.to_thread(job)
            except OSError as error:
                journal.sync_failures += 1
                log.error("the click journal cannot be synced", error=str(error))


async def _stop(
    stopping: asyncio.Event,
    app: App,
    server: uvicorn.Server,
    services: Services,
    close_door: Callable[[], None],
) -> None:
    await stopping.wait()
    app.health.is_draining = True
    # Its answers would never end by themselves.
    await services.feed.close()
    await asyncio.sleep(max(_LEAST_NOTICE_SECONDS, services.settings.stop_notice / SECOND))
    close_door()
    await asyncio.sleep(_LAST_GUESTS_SECONDS)
    server.should_exit = True


def _close_door(listener: socket.socket, lane: Lane) -> None:
    """Nobody new comes in, and whoever is inside is told with the next answer that it was the last.

    A port that is just closed resets the connections that wait to be accepted, with requests in them.
    """
    turn_away(listener)
    lane.stop()
