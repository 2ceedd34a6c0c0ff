"""/api/v1/users and /api/v1/invitations: the people of a workspace, for its admins; a person's own record at /me."""

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict
from starlette.responses import Response

from laconic.errors import ScopeMissing
from laconic.storage.database import Transact
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import read_asked, read_model
from laconic.web.api.once import act_once
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.records import moment_text, parse_id
from laconic.wiring import Services
from laconic.workspaces.model import ADMIN, Invitation, Role, User
from laconic.workspaces.people.users import UserDraft, UserEdit
from laconic.workspaces.resets.reset import Reset


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
    """With its link, shown this once: null when an Idempotency-Key comes again. `mailed`: a mail server has taken it."""

    url: str | None
    mailed: bool


class ResetLink(BaseModel):
    """A link by which the person chooses a new password, shown this once: null when an Idempotency-Key comes again."""

    url: str | None
    expires_at: str
    mailed: bool


class ResetRequest(BaseModel):
    """An empty object."""

    model_config = ConfigDict(extra="forbid")


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


def _invitation_again(made: tuple[str, Invitation]) -> dict[str, Any]:
    """What a repeated request is answered: the link was shown once."""
    return {**invitation_json(made[1]), "url": None, "mailed": False}


def _reset_again(made: Reset) -> dict[str, Any]:
    return {"url": None, "expires_at": moment_text(made.expires_at), "mailed": False}


class UserRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._users = services.people.users
        self._invitations = services.people.invitations
        self._resets = services.people.resets
        self._letters = services.people.letters
        self._tenants = services.tenants
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
        asked, body = await read_asked(request, UserRequest)
        draft = UserDraft(asked.email, asked.role, asked.full_name, asked.password)

        async def act(transact: Transact) -> User:
            return await self._users.create(actor, actor.workspace_id, draft, transact=transact)

        made = await act_once(self._services, actor, request, body, act, user_json)
        return made if isinstance(made, Response) else json_response(user_json(made), 201)

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
        """Makes a link that makes a user, once, within a week. With a mail server and an e-mail it is sent to that
        person; otherwise send it as you like."""
        actor = await self._gate.admit(request, ADMIN)
        asked, body = await read_asked(request, InvitationRequest)

        async def act(transact: Transact) -> tuple[str, Invitation]:
            return await self._invitations.invite(
                actor, actor.workspace_id, asked.role, asked.email, transact=transact
            )

        found = await act_once(self._services, actor, request, body, act, _invitation_again)
        if isinstance(found, Response):
            return found
        token, made = found
        workspace = await self._tenants.get(actor.workspace_id)
        # It is made: whatever becomes of the mail, the link is in the answer.
        mailed = await self._letters.invite(made, workspace.name, token)
        shown = {**invitation_json(made), "url": self._letters.invitation_url(token), "mailed": mailed}
        return json_response(shown, 201)

    async def reset(self, request: Request, user_id: str) -> Response:
        """Makes a link by which the person chooses a new password, once, within a day; with a mail server it is sent.
        The old password works until then."""
        actor = await self._gate.admit(request, ADMIN)
        _, body = await read_asked(request, ResetRequest)
        number = parse_id(user_id, "user")

        async def act(transact: Transact) -> Reset:
            return await self._resets.make(actor, actor.workspace_id, number, transact=transact)

        made = await act_once(self._services, actor, request, body, act, _reset_again)
        if isinstance(made, Response):
            return made
        mailed = await self._letters.reset(made.user, made.token)
        shown = {"url": self._letters.reset_url(made.token), "expires_at": moment_text(made.expires_at)}
        return json_response({**shown, "mailed": mailed}, 201)

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
            one + "/password-reset",
            self.reset,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": ResetLink}, **problems(*writes, 404)},
            openapi_extra=body_of(ResetRequest),
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
