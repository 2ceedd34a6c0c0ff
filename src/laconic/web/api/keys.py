"""/api/v1/api-keys: make, list, rotate and revoke; /api/v1/sessions: where one is signed in."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from starlette.responses import Response

from laconic.clock import from_datetime
from laconic.errors import ScopeMissing
from laconic.storage.database import Transact
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import read_asked
from laconic.web.api.once import act_once
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.records import moment_text, parse_id
from laconic.wiring import Services
from laconic.workspaces.api_keys import DEFAULT_SCOPES, LONGEST_OVERLAP_SECONDS
from laconic.workspaces.model import OWN_KEYS, Actor, ApiKey, Session

Scope = Literal["links:read", "links:write", "analytics:read", "keys:allocate", "admin", "operator"]
_OVERLAP_SECONDS = 86_400


class KeyRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    scopes: list[Scope] | None = None
    expires_at: AwareDatetime | None = None


class RotationRequest(BaseModel):
    """How long the old secret goes on working beside the new one."""

    model_config = ConfigDict(extra="forbid")

    overlap_seconds: Annotated[int, Field(ge=0, le=LONGEST_OVERLAP_SECONDS)] = _OVERLAP_SECONDS


class ShownKey(BaseModel):
    id: str
    name: str
    key_prefix: str
    scopes: list[str]
    created_by: str | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    is_active: bool
    replaced_by: str | None


class NewKey(ShownKey):
    """With its secret, shown this once: null when an Idempotency-Key comes again."""

    secret: str | None


class KeyList(BaseModel):
    items: list[ShownKey]


class ShownSession(BaseModel):
    id: str
    created_at: str
    expires_at: str
    last_seen_at: str | None
    address: str | None
    user_agent: str | None
    is_current: bool


class SessionList(BaseModel):
    items: list[ShownSession]


def key_json(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "name": key.name,
        "key_prefix": key.key_prefix,
        "scopes": sorted(key.scopes),
        "created_by": None if key.created_by is None else str(key.created_by),
        "created_at": moment_text(key.created_at),
        "expires_at": moment_text(key.expires_at),
        "last_used_at": moment_text(key.last_used_at),
        "is_active": key.is_active,
        "replaced_by": None if key.replaced_by is None else str(key.replaced_by),
    }


def _session_json(session: Session, actor: Actor) -> dict[str, Any]:
    return {
        "id": str(session.id),
        "created_at": moment_text(session.created_at),
        "expires_at": moment_text(session.expires_at),
        "last_seen_at": moment_text(session.last_seen_at),
        "address": session.address,
        "user_agent": session.user_agent,
        "is_current": session.id == actor.session_id,
    }


def _key_again(made: tuple[str, ApiKey]) -> dict[str, Any]:
    """What a repeated request is answered: the secret was shown once, and is kept nowhere."""
    return {**key_json(made[1]), "secret": None}


def _new_key(made: tuple[str, ApiKey] | Response) -> Response:
    if isinstance(made, Response):
        return made
    return json_response({**key_json(made[1]), "secret": made[0]}, 201)


class KeyRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._keys = services.api_keys
        self._gate = gate

    async def list(self, request: Request) -> Response:
        """Keys of the workspace for its admins, one's own for others; never their secrets."""
        actor = await self._gate.admit(request, OWN_KEYS)
        return json_response({"items": [key_json(one) for one in await self._keys.list(actor)]})

    async def create(self, request: Request) -> Response:
        """Makes a key. Its secret is in this answer and nowhere else, ever."""
        actor = await self._gate.admit(request, OWN_KEYS)
        asked, body = await read_asked(request, KeyRequest)

        async def act(transact: Transact) -> tuple[str, ApiKey]:
            return await self._keys.create(
                actor.workspace_id,
                asked.name,
                DEFAULT_SCOPES if asked.scopes is None else frozenset(asked.scopes),
                created_by=actor.user_id,
                expires_at=None if asked.expires_at is None else from_datetime(asked.expires_at),
                actor=actor,
                transact=transact,
            )

        made = await act_once(self._services, actor, request, body, act, _key_again)
        return _new_key(made)

    async def get(self, request: Request, key_id: str) -> Response:
        actor = await self._gate.admit(request, OWN_KEYS)
        return json_response(key_json(await self._keys.get(actor, parse_id(key_id, "API key"))))

    async def rotate(self, request: Request, key_id: str) -> Response:
        """A new secret; the old one works for the overlap, so that programs can be changed one by one."""
        actor = await self._gate.admit(request, OWN_KEYS)
        number = parse_id(key_id, "API key")
        asked, body = await read_asked(request, RotationRequest)

        async def act(transact: Transact) -> tuple[str, ApiKey]:
            return await self._keys.rotate(actor, number, asked.overlap_seconds, transact=transact)

        made = await act_once(self._services, actor, request, body, act, _key_again)
        return _new_key(made)

    async def revoke(self, request: Request, key_id: str) -> Response:
        """Every worker refuses it within a second."""
        actor = await self._gate.admit(request, OWN_KEYS)
        await self._keys.revoke(actor, parse_id(key_id, "API key"))
        return Response(status_code=204, headers=API_HEADERS)

    async def sessions(self, request: Request) -> Response:
        """The browsers in which one is signed in."""
        actor, user_id = await self._person(request)
        found = await self._services.people.sessions.list(actor.workspace_id, user_id)
        return json_response({"items": [_session_json(one, actor) for one in found]})

    async def end_session(self, request: Request, session_id: str) -> Response:
        """Signs one browser out."""
        actor, user_id = await self._person(request)
        await self._services.people.sessions.end(actor, user_id, parse_id(session_id, "session"))
        return Response(status_code=204, headers=API_HEADERS)

    async def end_sessions(self, request: Request) -> Response:
        """Signs out everywhere, here too."""
        actor, user_id = await self._person(request)
        people = self._services.people
        await people.sessions.end_all(actor, await people.users.get(actor.workspace_id, user_id))
        return Response(status_code=204, headers=API_HEADERS)

    async def _person(self, request: Request) -> tuple[Actor, int]:
        """Sessions are a person's own: no key of a program gets at them."""
        actor = await self._gate.identify(request)
        if actor.kind != "user" or actor.user_id is None:
            raise ScopeMissing("user")
        return actor, actor.user_id

    def router(self) -> APIRouter:
        router = APIRouter()
        keys, one = "/api/v1/api-keys", "/api/v1/api-keys/{key_id}"
        router.add_api_route(
            keys,
            self.list,
            methods=["GET"],
            responses={200: {"model": KeyList}, **problems(401, 403)},
            tags=["API keys"],
        )
        router.add_api_route(
            keys,
            self.create,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": NewKey}, **problems(400, 401, 403, 413, 415, 422)},
            openapi_extra=body_of(KeyRequest),
            tags=["API keys"],
        )
        router.add_api_route(
            one,
            self.get,
            methods=["GET"],
            responses={200: {"model": ShownKey}, **problems(401, 403, 404)},
            tags=["API keys"],
        )
        router.add_api_route(
            one + "/rotate",
            self.rotate,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": NewKey}, **problems(400, 401, 403, 404, 413, 415, 422)},
            openapi_extra=body_of(RotationRequest),
            tags=["API keys"],
        )
        router.add_api_route(
            one,
            self.revoke,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404),
            tags=["API keys"],
        )
        sessions = "/api/v1/sessions"
        router.add_api_route(
            sessions,
            self.sessions,
            methods=["GET"],
            responses={200: {"model": SessionList}, **problems(401, 403)},
            tags=["people"],
        )
        router.add_api_route(
            sessions,
            self.end_sessions,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403),
            tags=["people"],
        )
        router.add_api_route(
            sessions + "/{session_id}",
            self.end_session,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404),
            tags=["people"],
        )
        return router
