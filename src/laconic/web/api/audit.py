"""/api/v1/audit: who changed what, for admins; by page, or all of it as NDJSON or CSV. /api/admin/audit: the same of
the installation, for the operator."""

import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel
from pydantic_core import to_json
from starlette.responses import Response, StreamingResponse

from laconic.clock import from_datetime
from laconic.errors import ChoiceRefused
from laconic.ids import LARGEST_ID
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.openapi import problems
from laconic.web.api.records import moment_text
from laconic.wiring import Services
from laconic.workspaces.audit.store import AuditEvent, AuditQuery
from laconic.workspaces.model import ADMIN, OPERATOR

_INSTALLATION = "/api/admin/audit"
_LARGEST_PAGE = 1_000
_EXPORT_PAGE = 1_000
_LARGEST_MOMENT = 1 << 60
# A cell that begins so is a formula to a spreadsheet, and its text may come from anybody.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

_Word = Annotated[str | None, Query(max_length=100)]
_Id = Annotated[str | None, Query(pattern="^[0-9]{1,18}$")]
Moment = AwareDatetime | None


class ShownEvent(BaseModel):
    """Who did what, when and from where; `before` and `after` hold the fields that changed."""

    id: str
    created_at: str
    actor_kind: str
    actor_id: str | None
    address: str | None
    action: str
    subject_kind: str
    subject_id: str | None
    subject: str | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class AuditPage(BaseModel):
    items: list[ShownEvent]
    next_cursor: str | None


def event_json(event: AuditEvent) -> dict[str, Any]:
    return {
        "id": str(event.id),
        "created_at": moment_text(event.created_at),
        "actor_kind": event.actor_kind,
        "actor_id": None if event.actor_id is None else str(event.actor_id),
        "address": event.address,
        "action": event.action,
        "subject_kind": event.subject_kind,
        "subject_id": None if event.subject_id is None else str(event.subject_id),
        "subject": event.subject,
        "before": None if event.before is None else json.loads(event.before),
        "after": None if event.after is None else json.loads(event.after),
    }


class AuditRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._store = services.audit
        self._gate = gate

    async def page(
        self,
        request: Request,
        action: _Word = None,
        subject_kind: _Word = None,
        subject_id: _Id = None,
        actor_id: _Id = None,
        created_from: Moment = None,
        created_to: Moment = None,
        cursor: Annotated[str | None, Query(max_length=60)] = None,
        limit: Annotated[int, Query(ge=1, le=_LARGEST_PAGE)] = 50,
    ) -> Response:
        """Newest first."""
        whose = await self._whose(request)
        query = _query(
            action, subject_kind, subject_id, actor_id, created_from, created_to, read_cursor(cursor)
        )
        found = await self._store.page(whose, query, limit + 1)
        shown = found[:limit]
        more = f"{shown[-1].created_at}-{shown[-1].id}" if len(found) > limit else None
        return json_response({"items": [event_json(event) for event in shown], "next_cursor": more})

    async def export(
        self,
        request: Request,
        format: Literal["ndjson", "csv"] = "ndjson",  # noqa: A002  the parameter's name in the URL
        action: _Word = None,
        subject_kind: _Word = None,
        subject_id: _Id = None,
        actor_id: _Id = None,
        created_from: Moment = None,
        created_to: Moment = None,
    ) -> Response:
        """All of it, newest first, as a stream."""
        whose = await self._whose(request)
        query = _query(action, subject_kind, subject_id, actor_id, created_from, created_to, None)
        lines = _csv if format == "csv" else _ndjson
        return StreamingResponse(
            lines(self._all(whose, query)),
            headers={**API_HEADERS, "content-disposition": f'attachment; filename="audit.{format}"'},
            media_type="text/csv; charset=utf-8" if format == "csv" else "application/x-ndjson",
        )

    async def _whose(self, request: Request) -> int | None:
        """The workspace whose trail is read; None: the installation's."""
        if request.url.path.startswith(_INSTALLATION):
            await self._gate.admit(request, OPERATOR)
            return None
        return (await self._gate.admit(request, ADMIN)).workspace_id

    async def _all(self, workspace_id: int | None, query: AuditQuery) -> AsyncIterator[list[AuditEvent]]:
        """Page by page: each read is short, whatever the reader's speed."""
        past: tuple[int, int] | None = None
        while True:
            page = await self._store.page(
                workspace_id,
                AuditQuery(
                    *(query.action, query.subject_kind, query.subject_id, query.actor_id),
                    *(query.created_from, query.created_to, past),
                ),
                _EXPORT_PAGE,
            )
            if page:
                yield page
            if len(page) < _EXPORT_PAGE:
                return
            past = (page[-1].created_at, page[-1].id)

    def router(self) -> APIRouter:
        router = APIRouter(tags=["audit"])
        for path in ("/api/v1/audit", _INSTALLATION):
            router.add_api_route(
                path,
                self.page,
                methods=["GET"],
                responses={200: {"model": AuditPage}, **problems(401, 403, 422)},
            )
            router.add_api_route(
                path + "/export",
                self.export,
                methods=["GET"],
                response_class=Response,
                responses={
                    200: {"description": "A stream", "content": {"application/x-ndjson": {}, "text/csv": {}}},
                    **problems(401, 403, 422),
                },
            )
        return router


def _query(
    action: str | None,
    subject_kind: str | None,
    subject_id: str | None,
    actor_id: str | None,
    created_from: Moment,
    created_to: Moment,
    past: tuple[int, int] | None,
) -> AuditQuery:
    for name, text in (("action", action), ("subject_kind", subject_kind)):
        if text is not None and "\0" in text:
            raise ChoiceRefused(name, "U+0000 is no character of a word.")
    return AuditQuery(
        action,
        subject_kind,
        None if subject_id is None else int(subject_id),
        None if actor_id is None else int(actor_id),
        None if created_from is None else from_datetime(created_from),
        None if created_to is None else from_datetime(created_to),
        past,
    )


def read_cursor(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    moment, _, event_id = text.partition("-")
    if not (moment.isascii() and moment.isdigit() and event_id.isascii() and event_id.isdigit()):
        raise ChoiceRefused("cursor", "This is no cursor of ours.")
    if int(moment) > _LARGEST_MOMENT or int(event_id) > LARGEST_ID:
        raise ChoiceRefused("cursor", "This is no cursor of ours.")
    return int(moment), int(event_id)


async def _ndjson(pages: AsyncIterator[list[AuditEvent]]) -> AsyncIterator[bytes]:
    async for page in pages:
        yield b"".join(to_json(event_json(event)) + b"\n" for event in page)


async def _csv(pages: AsyncIterator[list[AuditEvent]]) -> AsyncIterator[bytes]:
    names = list(ShownEvent.model_fields)
    yield _csv_lines([names])
    async for page in pages:
        yield _csv_lines([[_cell(event_json(event)[name]) for name in names] for event in page])


def _csv_lines(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"'{text}" if text.startswith(_FORMULA) else text
