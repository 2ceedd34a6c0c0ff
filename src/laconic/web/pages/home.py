"""GET / and POST /: paste, shorten, copy, QR.

The form works without JavaScript. With it, the script sends the same form and takes the answer's <main>: there is
one rendering, and it is this one.
"""

import math
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic import __version__
from laconic.errors import LaconicError, OutcomeUnknown, Refused, TooManyRequests
from laconic.links.model import Created, LinkDraft
from laconic.web.api.answers import json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.links import created_json
from laconic.web.api.problems import kind_of, response_to
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.forms import read_fields, require_own_form
from laconic.web.pages.qr_drawing import QrPainter
from laconic.web.pages.templates import page_response, wants_html
from laconic.wiring import Services
from laconic.workspaces.model import LINKS_CREATE


class HomeRoutes:
    def __init__(self, services: Services, gate: Gate, painter: QrPainter, tokens: FormTokens) -> None:
        self._services = services
        self._gate = gate
        self._painter = painter
        self._base_url = services.settings.base_url
        self._tokens = tokens

    async def answer(self, request: Request) -> Response:
        """One route for all methods: the framework's 405 names those of one route only."""
        return await (self.shorten(request) if request.method == "POST" else self.show(request))

    async def show(self, request: Request) -> Response:
        if not wants_html(request):
            shown = {"service": "url-shortener", "name": "laconic", "version": __version__}
            return json_response(shown, headers={"vary": "accept"})
        return await self._page(request)

    async def shorten(self, request: Request) -> Response:
        fields = await read_fields(request)
        url = fields.get("url", "")
        try:
            await require_own_form(request, fields, self._tokens)
            actor = await self._gate.admit(request, LINKS_CREATE, own_page=True)
            created = await self._services.creator.create(
                actor.workspace_id, actor.user_id, LinkDraft(url), actor
            )
        except LaconicError as error:
            if not wants_html(request):
                raise
            return await self._page(request, url=url, error=error)
        if not wants_html(request):
            return json_response(created_json(created, self._services.directory.short_url), 201)
        return await self._page(request, created=created)

    async def _page(
        self,
        request: Request,
        *,
        url: str = "",
        error: LaconicError | None = None,
        created: Created | None = None,
    ) -> Response:
        status = 200 if error is None else kind_of(error).status
        if not await self._may_create(request):
            return page_response("closed.html", 200 if error is None else 401, base_url=self._base_url)
        token = await self._tokens.token_for(request)
        response = page_response(
            "home.html",
            201 if created is not None else status,
            retry_after(error),
            token=token.field,
            url=url,
            error=words_for(error),
            made=await self._made(created) if created is not None else None,
        )
        self._tokens.keep(response, token)
        return response

    async def _may_create(self, request: Request) -> bool:
        """Would the form work? Asked without using up anybody's rate."""
        if self._services.settings.open:
            return True
        try:
            await self._gate.admit(request, LINKS_CREATE, own_page=True)
        except Refused:
            return False
        return True

    async def _made(self, created: Created) -> dict[str, Any]:
        link = created.link
        short_url = self._services.directory.short_url(link.domain_id, link.short_code)
        return {
            "code": link.short_code,
            "short_url": short_url,
            "shown_url": short_url.partition("://")[2],
            "original_url": link.original_url,
            "qr": await self._painter.inline_svg(short_url),
        }

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/", self.answer, methods=["GET", "HEAD", "POST"])
        return router


def words_for(error: LaconicError | None) -> str | None:
    if error is None:
        return None
    if isinstance(error, TooManyRequests):
        seconds = max(1, math.ceil(error.retry_after))
        return f"That was a little fast. Please try again in {seconds} second{'s' if seconds > 1 else ''}."
    if isinstance(error, OutcomeUnknown):
        return (
            "The connection was lost: the link may or may not have been made. You may safely send it again."
        )
    return str(error)


def retry_after(error: LaconicError | None) -> dict[str, str]:
    seconds = response_to(error).headers.get("retry-after") if error is not None else None
    return {} if seconds is None else {"retry-after": seconds}
