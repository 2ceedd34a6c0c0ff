"""POST /api/v1/urls/bulk: a JSON array or NDJSON in, a result a line out, both as streams.

Lines are judged in slices so short that redirects answered by the same loop do not notice; the slices that are
under way at the same time share their inserts. One bad line spoils no other.
"""

import asyncio
import json
import tempfile
from collections import deque
from collections.abc import Iterator
from json.encoder import encode_basestring
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import to_rfc3339
from laconic.errors import LaconicError
from laconic.links.model import Created, LinkDraft
from laconic.links.once import Answer
from laconic.storage.database import Statements
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import media_type, model_from_json
from laconic.web.api.links import API_HEADERS, LinkRequest, check_domain, created_json
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.problems import WRONG_TYPE, Problem, document_of
from laconic.web.api.streams import ArraySplitter, LineSplitter, Splitter
from laconic.wiring import Services
from laconic.workspaces.model import LINKS_WRITE, Actor

# Lines judged without giving the loop to others: about a third of a millisecond.
_SLICE = 16
# Lines under way at once: two inserts' worth, so that one is written while the next is judged.
_MOST_UNDER_WAY = 2_048
_OUTBOX_MEMORY = 4 * 1024 * 1024
_OUTBOX_CHUNK = 64 * 1024

Results = asyncio.Task[list[bytes]]


class BulkRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate

    async def bulk(self, request: Request) -> Response:
        """Makes many links. Each result is `{"line", "status", …}`, in the order of the lines."""
        actor = await self._gate.admit(request, LINKS_WRITE)
        splitters: dict[str, type[Splitter]] = {
            "application/json": ArraySplitter,
            "application/x-ndjson": LineSplitter,
            "application/jsonl": LineSplitter,
        }
        splitter = splitters.get(media_type(request))
        if splitter is None:
            raise Problem(WRONG_TYPE, "Send application/x-ndjson, or a JSON array as application/json.")
        return _BulkResponse(_Bulk(self._services, actor, request.headers.get("idempotency-key")), splitter())

    def router(self) -> APIRouter:
        router = APIRouter(tags=["links"])
        router.add_api_route(
            "/api/v1/urls/bulk",
            self.bulk,
            methods=["POST"],
            responses=problems(401, 415),
            openapi_extra=body_of(LinkRequest, media_type="application/x-ndjson"),
        )
        return router


class _Bulk:
    """One request's worth of lines."""

    def __init__(self, services: Services, actor: Actor, key: str | None) -> None:
        self._services = services
        self._actor = actor
        self._key = key
        self._base_url = services.settings.base_url
        self._line = 0
        self._last_moment = (0, "")

    def start(self, lines: list[bytes]) -> Results:
        """Begins to make the links of a slice."""
        first = self._line + 1
        self._line += len(lines)
        return asyncio.create_task(self._make(first, lines))

    async def _make(self, first: int, lines: list[bytes]) -> list[bytes]:
        results: list[Any] = [self._draft_from(line) for line in lines]
        drafts = [result for result in results if isinstance(result, LinkDraft)]
        if self._key is None:
            made = iter(
                await self._services.creator.create_many(
                    self._actor.workspace_id, self._actor.user_id, drafts
                )
            )
            outcomes = [next(made) if isinstance(result, LinkDraft) else result for result in results]
        else:
            outcomes = [
                await self._make_once(first + index, line, result)
                for index, (line, result) in enumerate(zip(lines, results, strict=True))
            ]
        return [self._told(first + index, outcome) for index, outcome in enumerate(outcomes)]

    def _draft_from(self, line: bytes | Problem) -> LinkDraft | LaconicError:
        if isinstance(line, Problem):
            return line
        try:
            asked = model_from_json(LinkRequest, line)
            check_domain(self._services, asked.domain)
        except LaconicError as error:
            return error
        return asked.draft()

    async def _make_once(self, number: int, line: bytes, draft: Any) -> Any:
        """Each line under a key of its own, so that a bulk that is sent again makes nothing twice."""
        if not isinstance(draft, LinkDraft):
            return draft
        creator = self._services.creator
        try:
            ready = await creator.make_ready(self._actor.workspace_id, self._actor.user_id, draft)

            async def work(statements: Statements) -> Answer:
                created = await creator.create_in(statements, ready, self._actor.workspace_id)
                return Answer(
                    200 if created.existing else 201, json.dumps(created_json(created, self._base_url))
                )

            answer = await self._services.once.run(
                self._actor.workspace_id, f"{self._key}:{number}", b"POST bulk\n" + line, work
            )
        except LaconicError as error:
            return error
        if not answer.replayed:
            creator.tell_cache(ready)
        return answer

    def _told(self, number: int, outcome: Any) -> bytes:
        if isinstance(outcome, Created):
            return self._created_line(number, outcome)
        if isinstance(outcome, Answer):
            told = {"line": number, "status": outcome.status, **json.loads(outcome.body)}
        else:
            told = {"line": number, **document_of(outcome)}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"

    def _created_line(self, number: int, created: Created) -> bytes:
        """By hand: a general encoder would take as long as all the rest of the line's way."""
        link = created.link
        if created.existing or link.title is not None or link.expires_at is not None:
            told = {
                "line": number,
                "status": 200 if created.existing else 201,
                **created_json(created, self._base_url),
            }
            return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if self._last_moment[0] != link.created_at:
            self._last_moment = (link.created_at, to_rfc3339(link.created_at))
        return (
            f'{{"line":{number},"status":201,"id":"{link.id}","short_code":"{link.short_code}",'
            f'"short_url":"{self._base_url}/{link.short_code}","original_url":{encode_basestring(link.original_url)},'
            f'"created_at":"{self._last_moment[1]}","expires_at":null,"title":null,'
            f'"redirect_status":{link.redirect_status}}}\n'
        ).encode()


class _BulkResponse(Response):
    """Reads the request while it answers, which the framework's own streaming response cannot."""

    def __init__(self, bulk: _Bulk, splitter: Splitter) -> None:
        super().__init__(headers=API_HEADERS, media_type="application/x-ndjson")
        del self.headers["content-length"]
        self._bulk = bulk
        self._splitter = splitter
        self._under_way: deque[tuple[int, Results]] = deque()
        self._lines_under_way = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        outbox = Outbox()
        sender = asyncio.create_task(outbox.send_all(send))
        try:
            await self._read(receive, outbox)
        finally:
            for _, results in self._under_way:
                # A client that went away: what it has begun is finished, only not told.
                results.add_done_callback(lambda task: task.exception())
            outbox.finish()
            await sender

    async def _read(self, receive: Any, outbox: "Outbox") -> None:
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            more = message.get("more_body", False)
            for lines in _slices(self._splitter.feed(message.get("body", b""), is_end=not more)):
                self._under_way.append((len(lines), self._bulk.start(lines)))
                self._lines_under_way += len(lines)
                await self._collect(outbox, most_left=_MOST_UNDER_WAY)
                await asyncio.sleep(0)
        await self._collect(outbox, most_left=0)

    async def _collect(self, outbox: "Outbox", *, most_left: int) -> None:
        """Puts what is finished into the outbox, in order, and waits while too much is not."""
        while self._under_way and (self._lines_under_way > most_left or self._under_way[0][1].done()):
            count, results = self._under_way.popleft()
            self._lines_under_way -= count
            outbox.put(await results)


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

    def put(self, results: list[bytes]) -> None:
        self._spool.seek(self._write_at)
        self._write_at += self._spool.write(b"".join(results))
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


def _slices(lines: Iterator[Any]) -> Iterator[list[Any]]:
    slice_: list[Any] = []
    for line in lines:
        slice_.append(line)
        if len(slice_) == _SLICE:
            yield slice_
            slice_ = []
    if slice_:
        yield slice_
