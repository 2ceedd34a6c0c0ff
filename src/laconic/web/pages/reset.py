"""/dashboard/reset: a link by which a person chooses a new password; plain forms that work without JavaScript."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.errors import InvitationOver, LaconicError
from laconic.web.api.authentication import Gate, plain_address
from laconic.web.pages.form_tokens import FormTokens
from laconic.web.pages.forms import read_fields, require_own_form
from laconic.web.pages.sign_in import SignInRoutes
from laconic.wiring import Services
from laconic.workspaces.model import SHORTEST_PASSWORD, User


class ResetRoutes:
    def __init__(self, services: Services, gate: Gate, tokens: FormTokens, pages: SignInRoutes) -> None:
        self._resets = services.people.resets
        self._gate = gate
        self._tokens = tokens
        self._pages = pages

    async def show(self, request: Request, token: str) -> Response:
        try:
            user = await self._resets.look(token)
        except InvitationOver as error:
            return await self._pages.private_page(request, "invitation_over.html", error)
        return await self._form(request, token, user)

    async def choose(self, request: Request) -> Response:
        fields = await read_fields(request)
        token = fields.get("reset", "")
        try:
            user = await self._resets.look(token)
        except InvitationOver as error:
            return await self._pages.private_page(request, "invitation_over.html", error)
        try:
            await require_own_form(request, fields, self._tokens)
            address = plain_address(self._gate.address_of(request))
            user = await self._resets.use(token, fields.get("password", ""), address)
        except LaconicError as error:
            return await self._form(request, token, user, error)
        return await self._pages.begin_session(request, user)

    async def _form(
        self, request: Request, token: str, user: User, error: LaconicError | None = None
    ) -> Response:
        return await self._pages.private_page(
            request, "reset.html", error, reset=token, email=user.email, shortest=SHORTEST_PASSWORD
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/dashboard/reset/{token}", self.show, methods=["GET", "HEAD"])
        router.add_api_route("/dashboard/reset", self.choose, methods=["POST"])
        return router
