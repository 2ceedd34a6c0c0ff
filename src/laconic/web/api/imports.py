"""Making links out of a stream of lines, whoever brings the stream.

Lines are judged in slices so short that whatever else the loop does is hardly delayed; the slices that are under way
at the same time share their inserts. One bad line spoils no other.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import asdict, dataclass
from json.encoder import encode_basestring
from typing import Any, Literal, Protocol

import structlog
from pydantic_core import from_json

from laconic.clock import now, to_rfc3339
from laconic.errors import LaconicError
from laconic.links.insert import MANY_PER_INSERT
from laconic.links.model import Created, LinkDraft
from laconic.links.once import Answer
from laconic.storage.database import Statements
from laconic.web.api.bodies import model_from_json
from laconic.web.api.links import LinkRequest, created_json
from laconic.web.api.problems import Problem, document_line
from laconic.web.api.streams import ArraySplitter, LineSplitter, Splitter
from laconic.wiring import Services
from laconic.workspaces.audit.record import Event, record
from laconic.workspaces.model import Actor, ActorKind

log = structlog.get_logger(__name__)

# Lines judged without giving the loop to others: some milliseconds, which only other imports wait for.
_SLICE = 256
# Lines under way at once: some inserts' worth, so that one is written while the next is judged.
_MOST_UNDER_WAY = 4 * MANY_PER_INSERT

Form = Literal["lines", "array"]
Put = Callable[[bytes], None]
Results = asyncio.Task[list[bytes]]

_SPLITTERS: dict[Form, type[Splitter]] = {"lines": LineSplitter, "array": ArraySplitter}


@dataclass(frozen=True, slots=True)
class ImportOrder:
    """For whom links are made, and in which form they come."""

    workspace_id: int
    user_id: int | None
    idempotency_key: str | None
    form: Form
    # Whose codes taken ahead it may use.
    code_holder: str = ""
    # For the audit trail, which tells of an import as a whole.
    kind: ActorKind = "open"
    api_key_id: int | None = None
    address: str | None = None

    @classmethod
    def for_actor(cls, actor: Actor, key: str | None, form: Form) -> "ImportOrder":
        about = (actor.code_holder, actor.kind, actor.api_key_id, actor.address)
        return cls(actor.workspace_id, actor.user_id, key, form, *about)

    def actor(self) -> Actor:
        return Actor(
            *(self.workspace_id, frozenset(), self.user_id, self.api_key_id, self.kind, self.address)
        )

    def to_bytes(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "ImportOrder":
        return cls(**json.loads(data))


class Imports(Protocol):
    """Who carries an import out."""

    async def run(self, order: ImportOrder, chunks: AsyncIterator[bytes], put: Put) -> None:
        """Makes the links that `chunks` ask for and gives each result line, in their order, to `put`."""
        ...


class LocalImports:
    """In this process."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def run(self, order: ImportOrder, chunks: AsyncIterator[bytes], put: Put) -> None:
        await _Import(self._services, order, put).run(chunks)


class _Import:
    """One order under way."""

    def __init__(self, services: Services, order: ImportOrder, put: Put) -> None:
        self._services = services
        self._order = order
        self._put = put
        self._splitter = _SPLITTERS[order.form]()
        self._short_url = services.directory.short_url
        self._line = 0
        self._made = 0
        self._last_moment = (0, "")
        self._under_way: asyncio.Queue[tuple[int, Results] | None] = asyncio.Queue()
        self._lines_under_way = 0
        self._has_room = asyncio.Event()

    async def run(self, chunks: AsyncIterator[bytes]) -> None:
        teller = asyncio.create_task(self._tell())
        try:
            async for chunk in chunks:
                await self._feed(chunk, is_end=False)
            await self._feed(b"", is_end=True)
        finally:
            # When nobody waits any more, what was begun is still finished.
            self._under_way.put_nowait(None)
            await teller
            await self._tell_of_it()

    async def _tell_of_it(self) -> None:
        """One event for all of its links: a row each would take as long as the links themselves."""
        if not self._made:
            return
        event = Event("link.import", None, None, after={"links": self._made, "lines": self._line})
        workspace_id = self._order.workspace_id

        async def work(statements: Statements) -> None:
            await record(statements, workspace_id, self._order.actor(), event, now())

        try:
            await self._services.database.for_workspace(workspace_id).transaction(work)
        except LaconicError as error:
            # Its links are made and answered for.
            log.error("an import is missing in the audit trail", links=self._made, error=str(error))

    async def _feed(self, chunk: bytes, *, is_end: bool) -> None:
        for lines in _slices(self._splitter.feed(chunk, is_end=is_end)):
            self._lines_under_way += len(lines)
            self._under_way.put_nowait((len(lines), self._start(lines)))
            while self._lines_under_way > _MOST_UNDER_WAY:
                self._has_room.clear()
                await self._has_room.wait()
            await asyncio.sleep(0)

    async def _tell(self) -> None:
        """Gives each slice's results as soon as they and all before them are there."""
        while (slice_ := await self._under_way.get()) is not None:
            count, results = slice_
            self._put(b"".join(await results))
            self._lines_under_way -= count
            self._has_room.set()

    def _start(self, lines: list[bytes]) -> Results:
        """Begins to make the links of a slice."""
        first = self._line + 1
        self._line += len(lines)
        return asyncio.create_task(self._make(first, lines))

    async def _make(self, first: int, lines: list[bytes]) -> list[bytes]:
        results: list[Any] = []
        for line in lines:
            url = _plain_url(line)
            if url is None:
                results.append(await self._draft_from(line))
            else:
                results.append(LinkDraft(url, code_holder=self._order.code_holder))
        drafts = [result for result in results if isinstance(result, LinkDraft)]
        key = self._order.idempotency_key
        if key is None:
            made = iter(
                await self._services.creator.create_many(
                    self._order.workspace_id, self._order.user_id, drafts
                )
            )
            outcomes = [next(made) if isinstance(result, LinkDraft) else result for result in results]
        else:
            outcomes = [
                await self._make_once(key, first + index, line, result)
                for index, (line, result) in enumerate(zip(lines, results, strict=True))
            ]
        return [self._told(first + index, outcome) for index, outcome in enumerate(outcomes)]

    async def _draft_from(self, line: bytes | Problem) -> LinkDraft | LaconicError:
        if isinstance(line, Problem):
            return line
        try:
            asked = model_from_json(LinkRequest, line)
            domain_id = await self._services.locator.for_new(self._order.workspace_id, asked.domain)
        except LaconicError as error:
            return error
        return asked.draft(domain_id, self._order.code_holder)

    async def _make_once(self, key: str, number: int, line: bytes, draft: Any) -> Any:
        """Each line under a key of its own, so that a bulk that is sent again makes nothing twice."""
        if not isinstance(draft, LinkDraft):
            return draft
        creator = self._services.creator
        try:
            ready = await creator.make_ready(self._order.workspace_id, self._order.user_id, draft)

            async def work(statements: Statements) -> Answer:
                created = await creator.create_in(statements, ready, self._order.workspace_id)
                return Answer(
                    200 if created.existing else 201, json.dumps(created_json(created, self._short_url))
                )

            answer = await self._services.once.run(
                self._order.workspace_id, key, b"POST bulk\n" + line, work, part=number
            )
        except LaconicError as error:
            return error
        if not answer.replayed:
            await creator.committed(ready)
        return answer

    def _told(self, number: int, outcome: Any) -> bytes:
        if isinstance(outcome, Created):
            self._made += not outcome.existing
            return self._created_line(number, outcome)
        if not isinstance(outcome, Answer):
            return document_line(outcome, line=number)
        self._made += outcome.status == 201 and not outcome.replayed
        told = {"line": number, "status": outcome.status, **json.loads(outcome.body)}
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    def _created_line(self, number: int, created: Created) -> bytes:
        """By hand: a general encoder would take as long as all the rest of the line's way."""
        link = created.link
        if created.existing or link.title is not None or link.expires_at is not None:
            told = {
                "line": number,
                "status": 200 if created.existing else 201,
                **created_json(created, self._short_url),
            }
            return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        if self._last_moment[0] != link.created_at:
            self._last_moment = (link.created_at, to_rfc3339(link.created_at))
        return (
            f'{{"line":{number},"status":201,"id":"{link.id}","short_code":"{link.short_code}",'
            f'"short_url":"{self._short_url(link.domain_id, link.short_code)}","original_url":{encode_basestring(link.original_url)},'
            f'"created_at":"{self._last_moment[1]}","expires_at":null,"title":null,'
            f'"redirect_status":{link.redirect_status}}}\n'
        ).encode()


# A string without escapes and control characters says the same in JSON as here (RFC 8259, section 7).
_SPACE = rb"[ \t\r\n]*"
_PLAIN_LINE = re.compile(
    _SPACE.join([b"", rb"\{", rb'"original_url"', b":", rb'"([^"\\\x00-\x1f]*)"', rb"\}", b""])
)


def _plain_url(line: bytes | Problem) -> str | None:
    """What most lines are: a URL and nothing else. The model would take five times as long to say the same."""
    if isinstance(line, Problem):
        return None
    plain = _PLAIN_LINE.fullmatch(line)
    try:
        if plain is not None:
            return plain[1].decode()
        document = from_json(line)
    except ValueError:
        return None
    if type(document) is not dict or len(document) != 1:
        return None
    url = document.get("original_url")
    return url if type(url) is str else None


def _slices(lines: Iterator[Any]) -> Iterator[list[Any]]:
    slice_: list[Any] = []
    for line in lines:
        slice_.append(line)
        if len(slice_) == _SLICE:
            yield slice_
            slice_ = []
    if slice_:
        yield slice_
