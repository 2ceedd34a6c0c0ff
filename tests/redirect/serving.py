"""A web worker's server in the test's own loop: real sockets, a real SQLite database, a real journal.

The lane, the cache and the connections of the server are at hand, so that a test can turn their clock instead
of sleeping and look at what a connection holds.
"""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import uvicorn

from laconic.clicks.click import Click
from laconic.clicks.journal import Journal
from laconic.redirect.forwarded import TrustedProxies
from laconic.redirect.lane import Lane, LaneProtocol, lane_protocol
from laconic.settings import Settings
from laconic.storage.engines import migrate
from laconic.web.app import App
from laconic.wiring import Services, open_services
from tests.clicks.records import clicks_of
from tests.redirect.raw_http import Client, until

Application = Callable[..., Any]


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _config(app: Application, http: Any) -> uvicorn.Config:
    """As serve/web_worker.py has it."""
    return uvicorn.Config(
        app,
        http=http,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=6,
    )


@dataclass(slots=True)
class Running:
    """A server that answers on a free port."""

    server: uvicorn.Server
    port: int
    task: asyncio.Task[None]

    async def connect(self, *, receive_buffer: int | None = None) -> Client:
        return await Client.connect(self.port, receive_buffer=receive_buffer)

    async def stop(self) -> None:
        """As SIGTERM would have it."""
        self.server.should_exit = True
        await self.task

    async def connection_of(self, client: Client) -> LaneProtocol:
        """The server's end of a connection."""
        await until(lambda: bool(self.connections_of(client)))
        return self.connections_of(client)[0]

    def connections_of(self, client: Client) -> list[LaneProtocol]:
        """One, or none before and after it."""
        return [
            connection
            for connection in self.server.server_state.connections
            if isinstance(connection, LaneProtocol) and connection.client == client.address
        ]


class _LateApp:
    """Laconic's application, made when the first request comes to it: many tests never leave the lane, and it takes
    half a second."""

    def __init__(self, services: Services, journal: Journal) -> None:
        self._parts = services, journal
        self._app: App | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._app is None:
            self._app = App(*self._parts)
        await self._app(scope, receive, send)


class _Complaints(logging.Handler):
    """What uvicorn and the loop report as errors, which nobody who sends bytes may cause."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(f"{record.getMessage()} {record.exc_info}")

    def from_loop(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.heard.append(str(context))


@contextlib.contextmanager
def _no_complaints() -> Iterator[None]:
    complaints = _Complaints()
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    loop.set_exception_handler(complaints.from_loop)
    logger = logging.getLogger("uvicorn.error")
    logger.addHandler(complaints)
    try:
        yield
    finally:
        logger.removeHandler(complaints)
        loop.set_exception_handler(before)
    assert not complaints.heard, complaints.heard


@contextlib.asynccontextmanager
async def run(app: Application, http: Any = "httptools") -> AsyncIterator[Running]:
    with _no_complaints():
        async with _run(app, http) as running:
            yield running


@contextlib.asynccontextmanager
async def _run(app: Application, http: Any) -> AsyncIterator[Running]:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(2048)
    server = _Server(_config(app, http))
    task = asyncio.create_task(server.serve(sockets=[listener]))
    running = Running(server, listener.getsockname()[1], task)
    try:
        yield running
    finally:
        await running.stop()


@dataclass(slots=True)
class Site:
    """Laconic with links in its database."""

    running: Running
    app: Application
    lane: Lane
    journal: Journal
    services: Services
    journal_folder: Path
    _next_id: int = 1_000

    async def connect(self, *, receive_buffer: int | None = None) -> Client:
        return await self.running.connect(receive_buffer=receive_buffer)

    async def add(self, code: str, *, warm: bool = True, domain_id: int = 1, **columns: Any) -> int:
        """A link to https://example.com/<code>, in the lane's cache unless `warm` says no."""
        self._next_id += 1
        values = {
            "id": self._next_id,
            "workspace_id": 1,
            "domain_id": domain_id,
            "short_code": code,
            "original_url": f"https://example.com/{code}",
            "created_at": 1_700_000_000_000_000,
            "updated_at": 1_700_000_000_000_000,
            **columns,
        }
        marks = ", ".join(f"${number}" for number in range(1, len(values) + 1))
        sql = f"INSERT INTO short_link ({', '.join(values)}) VALUES ({marks})"
        await self.services.database.execute(sql, *values.values())
        if warm:
            await self.services.cache.find(domain_id, code)
        return self._next_id

    def new_code(self) -> str:
        """A code that no other test has."""
        return f"code{self._next_id}"

    def clicks(self, link_id: int) -> list[Click]:
        return [click for click in clicks_of(self.journal_folder) if click.link_id == link_id]

    def is_open(self, client: Client) -> bool:
        """Not closed, nor on the way to it."""
        return any(
            not connection.transport.is_closing() for connection in self.running.connections_of(client)
        )

    def is_held(self, client: Client) -> bool:
        """Open, or closing and not yet gone: its last answers are on their way."""
        return bool(self.running.connections_of(client))

    def pass_seconds(self, seconds: float) -> None:
        """The lane's clock goes on, and the sweep of that second comes."""
        self.lane.second += seconds
        self.lane.close_overdue(self.running.server.server_state.connections)


@contextlib.asynccontextmanager
async def open_site(
    folder: Path,
    *,
    app: Application | None = None,
    trusted_proxies: tuple[str, ...] = (),
    looks_up: bool = False,
) -> AsyncIterator[Site]:
    """`app` stands in for Laconic's own application behind the lane; `looks_up` as `Lane` has it."""
    settings = Settings(data=str(folder), base_url="http://localhost:8000", trusted_proxies=trusted_proxies)
    await migrate(settings.effective_database_url)
    async with open_services(settings) as services:
        services.cache.following()
        journal = Journal(settings.journal_folder)
        proxies = TrustedProxies(trusted_proxies)
        lane = Lane(services.cache, services.hosts, journal, proxies, looks_up=looks_up)
        # A whole number, so that what passes from here on is exact.
        lane.second = float(ceil(lane.second))
        try:
            app = app or _LateApp(services, journal)
            async with run(app, lane_protocol(lane)) as running:
                yield Site(running, app, lane, journal, services, settings.journal_folder)
        finally:
            journal.close()
