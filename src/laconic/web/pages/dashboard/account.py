"""GET /dashboard/account: who is signed in, and where. POST /dashboard/set-up: the first account, out of open mode."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.web.pages.dashboard.navigation import HOME, SIGN_IN
from laconic.web.pages.dashboard.shell import Shell
from laconic.workspaces.model import LINKS_READ, OPERATOR


class AccountRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._people = shell.services.people

    async def show(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, LINKS_READ)
        if visitor.signed_in is None:
            return await self._shell.go(HOME)
        user = visitor.signed_in.user
        return await self._shell.page(
            visitor,
            "dashboard/account.html",
            "account",
            user=user,
            sessions=await self._people.sessions.list(user.workspace_id, user.id),
            current=visitor.signed_in.session.id,
        )

    async def set_up(self, request: Request) -> Response:
        """In open mode whoever calls is the operator, and may have the link that `laconic serve` prints."""
        await self._shell.receive(request, OPERATOR)
        token = await self._people.invitations.set_up()
        return await self._shell.go(SIGN_IN if token is None else f"/dashboard/set-up/{token}")

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route("/dashboard/account", self.show, methods=["GET", "HEAD"])
        router.add_api_route("/dashboard/set-up", self.set_up, methods=["POST"])
        return router
