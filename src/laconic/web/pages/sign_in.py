"""/dashboard/sign-in, the set-up and invitation links, signing out: plain forms that work without JavaScript."""

import math
import re
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from laconic.errors import InvitationOver, LaconicError, TooManyRequests, WorkspaceNeeded
from laconic.web.api.authentication import Gate, plain_address
from laconic.web.api.problems import Problem, kind_of, response_to
from laconic.web.pages.dashboard.navigation import HOME, SIGN_IN
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.forms import read_fields, require_own_form
from laconic.web.pages.templates import page_response
from laconic.wiring import Services
from laconic.workspaces.model import SHORTEST_PASSWORD, Actor, Invitation, User
from laconic.workspaces.people.sign_in import Attempt
from laconic.workspaces.people.users import UserDraft

# Printable ASCII without a backslash, which some browsers take for a slash.
_OWN_PATH = re.compile(r"/dashboard(?:[/?][!-\[\]-~]{0,1500})?")
# The link in the address bar is a secret: it is told to no other site, and no page of ours repeats it.
_PRIVATE = {"referrer-policy": "no-referrer"}


class SignInRoutes:
    def __init__(
        self, services: Services, gate: Gate, tokens: FormTokens, provider_name: str | None = None
    ) -> None:
        """`provider_name` is what the button for the identity provider says, where there is one."""
        self._services = services
        self._people = services.people
        self._gate = gate
        self._tokens = tokens
        self._provider_name = provider_name
        self.sign_in_verb = services.people.sign_in

    # Signing in and out.

    async def show_sign_in(self, request: Request) -> Response:
        if await self._gate.signed_in(request) is not None:
            return _go(HOME)
        return await self._sign_in_page(request, {"next": request.query_params.get("next", "")})

    async def sign_in(self, request: Request) -> Response:
        fields = await read_fields(request)
        try:
            await require_own_form(request, fields, self._tokens)
            user = await self._people.sign_in.with_password(
                Attempt(
                    fields.get("email", ""),
                    fields.get("password", ""),
                    fields.get("workspace", "").strip() or None,
                    self._gate.address_of(request),
                    self._gate.cookie.device(request),
                )
            )
        except LaconicError as error:
            return await self._sign_in_page(request, fields, error)
        return await self.begin_session(request, user, own_path(fields.get("next", "")))

    async def begin_session(self, request: Request, user: User, path: str = HOME) -> Response:
        """A new token for every sign-in: one that somebody has planted before is worth nothing."""
        address = plain_address(self._gate.address_of(request))
        actor = Actor(user.workspace_id, user.scopes, user_id=user.id, kind="user", address=address)
        token = await self._people.sessions.start(user, actor, request.headers.get("user-agent"))
        response = _go(path)
        self._gate.cookie.keep(response, token)
        self._gate.cookie.keep_device(response, await self._people.sign_in.new_device(user.email))
        return response

    async def sign_out(self, request: Request) -> Response:
        """Here, or everywhere."""
        fields = await read_fields(request)
        await require_own_form(request, fields, self._tokens)
        signed_in = await self._gate.signed_in(request)
        if signed_in is not None:
            actor = signed_in.actor(plain_address(self._gate.address_of(request)))
            if fields.get("where") == "everywhere":
                await self._people.sessions.end_all(actor, signed_in.user)
            else:
                await self._people.sessions.end(actor, signed_in.user.id, signed_in.session.id)
        response = _go(SIGN_IN)
        self._gate.cookie.clear(response)
        return response

    async def refuse(self, request: Request, error: LaconicError) -> Response:
        """The sign-in page with what went wrong elsewhere."""
        return await self._sign_in_page(request, error=error)

    async def ask_workspace(self, request: Request, error: WorkspaceNeeded, action: str) -> Response:
        return await self._page(request, "choose_workspace.html", error, action=action)

    # Links that make a user.

    async def show_invitation(self, request: Request, token: str) -> Response:
        try:
            invitation = await self._people.invitations.look(token)
        except InvitationOver as error:
            return await self._over_page(request, error)
        return await self._invitation_page(request, token, invitation)

    async def accept(self, request: Request) -> Response:
        fields = await read_fields(request)
        token = fields.get("invitation", "")
        try:
            invitation = await self._people.invitations.look(token)
        except InvitationOver as error:
            return await self._over_page(request, error)
        try:
            await require_own_form(request, fields, self._tokens)
            draft = UserDraft(
                invitation.email or fields.get("email", ""),
                full_name=fields.get("full_name", "").strip() or None,
                password=fields.get("password", ""),
            )
            address = plain_address(self._gate.address_of(request))
            user = await self._people.invitations.accept(token, draft, address)
        except LaconicError as error:
            return await self._invitation_page(request, token, invitation, fields, error)
        return await self.begin_session(request, user)

    # Pages.

    async def _sign_in_page(
        self, request: Request, fields: dict[str, str] | None = None, error: LaconicError | None = None
    ) -> Response:
        fields = fields or {}
        return await self._page(
            request,
            "sign_in.html",
            error,
            email=fields.get("email", ""),
            slug=fields.get("workspace", ""),
            asks_workspace=isinstance(error, WorkspaceNeeded) or bool(fields.get("workspace")),
            has_users=await self._services.workspaces.has_users(),
            provider_name=self._provider_name,
            next=own_path(fields.get("next", "")),
        )

    async def _invitation_page(
        self,
        request: Request,
        token: str,
        invitation: Invitation,
        fields: dict[str, str] | None = None,
        error: LaconicError | None = None,
    ) -> Response:
        fields = fields or {}
        workspace = await self._services.tenants.get(invitation.workspace_id)
        return await self.private_page(
            request,
            "invitation.html",
            error,
            invitation=token,
            is_setup=invitation.is_setup,
            workspace=workspace.name,
            role=invitation.role,
            email=invitation.email or fields.get("email", ""),
            is_for=invitation.email,
            full_name=fields.get("full_name", ""),
            shortest=SHORTEST_PASSWORD,
        )

    async def _over_page(self, request: Request, error: InvitationOver) -> Response:
        return await self.private_page(request, "invitation_over.html", error)

    async def private_page(
        self, request: Request, template: str, error: LaconicError | None = None, **values: Any
    ) -> Response:
        """One whose address is a secret."""
        response = await self._page(request, template, error, **values)
        response.headers.update(_PRIVATE)
        return response

    async def _page(
        self, request: Request, template: str, error: LaconicError | None = None, **values: Any
    ) -> Response:
        token = await self._tokens.token_for(request)
        response = page_response(
            template,
            200 if error is None else kind_of(error).status,
            _retry_after(error),
            token=token.field,
            error=_words(error),
            **values,
        )
        self._tokens.keep(response, token)
        return response

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(SIGN_IN, self.show_sign_in, methods=["GET", "HEAD"])
        router.add_api_route(SIGN_IN, self.sign_in, methods=["POST"])
        router.add_api_route("/dashboard/sign-out", self.sign_out, methods=["POST"])
        for path in ("/dashboard/invitation", "/dashboard/set-up"):
            router.add_api_route(path + "/{token}", self.show_invitation, methods=["GET", "HEAD"])
        router.add_api_route("/dashboard/invitation", self.accept, methods=["POST"])
        return router


def own_path(path: str) -> str:
    """Where to go after signing in: a page of the dashboard and nowhere else."""
    return path if _OWN_PATH.fullmatch(path) else HOME


def _go(path: str) -> Response:
    return RedirectResponse(path, 303, headers={"cache-control": "no-store"})


def _words(error: LaconicError | None) -> str | None:
    if isinstance(error, TooManyRequests):
        seconds = max(1, math.ceil(error.retry_after))
        return f"Too many attempts. Please try again in {seconds} second{'s' if seconds > 1 else ''}."
    if isinstance(error, Problem) and error.errors:
        return "; ".join(one["detail"] for one in error.errors)
    return None if error is None else str(error)


def _retry_after(error: LaconicError | None) -> dict[str, str]:
    seconds = response_to(error).headers.get("retry-after") if error is not None else None
    return {} if seconds is None else {"retry-after": seconds}
