"""/dashboard/account: one's own name, password and browsers. POST /dashboard/set-up: the first account, out of open mode."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.errors import ChoiceRefused, ScopeMissing
from laconic.web.api.records import parse_id
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.navigation import HOME, SIGN_IN
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash
from laconic.web.pages.forms import Form
from laconic.workspaces.model import LINKS_READ, OPERATOR, SHORTEST_PASSWORD, User
from laconic.workspaces.people.users import UserEdit

_ACCOUNT = "/dashboard/account"


class AccountRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._people = shell.services.people

    async def show(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, LINKS_READ)
        if visitor.signed_in is None:
            return await self._shell.go(HOME)
        return await self._page(visitor, visitor.signed_in.user)

    async def rename(self, request: Request) -> Response:
        visitor, user, form = await self._receive(request)
        try:
            edit = UserEdit(frozenset({"full_name"}), form.get("full_name").strip() or None)
            await self._people.users.change(visitor.actor, user.workspace_id, user.id, edit)
        except CORRECTABLE as error:
            return await self._page(visitor, user, Mistake.from_error("name", error, form))
        return await self._shell.go(_ACCOUNT, Flash("Saved."))

    async def set_password(self, request: Request) -> Response:
        """With the old one: whoever finds a browser open shall not be able to keep its owner out."""
        visitor, user, form = await self._receive(request)
        users = self._people.users
        try:
            if form.get("password") != form.get("password_again"):
                raise ChoiceRefused("password_again", "The new password was not typed the same way twice.")
            await users.check_password(user.workspace_id, user.id, form.get("current_password"))
            edit = UserEdit(frozenset({"password"}), password=form.get("password"))
            await users.change(visitor.actor, user.workspace_id, user.id, edit)
        except CORRECTABLE as error:
            return await self._page(visitor, user, Mistake.from_error("password", error, form))
        return await self._shell.go(
            _ACCOUNT, Flash("You have a new password. Your other browsers are signed out.")
        )

    async def end_session(self, request: Request, session_id: str) -> Response:
        visitor, user, _ = await self._receive(request)
        await self._people.sessions.end(visitor.actor, user.id, parse_id(session_id, "session"))
        return await self._shell.go(_ACCOUNT, Flash("That browser is signed out."))

    async def set_up(self, request: Request) -> Response:
        """In open mode whoever calls is the operator, and may have the link that `laconic serve` prints."""
        await self._shell.receive(request, OPERATOR)
        token = await self._people.invitations.set_up()
        return await self._shell.go(SIGN_IN if token is None else f"/dashboard/set-up/{token}")

    async def _receive(self, request: Request) -> tuple[Visitor, User, Form]:
        visitor, form = await self._shell.receive(request, LINKS_READ)
        if visitor.signed_in is None:
            raise ScopeMissing("user")
        return visitor, visitor.signed_in.user, form

    async def _page(self, visitor: Visitor, user: User, mistake: Mistake | None = None) -> Response:
        return await self._shell.page(
            visitor,
            "dashboard/account.html",
            "account",
            200 if mistake is None else mistake.status,
            user=user,
            sessions=await self._people.sessions.list(user.workspace_id, user.id),
            current=visitor.actor.session_id,
            shortest=SHORTEST_PASSWORD,
            mistake=mistake,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_ACCOUNT, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_ACCOUNT, self.rename, methods=["POST"])
        router.add_api_route(_ACCOUNT + "/password", self.set_password, methods=["POST"])
        router.add_api_route(_ACCOUNT + "/sessions/{session_id}/end", self.end_session, methods=["POST"])
        router.add_api_route("/dashboard/set-up", self.set_up, methods=["POST"])
        return router
