"""/api/v1/users and /api/v1/invitations: the people of a workspace, for its admins; a person's own record at /me."""

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from laconic.errors import ScopeMissing
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import read_model
from laconic.web.api.links import API_HEADERS, json_response
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.records import moment_text, parse_id
from laconic.wiring import Services
from laconic.workspaces.model import ADMIN, Invitation, Role, User
from laconic.workspaces.people.users import UserDraft, UserEdit


class UserRequest(BaseModel):
    """Without a password the person signs in through the identity provider."""

    model_config = ConfigDict(extra="forbid")

    email: str
    role: Role = "member"
    full_name: str | None = None
    password: str | None = None


class UserEditRequest(BaseModel):
    """New values; what is not named stays as it is."""

    model_config = ConfigDict(extra="forbid")

    full_name: str | None = None
    role: Role | None = None
    password: str | None = None


class OwnEditRequest(BaseModel):
    """What people may change of themselves. A new password needs the current one."""

    model_config = ConfigDict(extra="forbid")

    full_name: str | None = None
    password: str | None = None
    current_password: str | None = None


class InvitationRequest(BaseModel):
    """With an e-mail the link is for that person; without, for whoever has it."""

    model_config = ConfigDict(extra="forbid")

    role: Role = "member"
    email: str | None = None


class ShownUser(BaseModel):
    id: str
    email: str
    full_name: str | None
    role: Role
    is_operator: bool
    has_password: bool
    created_at: str
    updated_at: str
    last_login_at: str | None


class UserList(BaseModel):
    items: list[ShownUser]


class ShownInvitation(BaseModel):
    id: str
    email: str | None
    role: Role
    created_at: str
    expires_at: str


class NewInvitation(ShownInvitation):
    """With its link, shown this once."""

    url: str


class InvitationList(BaseModel):
    items: list[ShownInvitation]


def user_json(user: User) -> dict[str, Any]:
    return {
        "id": str(user.id),
        "email": user.email,
        "full_name": user.full_name,
        "role": user.role,
        "is_operator": user.is_operator,
        "has_password": user.password_hash is not None,
        "created_at": moment_text(user.created_at),
        "updated_at": moment_text(user.updated_at),
        "last_login_at": moment_text(user.last_login_at),
    }


def invitation_json(invitation: Invitation) -> dict[str, Any]:
    return {
        "id": str(invitation.id),
        "email": invitation.email,
        "role": invitation.role,
        "created_at": moment_text(invitation.created_at),
        "expires_at": moment_text(invitation.expires_at),
    }


class UserRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._users = services.people.users
        self._invitations = services.people.invitations
        self._base_url = services.settings.base_url
        self._gate = gate

    async def list(self, request: Request) -> Response:
        """The people of the workspace."""
        actor = await self._gate.admit(request, ADMIN)
        return json_response(
            {"items": [user_json(one) for one in await self._users.list(actor.workspace_id)]}
        )

    async def create(self, request: Request) -> Response:
        """Makes a user at once. People who choose their own password are invited instead."""
        actor = await self._gate.admit(request, ADMIN)
        asked = await read_model(request, UserRequest)
        draft = UserDraft(asked.email, asked.role, asked.full_name, asked.password)
        return json_response(user_json(await self._users.create(actor, actor.workspace_id, draft)), 201)

    async def get(self, request: Request, user_id: str) -> Response:
        actor = await self._gate.admit(request, ADMIN)
        return json_response(user_json(await self._users.get(actor.workspace_id, parse_id(user_id, "user"))))

    async def edit(self, request: Request, user_id: str) -> Response:
        """Role, name, or a new password, which ends the person's sessions."""
        actor = await self._gate.admit(request, ADMIN)
        asked = await read_model(request, UserEditRequest)
        edit = UserEdit(frozenset(asked.model_fields_set), asked.full_name, asked.role, asked.password)
        after = await self._users.change(actor, actor.workspace_id, parse_id(user_id, "user"), edit)
        return json_response(user_json(after))

    async def delete(self, request: Request, user_id: str) -> Response:
        """Ends the person's sessions and API keys, too. Links that they have made stay."""
        actor = await self._gate.admit(request, ADMIN)
        await self._users.delete(actor, actor.workspace_id, parse_id(user_id, "user"))
        return Response(status_code=204, headers=API_HEADERS)

    async def edit_me(self, request: Request) -> Response:
        """One's own name and password; for people, not for programs."""
        actor = await self._gate.identify(request)
        if actor.kind != "user" or actor.user_id is None:
            raise ScopeMissing("user")
        asked = await read_model(request, OwnEditRequest)
        if "password" in asked.model_fields_set:
            await self._users.check_password(actor.workspace_id, actor.user_id, asked.current_password or "")
        edit = UserEdit(frozenset(asked.model_fields_set), asked.full_name, None, asked.password)
        after = await self._users.change(actor, actor.workspace_id, actor.user_id, edit)
        return json_response(user_json(after))

    async def invitations(self, request: Request) -> Response:
        """Those that nobody has used yet."""
        actor = await self._gate.admit(request, ADMIN)
        found = await self._invitations.list(actor.workspace_id)
        return json_response({"items": [invitation_json(one) for one in found]})

    async def invite(self, request: Request) -> Response:
        """Makes a link that makes a user, once, within a week. Send it as you like: no mail server is needed."""
        actor = await self._gate.admit(request, ADMIN)
        asked = await read_model(request, InvitationRequest)
        token, made = await self._invitations.invite(actor, actor.workspace_id, asked.role, asked.email)
        url = f"{self._base_url}/dashboard/invitation/{token}"
        return json_response({**invitation_json(made), "url": url}, 201)

    async def withdraw(self, request: Request, invitation_id: str) -> Response:
        """The link works no more."""
        actor = await self._gate.admit(request, ADMIN)
        number = parse_id(invitation_id, "invitation")
        await self._invitations.withdraw(actor, actor.workspace_id, number)
        return Response(status_code=204, headers=API_HEADERS)

    def router(self) -> APIRouter:
        router = APIRouter(tags=["people"])
        users, one = "/api/v1/users", "/api/v1/users/{user_id}"
        writes = (400, 401, 403, 409, 413, 415, 422)
        router.add_api_route(
            users, self.list, methods=["GET"], responses={200: {"model": UserList}, **problems(401, 403)}
        )
        router.add_api_route(
            users,
            self.create,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": ShownUser}, **problems(*writes)},
            openapi_extra=body_of(UserRequest),
        )
        router.add_api_route(
            one, self.get, methods=["GET"], responses={200: {"model": ShownUser}, **problems(401, 403, 404)}
        )
        router.add_api_route(
            one,
            self.edit,
            methods=["PATCH"],
            responses={200: {"model": ShownUser}, **problems(*writes, 404)},
            openapi_extra=body_of(UserEditRequest),
        )
        router.add_api_route(
            one, self.delete, methods=["DELETE"], status_code=204, responses=problems(401, 403, 404, 409)
        )
        router.add_api_route(
            "/api/v1/me",
            self.edit_me,
            methods=["PATCH"],
            responses={200: {"model": ShownUser}, **problems(*writes)},
            openapi_extra=body_of(OwnEditRequest),
        )
        invitations = "/api/v1/invitations"
        router.add_api_route(
            invitations,
            self.invitations,
            methods=["GET"],
            responses={200: {"model": InvitationList}, **problems(401, 403)},
        )
        router.add_api_route(
            invitations,
            self.invite,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": NewInvitation}, **problems(*writes)},
            openapi_extra=body_of(InvitationRequest),
        )
        router.add_api_route(
            invitations + "/{invitation_id}",
            self.withdraw,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404),
        )
        return router
