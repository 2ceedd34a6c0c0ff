"""What all pages of the dashboard share: who is asking, the frame around the page, forms and what was done.

A page asks `enter` who is there, a form `receive`; both send whoever is not signed in to sign in. `page` answers with a
template in the frame, `go` sends a browser on after a form, with a sentence for the next page.
"""

from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from laconic.web.api.authentication import Gate
from laconic.web.pages.dashboard.navigation import navigation_for
from laconic.web.pages.flashes import Flash, Flashes
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.forms import Form, read_form, require_own_form
from laconic.web.pages.templates import page_response
from laconic.wiring import Services
from laconic.workspaces.model import Actor, Workspace
from laconic.workspaces.people.sessions import SignedIn


@dataclass(frozen=True, slots=True)
class Visitor:
    """Whoever looks at a page: `signed_in` is None in open mode, where nobody has an account yet."""

    request: Request
    actor: Actor
    workspace: Workspace
    signed_in: SignedIn | None

    @property
    def workspace_id(self) -> int:
        return self.actor.workspace_id

    @property
    def name(self) -> str:
        if self.signed_in is None:
            return "Open mode"
        return self.signed_in.user.full_name or self.signed_in.user.email

    @property
    def email(self) -> str | None:
        return None if self.signed_in is None else self.signed_in.user.email

    def may(self, scope: str) -> bool:
        return self.actor.may(scope)


class Shell:
    def __init__(self, services: Services, gate: Gate, tokens: FormTokens) -> None:
        self.services = services
        self.gate = gate
        self.tokens = tokens
        self._flashes = Flashes(tokens)

    async def enter(self, request: Request, scope: str) -> Visitor:
        """Raises NotAuthenticated, which becomes a way to sign in, or ScopeMissing, which becomes a page that says so."""
        actor = await self.gate.admit(request, scope, own_page=True)
        signed_in = await self.gate.signed_in(request) if actor.kind == "user" else None
        workspace = await self.services.tenants.get(actor.workspace_id)
        return Visitor(request, actor, workspace, signed_in)

    async def receive(self, request: Request, scope: str) -> tuple[Visitor, Form]:
        """A form that one of our pages has sent. Raises FORM_EXPIRED for one that comes from elsewhere."""
        visitor = await self.enter(request, scope)
        form = await read_form(request)
        await require_own_form(request, {"token": form.get("token")}, self.tokens)
        return visitor, form

    async def page(
        self, visitor: Visitor, template: str, here: str, status: int = 200, **values: Any
    ) -> Response:
        """`here` is the navigation's section that the page belongs to; the template extends dashboard/base.html."""
        request = visitor.request
        token = await self.tokens.token_for(request)
        response = page_response(
            template,
            status,
            here=here,
            visitor=visitor,
            navigation=navigation_for(visitor.actor),
            token=token.field,
            flash=await self._flashes.take(request),
            **values,
        )
        self.tokens.keep(response, token)
        if self._flashes.is_there(request):
            self._flashes.clear(response)
        await self._renew(visitor, response)
        return response

    async def fragment(self, visitor: Visitor, template: str, status: int = 200, **values: Any) -> Response:
        """A part of a page, for a script that puts it in its place."""
        token = await self.tokens.token_for(visitor.request)
        response = page_response(template, status, visitor=visitor, token=token.field, **values)
        self.tokens.keep(response, token)
        return response

    async def go(self, path: str, flash: Flash | None = None) -> Response:
        """After a form: to another page, so that reloading it sends nothing again."""
        response = RedirectResponse(path, 303, headers={"cache-control": "no-store"})
        if flash is not None:
            await self._flashes.keep(response, flash)
        return response

    async def _renew(self, visitor: Visitor, response: Response) -> None:
        """The session's token is renewed when its hour is over."""
        if visitor.signed_in is None:
            return
        token = self.gate.cookie.token(visitor.request) or ""
        renewed = await self.services.people.sessions.renew(visitor.signed_in, token)
        if renewed is not None:
            self.gate.cookie.keep(response, renewed)
