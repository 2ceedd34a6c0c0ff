"""/dashboard/members: the people of the workspace, and the links that make new ones. For admins."""

from typing import Any, get_args

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.errors import ChoiceRefused
from laconic.web.api.records import parse_id
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash
from laconic.web.pages.forms import Form
from laconic.workspaces.model import ADMIN, OPERATOR, SHORTEST_PASSWORD, Role, User
from laconic.workspaces.people.users import UserEdit

_MEMBERS = "/dashboard/members"


class MemberRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._users = shell.services.people.users
        self._invitations = shell.services.people.invitations
        self._base_url = shell.services.settings.base_url

    async def show(self, request: Request) -> Response:
        return await self._list(await self._shell.enter(request, ADMIN))

    async def invite(self, request: Request) -> Response:
        """The link is in this answer and nowhere else, so the answer is the page itself and not a way to it."""
        visitor, form = await self._shell.receive(request, ADMIN)
        email = form.get("email").strip() or None
        try:
            token, made = await self._invitations.invite(
                visitor.actor, visitor.workspace_id, _role(form), email
            )
        except CORRECTABLE as error:
            return await self._list(visitor, Mistake.from_error("invite", error, form))
        url = f"{self._base_url}/dashboard/invitation/{token}"
        return await self._list(visitor, invited={"url": url, "email": made.email, "role": made.role})

    async def withdraw(self, request: Request, invitation_id: str) -> Response:
        visitor, _ = await self._shell.receive(request, ADMIN)
        number = parse_id(invitation_id, "invitation")
        await self._invitations.withdraw(visitor.actor, visitor.workspace_id, number)
        return await self._shell.go(_MEMBERS, Flash("The invitation works no more."))

    async def show_one(self, request: Request, user_id: str) -> Response:
        visitor = await self._shell.enter(request, ADMIN)
        return await self._one(visitor, await self._find(visitor, user_id))

    async def change(self, request: Request, user_id: str) -> Response:
        """Name and role."""
        visitor, form = await self._shell.receive(request, ADMIN)
        user = await self._find(visitor, user_id)
        try:
            fields = frozenset({"full_name", "role"})
            edit = UserEdit(fields, form.get("full_name").strip() or None, _role(form))
            await self._users.change(visitor.actor, visitor.workspace_id, user.id, edit)
        except CORRECTABLE as error:
            return await self._one(visitor, user, Mistake.from_error("change", error, form))
        return await self._shell.go(_MEMBERS, Flash(f"{user.email} was changed."))

    async def set_password(self, request: Request, user_id: str) -> Response:
        """For somebody who has forgotten theirs: there is no mail server that could send a link."""
        visitor, form = await self._shell.receive(request, ADMIN)
        user = await self._find(visitor, user_id)
        try:
            edit = UserEdit(frozenset({"password"}), password=form.get("password"))
            await self._users.change(visitor.actor, visitor.workspace_id, user.id, edit)
        except CORRECTABLE as error:
            return await self._one(visitor, user, Mistake.from_error("password", error, form))
        return await self._shell.go(
            f"{_MEMBERS}/{user.id}", Flash(f"{user.email} has a new password and is signed out everywhere.")
        )

    async def remove(self, request: Request, user_id: str) -> Response:
        visitor, form = await self._shell.receive(request, ADMIN)
        user = await self._find(visitor, user_id)
        try:
            await self._users.delete(visitor.actor, visitor.workspace_id, user.id)
        except CORRECTABLE as error:
            return await self._one(visitor, user, Mistake.from_error("remove", error, form))
        return await self._shell.go(_MEMBERS, Flash(f"{user.email} was removed. Their links stay."))

    async def _find(self, visitor: Visitor, user_id: str) -> User:
        return await self._users.get(visitor.workspace_id, parse_id(user_id, "user"))

    async def _list(
        self, visitor: Visitor, mistake: Mistake | None = None, invited: dict[str, Any] | None = None
    ) -> Response:
        status = 200 if mistake is None else mistake.status
        return await self._shell.page(
            visitor,
            "dashboard/members.html",
            "members",
            201 if invited is not None else status,
            users=await self._users.list(visitor.workspace_id),
            invitations=await self._invitations.list(visitor.workspace_id),
            roles=get_args(Role),
            mistake=mistake,
            invited=invited,
        )

    async def _one(self, visitor: Visitor, user: User, mistake: Mistake | None = None) -> Response:
        is_self = visitor.actor.user_id == user.id
        return await self._shell.page(
            visitor,
            "dashboard/member.html",
            "members",
            200 if mistake is None else mistake.status,
            user=user,
            is_self=is_self,
            may_touch=not user.is_operator or visitor.may(OPERATOR) or is_self,
            roles=get_args(Role),
            shortest=SHORTEST_PASSWORD,
            mistake=mistake,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        one = _MEMBERS + "/{user_id}"
        router.add_api_route(_MEMBERS, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_MEMBERS, self.invite, methods=["POST"])
        router.add_api_route(
            _MEMBERS + "/invitations/{invitation_id}/withdraw", self.withdraw, methods=["POST"]
        )
        router.add_api_route(one, self.show_one, methods=["GET", "HEAD"])
        router.add_api_route(one, self.change, methods=["POST"])
        router.add_api_route(one + "/password", self.set_password, methods=["POST"])
        router.add_api_route(one + "/remove", self.remove, methods=["POST"])
        return router


def _role(form: Form) -> Role:
    for role in get_args(Role):
        if role == form.get("role"):
            return role  # type: ignore[no-any-return]
    raise ChoiceRefused("role", f"A role is one of {', '.join(get_args(Role))}.")
