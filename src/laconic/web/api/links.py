"""/api/v1/urls: create, list, get, edit, delete."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic_core import to_json
from starlette.responses import Response

from laconic.clock import from_datetime, to_rfc3339
from laconic.codes.rules import POSSIBLE_CODE
from laconic.links import browse
from laconic.links.model import LONGEST_EXPIRY_HOURS, Created, Link, LinkDraft, LinkEdit
from laconic.links.once import Answer
from laconic.links.orders import Sort
from laconic.storage.database import Statements
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import model_from_json, read_body, require_json
from laconic.web.api.once import answer_response, create_once
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.problems import MALFORMED_CODE, Problem
from laconic.wiring import Services
from laconic.workspaces.model import LINKS_CREATE, LINKS_READ, LINKS_WRITE, Actor

DomainQuery = Annotated[
    str | None,
    Query(max_length=255, description="The host of the link's domain, where several have the code."),
]


class LinkRequest(BaseModel):
    """A link to make. At most one of the three ways to say when it expires."""

    model_config = ConfigDict(extra="forbid")

    original_url: str
    custom_code: str | None = None
    expires_in_hours: Annotated[int, Field(ge=1, le=LONGEST_EXPIRY_HOURS)] | None = None
    expires_in_seconds: Annotated[int, Field(ge=1, le=10**12)] | None = None
    expires_at: AwareDatetime | None = None
    title: str | None = None
    description: str | None = None
    metadata: dict[str, Any] | None = None
    domain: str | None = None
    redirect_status: int | None = None
    reuse: bool | None = None

    def draft(self, domain_id: int | None, code_holder: str) -> LinkDraft:
        return LinkDraft(
            self.original_url,
            self.custom_code,
            self.expires_in_hours,
            self.expires_in_seconds,
            from_datetime(self.expires_at) if self.expires_at is not None else None,
            self.title,
            self.description,
            self.metadata or {},
            self.redirect_status,
            self.reuse,
            code_holder,
            domain_id,
        )


class LinkEditRequest(BaseModel):
    """New values; what is not named stays as it is, null takes a value away."""

    model_config = ConfigDict(extra="forbid")

    original_url: str | None = None
    title: str | None = None
    description: str | None = None
    metadata: dict[str, Any] | None = None
    expires_at: AwareDatetime | None = None
    is_active: bool | None = None
    redirect_status: int | None = None

    def edit(self) -> LinkEdit:
        return LinkEdit(
            fields=frozenset(self.model_fields_set),
            original_url=self.original_url,
            title=self.title,
            description=self.description,
            metadata=self.metadata,
            expires_at=from_datetime(self.expires_at) if self.expires_at is not None else None,
            is_active=self.is_active,
            redirect_status=self.redirect_status,
        )


class CreatedLink(BaseModel):
    """What a create answers."""

    id: str
    short_code: str
    short_url: str
    original_url: str
    created_at: str
    expires_at: str | None
    title: str | None
    redirect_status: int
    existing: bool | None = None


class ShownLink(BaseModel):
    """A link as its owner sees it."""

    id: str
    short_code: str
    short_url: str
    original_url: str
    title: str | None
    description: str | None
    metadata: dict[str, Any]
    created_at: str
    updated_at: str
    expires_at: str | None
    is_active: bool
    click_count: int
    redirect_status: int


class LinkPage(BaseModel):
    """Links, and where the next page begins."""

    items: list[ShownLink]
    next_cursor: str | None


_PIECE = 20

ShortUrl = Callable[[int, str], str]
"""The short URL of a domain and a code."""


def created_json(created: Created, short_url: ShortUrl) -> dict[str, Any]:
    link = created.link
    shown: dict[str, Any] = {
        "id": str(link.id),
        "short_code": link.short_code,
        "short_url": short_url(link.domain_id, link.short_code),
        "original_url": link.original_url,
        "created_at": to_rfc3339(link.created_at),
        "expires_at": _moment(link.expires_at),
        "title": link.title,
        "redirect_status": link.redirect_status,
    }
    if created.existing:
        shown["existing"] = True
    return shown


def link_json(link: Link, short_url: ShortUrl) -> dict[str, Any]:
    return {
        "id": str(link.id),
        "short_code": link.short_code,
        "short_url": short_url(link.domain_id, link.short_code),
        "original_url": link.original_url,
        "title": link.title,
        "description": link.description,
        "metadata": json.loads(link.metadata) if link.metadata != "{}" else {},
        "created_at": to_rfc3339(link.created_at),
        "updated_at": to_rfc3339(link.updated_at),
        "expires_at": _moment(link.expires_at),
        "is_active": bool(link.is_active),
        "click_count": link.click_count,
        "redirect_status": link.redirect_status,
    }


def _page_json(page: browse.Page, short_url: ShortUrl) -> bytes:
    """In pieces, because one call keeps the interpreter's lock to its end: a millisecond for a thousand links."""
    items = [link_json(link, short_url) for link in page.links]
    pieces = (to_json(items[first : first + _PIECE])[1:-1] for first in range(0, len(items), _PIECE))
    return b'{"items":[%b],"next_cursor":%b}' % (b",".join(pieces), to_json(page.next_cursor))


def _moment(moment: int | None) -> str | None:
    return None if moment is None else to_rfc3339(moment)


def require_code(code: str) -> str:
    if not POSSIBLE_CODE.fullmatch(code):
        raise Problem(MALFORMED_CODE, "A code has 1 to 64 letters, digits, hyphens or underscores.")
    return code


async def domain_of(services: Services, actor: Actor, code: str, domain: str | None) -> int:
    """The domain of the link that a request means, by `?domain=` or by where the caller has such a code."""
    return await services.locator.of_code(actor.workspace_id, require_code(code), domain)


class LinkRoutes:
    """The handlers, with what they need."""

    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate
        self._short_url = services.directory.short_url

    async def create(self, request: Request) -> Response:
        """Makes a link. 201, or 200 with `existing` when `reuse` found one."""
        actor = await self._gate.admit(request, LINKS_CREATE)
        require_json(request)
        body = await read_body(request)
        asked = model_from_json(LinkRequest, body)
        domain_id = await self._services.locator.for_new(actor.workspace_id, asked.domain)
        draft = asked.draft(domain_id, actor.code_holder)
        key = request.headers.get("idempotency-key")
        if key is not None:
            answer = await create_once(self._services, actor, draft, key, b"POST urls\n" + body, created_json)
            return answer_response(answer)
        created = await self._services.creator.create(actor.workspace_id, actor.user_id, draft, actor)
        return json_response(created_json(created, self._short_url), 200 if created.existing else 201)

    async def page(
        self,
        request: Request,
        search: Annotated[str | None, Query(max_length=200)] = None,
        state: browse.State = "all",
        created_from: AwareDatetime | None = None,
        created_to: AwareDatetime | None = None,
        domain: DomainQuery = None,
        sort: Sort = "-created_at",
        cursor: Annotated[str | None, Query(max_length=500)] = None,
        limit: Annotated[int, Query(ge=1, le=browse.LARGEST_PAGE)] = 50,
    ) -> Response:
        """Links of the workspace, newest first, a page at a time."""
        actor = await self._gate.admit(request, LINKS_READ)
        page = await self._services.browser.page(
            actor.workspace_id,
            browse.Query(
                search=search,
                state=state,
                created_from=from_datetime(created_from) if created_from else None,
                created_to=from_datetime(created_to) if created_to else None,
                domain_id=await self._services.locator.for_list(actor.workspace_id, domain),
                sort=sort,
                cursor=cursor,
                limit=limit,
            ),
        )
        await self._services.directory.know(link.domain_id for link in page.links)
        # A thousand links take some ten milliseconds to write down: not in the loop's thread.
        body = await asyncio.to_thread(_page_json, page, self._short_url)
        return Response(body, headers=API_HEADERS, media_type="application/json")

    async def get(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """One link. 410 when it was deleted; looking is no click."""
        actor = await self._gate.admit(request, LINKS_READ)
        link = await self._find(actor, code, domain)
        return json_response(link_json(link, self._short_url))

    async def stats(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """How often one link was followed, and when last."""
        actor = await self._gate.admit(request, LINKS_READ)
        link = await self._find(actor, code, domain)
        return json_response(
            {
                "short_code": link.short_code,
                "original_url": link.original_url,
                "clicks": link.click_count,
                "created_at": to_rfc3339(link.created_at),
                "last_accessed_at": _moment(link.last_clicked_at),
            }
        )

    async def edit(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """Changes what is named in the body; every worker follows within a second."""
        actor = await self._gate.admit(request, LINKS_WRITE)
        require_json(request)
        body = await read_body(request)
        edit = model_from_json(LinkEditRequest, body).edit()
        domain_id = await self._domain(actor, code, domain)
        # The writer of links does not see the totals. Read before, they are right at some moment of the request.
        before = await self._services.links.find(actor.workspace_id, domain_id, code)
        clicks = before.click_count if before is not None else 0
        key = request.headers.get("idempotency-key")
        if key is None:
            link = await self._services.changer.edit(actor.workspace_id, domain_id, code, edit, actor)
            return json_response(link_json(replace(link, click_count=clicks), self._short_url))
        changed: list[Link] = []

        async def work(statements: Statements) -> Answer:
            link = await self._services.changer.edit_in(
                statements, actor.workspace_id, domain_id, code, edit, actor
            )
            changed.append(link)
            shown = link_json(replace(link, click_count=clicks), self._short_url)
            return Answer(200, json.dumps(shown, ensure_ascii=False))

        return await self._change_once(
            actor, key, f"PATCH {domain_id} {code}\n".encode() + body, work, changed
        )

    async def delete(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """The code answers 410 from now on, and is never given to another link."""
        actor = await self._gate.admit(request, LINKS_WRITE)
        domain_id = await self._domain(actor, code, domain)
        key = request.headers.get("idempotency-key")
        if key is None:
            await self._services.changer.delete(actor.workspace_id, domain_id, code, actor)
            return Response(status_code=204, headers=API_HEADERS)
        changed: list[Link] = []

        async def work(statements: Statements) -> Answer:
            changed.append(
                await self._services.changer.delete_in(statements, actor.workspace_id, domain_id, code, actor)
            )
            return Answer(204, "")

        return await self._change_once(actor, key, f"DELETE {domain_id} {code}\n".encode(), work, changed)

    async def _change_once(
        self, actor: Actor, key: str, request: bytes, work: Any, changed: list[Link]
    ) -> Response:
        answer = await self._services.once.run(actor.workspace_id, key, request, work)
        for link in changed:
            self._services.changer.tell_cache(link)
        return answer_response(answer)

    async def _find(self, actor: Actor, code: str, domain: str | None) -> Link:
        domain_id = await self._domain(actor, code, domain)
        return await self._services.browser.get(actor.workspace_id, domain_id, code)

    async def _domain(self, actor: Actor, code: str, domain: str | None) -> int:
        return await domain_of(self._services, actor, code, domain)

    async def availability(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """Could this be a custom code now? A hint: only the create decides."""
        actor = await self._gate.admit(request, LINKS_CREATE)
        domain_id = await self._services.locator.for_new(actor.workspace_id, domain)
        reason = await self._why_not(actor, code, domain_id)
        return json_response(
            {"available": True} if reason is None else {"available": False, "reason": reason}
        )

    async def _why_not(self, actor: Actor, code: str, domain_id: int) -> str | None:
        refused = self._services.custom_codes.refusal(code)
        if refused is not None:
            return refused
        holders = await self._services.allocations.holders([code])
        if holders.get(code, actor.code_holder) != actor.code_holder:
            return "taken"
        return None if await self._services.links.is_free(domain_id, code) else "taken"

    def router(self) -> APIRouter:
        router = APIRouter(tags=["links"])
        urls, one = "/api/v1/urls", "/api/v1/urls/{code}"
        router.add_api_route(
            urls,
            self.create,
            methods=["POST"],
            status_code=201,
            responses={
                201: {"model": CreatedLink},
                200: {"model": CreatedLink},
                **problems(400, 401, 409, 413, 415, 422),
            },
            openapi_extra=body_of(LinkRequest),
        )
        router.add_api_route(
            urls, self.page, methods=["GET"], responses={200: {"model": LinkPage}, **problems(401, 422)}
        )
        router.add_api_route(
            one,
            self.get,
            methods=["GET"],
            responses={200: {"model": ShownLink}, **problems(400, 401, 404, 410, 422)},
        )
        router.add_api_route(
            one,
            self.edit,
            methods=["PATCH"],
            responses={200: {"model": ShownLink}, **problems(400, 401, 404, 410, 413, 415, 422)},
            openapi_extra=body_of(LinkEditRequest),
        )
        router.add_api_route(
            one, self.delete, methods=["DELETE"], status_code=204, responses=problems(400, 401, 404, 410, 422)
        )
        router.add_api_route(
            one + "/stats", self.stats, methods=["GET"], responses=problems(400, 401, 404, 410, 422)
        )
        router.add_api_route(
            "/api/v1/codes/{code}",
            self.availability,
            methods=["GET"],
            responses=problems(401, 422),
            tags=["codes"],
        )
        return router
