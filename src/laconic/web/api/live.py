"""/api/v1/clicks/live: clicks as server-sent events."""

import asyncio
import contextlib
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic_core import to_json
from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from laconic.clicks.events.live import LiveFeed, Shown, Watcher
from laconic.clicks.events.model import Place
from laconic.web.api.answers import API_HEADERS
from laconic.web.api.authentication import Gate
from laconic.web.api.links import DomainQuery, domain_of
from laconic.web.api.openapi import problems
from laconic.web.api.problems import WRONG_SHAPE, Problem
from laconic.wiring import Services
from laconic.workspaces.model import ANALYTICS_READ

_HEARTBEAT_SECONDS = 15.0
_GOODBYE_SECONDS = 0.2
_RETRY = b"retry: 2000\n\n"
_HEARTBEAT = b": still here\n\n"
_GAP = b'event: gap\ndata: {"detail":"There were too many clicks to show each of them."}\n\n'


class EventStream(Response):
    """Writes what a watcher gets until the client leaves, does not read any more, or the server stops.

    Where the last two happen, the task that writes may be waiting for a client that reads nothing: it is not
    awaited but cancelled, so that nobody can hold up a server that stops.
    """

    def __init__(self, feed: LiveFeed, workspace_id: int, link_id: int | None, last: Place | None) -> None:
        super().__init__(
            media_type="text/event-stream",
            # Some proxies hold back what they do not know to be a stream.
            headers={**API_HEADERS, "x-accel-buffering": "no"},
        )
        del self.headers["content-length"]
        self._watch = feed.watch(workspace_id, link_id, last)
        self._watcher: Watcher | None = None

    async def open(self) -> "EventStream":
        """What cannot be watched is refused before the answer begins."""
        self._watcher = await self._watch.__aenter__()
        return self

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert self._watcher is not None  # noqa: S101
        try:
            await self._stream(self._watcher, HttpRequest(scope, receive), send)
        finally:
            await self._watch.__aexit__(None, None, None)

    async def _stream(self, watcher: Watcher, request: HttpRequest, send: Any) -> None:
        tasks = [
            asyncio.create_task(self._write(watcher, send)),
            asyncio.create_task(_until_gone(request)),
            asyncio.create_task(watcher.ended.wait()),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(TimeoutError, OSError):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write(self, watcher: Watcher, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": _RETRY, "more_body": True})
        while True:
            body = await _next_bytes(watcher)
            await send({"type": "http.response.body", "body": body, "more_body": True})


async def _next_bytes(watcher: Watcher) -> bytes:
    """All that waits, at once; a comment when nothing has come for a while, so that proxies keep the connection."""
    try:
        async with asyncio.timeout(_HEARTBEAT_SECONDS):
            waiting = [await watcher.waiting.get()]
    except TimeoutError:
        return _HEARTBEAT
    while not watcher.waiting.empty():
        waiting.append(watcher.waiting.get_nowait())
    return b"".join(map(_event, waiting))


def _event(shown: Shown) -> bytes:
    data = to_json(shown.event.document(shown.short_code))
    text = b"id: %s\nevent: click\ndata: %s\n\n" % (str(shown.event.place).encode(), data)
    return _GAP + text if shown.is_gap else text


async def _until_gone(request: HttpRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class LiveRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate

    async def live(
        self,
        request: Request,
        code: Annotated[str | None, Query(description="Only the clicks of this link.")] = None,
        domain: DomainQuery = None,
    ) -> Response:
        """Clicks as they are counted, about a second after they were answered, as server-sent events: `event: click`
        with a click as its data, `event: gap` where there were too many to show each, comments to keep the
        connection. After a break send the last `id` as Last-Event-ID: what was missed in the last hour comes first."""
        actor = await self._gate.admit(request, ANALYTICS_READ)
        link_id = None
        if code is None and domain is not None:
            raise Problem(WRONG_SHAPE, "domain says where a code lives: name the code, too.")
        if code is not None:
            domain_id = await domain_of(self._services, actor, code, domain)
            link_id = (await self._services.browser.get(actor.workspace_id, domain_id, code)).id
        last = Place.from_text(request.headers.get("last-event-id", ""))
        return await EventStream(self._services.feed, actor.workspace_id, link_id, last).open()

    def router(self) -> APIRouter:
        router = APIRouter(tags=["clicks"])
        router.add_api_route(
            "/api/v1/clicks/live",
            self.live,
            methods=["GET"],
            summary="Clicks as they come",
            response_class=Response,
            responses={200: {"content": {"text/event-stream": {}}}, **problems(400, 401, 403, 404, 410, 422)},
        )
        return router
