"""POST /api/v1/urls/bulk: a JSON array or NDJSON in, a result a line out, both as streams."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.links.once import check_key
from laconic.web.api.answers import API_HEADERS
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import media_type
from laconic.web.api.imports import Form, ImportOrder, Imports
from laconic.web.api.links import LinkRequest
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.problems import WRONG_TYPE, Problem
from laconic.workspaces.model import LINKS_WRITE

_OUTBOX_MEMORY = 4 * 1024 * 1024
_OUTBOX_CHUNK = 64 * 1024

_FORMS: dict[str, Form] = {
    "application/json": "array",
    "application/x-ndjson": "lines",
    "application/jsonl": "lines",
}


class BulkRoutes:
    def __init__(self, gate: Gate, imports: Imports) -> None:
        self._gate = gate
        self._imports = imports

    async def bulk(self, request: Request) -> Response:
        """Makes many links. Each result is `{"line", "status", …}`, in the order of the lines."""
        actor = await self._gate.admit(request, LINKS_WRITE)
        form = _FORMS.get(media_type(request))
        if form is None:
            raise Problem(WRONG_TYPE, "Send application/x-ndjson, or a JSON array as application/json.")
        key = request.headers.get("idempotency-key")
        if key is not None:
            check_key(key)
        return _BulkResponse(self._imports, ImportOrder.for_actor(actor, key, form))

    def router(self) -> APIRouter:
        router = APIRouter(tags=["links"])
        router.add_api_route(
            "/api/v1/urls/bulk",
            self.bulk,
            methods=["POST"],
            response_class=Response,
            responses={
                200: {"description": "A result for each line", "content": {"application/x-ndjson": {}}},
                **problems(401, 403, 415, 422),
            },
            openapi_extra=body_of(LinkRequest, media_type="application/x-ndjson"),
        )
        return router


class _BulkResponse(Response):
    """Reads the request while it answers, which the framework's own streaming response cannot."""

    def __init__(self, imports: Imports, order: ImportOrder) -> None:
        super().__init__(headers=API_HEADERS, media_type="application/x-ndjson")
        del self.headers["content-length"]
        self._imports = imports
        self._order = order

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        outbox = Outbox()
        sender = asyncio.create_task(outbox.send_all(send))
        try:
            await self._imports.run(self._order, _chunks(receive), outbox.put)
        finally:
            outbox.finish()
            await sender


async def _chunks(receive: Any) -> AsyncIterator[bytes]:
    """The body as it comes; a client that goes away ends it."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        more = message.get("more_body", False)
        yield message.get("body", b"")


class Outbox:
    """Results on their way to a client that may not read before it has sent everything, as most clients do.

    To wait for such a client would be to wait for ever. What it does not read yet goes to memory, and then to a
    temporary file.
    """

    def __init__(self) -> None:
        self._spool = tempfile.SpooledTemporaryFile(_OUTBOX_MEMORY)  # noqa: SIM115  closed by send_all
        self._read_at = 0
        self._write_at = 0
        self._news = asyncio.Event()
        self._is_finished = False

    def put(self, results: bytes) -> None:
        self._spool.seek(self._write_at)
        self._write_at += self._spool.write(results)
        self._news.set()

    def finish(self) -> None:
        self._is_finished = True
        self._news.set()

    async def send_all(self, send: Any) -> None:
        with self._spool:
            while not self._is_finished or self._read_at < self._write_at:
                await self._news.wait()
                self._news.clear()
                while chunk := self._next_chunk():
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _next_chunk(self) -> bytes:
        if self._read_at == self._write_at:
            self._spool.seek(0)
            self._spool.truncate()
            self._read_at = self._write_at = 0
            return b""
        self._spool.seek(self._read_at)
        chunk = self._spool.read(min(_OUTBOX_CHUNK, self._write_at - self._read_at))
        self._read_at += len(chunk)
        return chunk
