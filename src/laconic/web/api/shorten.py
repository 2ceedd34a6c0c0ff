"""The simplest way in: POST /shorten, GET /stats/{code}."""

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.responses import Response

from laconic.clock import to_rfc3339
from laconic.links.model import Created, LinkDraft
from laconic.web.api.answers import json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import media_type, problem_of, read_body
from laconic.web.api.links import DomainQuery, ShortUrl, require_code
from laconic.web.api.once import answer_response, create_once
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.problems import Kind, Problem
from laconic.wiring import Services
from laconic.workspaces.model import LINKS_CREATE, LINKS_READ

# This route speaks to the simplest of clients: whatever is wrong with the body is a 400.
_BAD_BODY = Kind(400, "invalid_request", "Send a JSON object with a url")


class ShortenRequest(BaseModel):
    model_config = ConfigDict(extra="ignore")

    url: str
    reuse: bool | None = None


class Shortened(BaseModel):
    short_code: str
    short_url: str
    original_url: str


class ShortenRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate

    async def shorten(self, request: Request) -> Response:
        """Makes a link to `url`."""
        actor = await self._gate.admit(request, LINKS_CREATE)
        asked, body = await _read(request)
        draft = LinkDraft(asked.url, reuse=asked.reuse)
        key = request.headers.get("idempotency-key")
        if key is not None:
            answer = await create_once(
                self._services, actor, draft, key, b"POST shorten\n" + body, _shortened_json
            )
            return answer_response(answer)
        created = await self._services.creator.create(actor.workspace_id, actor.user_id, draft, actor)
        shown = _shortened_json(created, self._services.directory.short_url)
        return json_response(shown, 200 if created.existing else 201)

    async def stats(self, request: Request, code: str, domain: DomainQuery = None) -> Response:
        """How often a link was followed."""
        actor = await self._gate.admit(request, LINKS_READ)
        domain_id = await self._services.locator.of_code(actor.workspace_id, require_code(code), domain)
        link = await self._services.browser.get(actor.workspace_id, domain_id, code)
        return json_response(
            {
                "short_code": link.short_code,
                "original_url": link.original_url,
                "click_count": link.click_count,
                "created_at": to_rfc3339(link.created_at),
            }
        )

    def router(self) -> APIRouter:
        router = APIRouter(tags=["simple"])
        router.add_api_route(
            "/shorten",
            self.shorten,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": Shortened}, **problems(400, 401, 413)},
            openapi_extra=body_of(ShortenRequest),
        )
        router.add_api_route(
            "/stats/{code}", self.stats, methods=["GET"], responses=problems(400, 401, 404, 410, 422)
        )
        return router


def _shortened_json(created: Created, short_url: ShortUrl) -> dict[str, Any]:
    link = created.link
    shown: dict[str, Any] = {
        "short_code": link.short_code,
        "short_url": short_url(link.domain_id, link.short_code),
        "original_url": link.original_url,
    }
    if created.existing:
        shown["existing"] = True
    return shown


async def _read(request: Request) -> tuple[ShortenRequest, bytes]:
    if media_type(request) != "application/json":
        raise Problem(_BAD_BODY, 'Send {"url": "https://…"} as Content-Type: application/json.')
    body = await read_body(request)
    try:
        return ShortenRequest.model_validate_json(body, strict=True), body
    except ValidationError as error:
        problem = problem_of(error)
        raise Problem(_BAD_BODY, str(problem), problem.errors) from None
