"""/api/v1/workspaces: create, list, get, edit, delete; and /api/v1/me, which says who is calling."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from laconic.clicks.keeping import LONGEST_RETENTION_DAYS, PrivacyLevel, shorter, stricter
from laconic.clock import DAY
from laconic.errors import RecordUnknown
from laconic.links.fields import check_status
from laconic.links.model import LONGEST_EXPIRY_HOURS
from laconic.links.retire import delete_links_of
from laconic.settings import Settings
from laconic.storage.database import Transact
from laconic.web.api.answers import API_HEADERS, json_response
from laconic.web.api.authentication import Gate
from laconic.web.api.bodies import read_asked, read_model
from laconic.web.api.once import act_once
from laconic.web.api.openapi import body_of, problems
from laconic.web.api.records import moment_text, parse_cursor, parse_id
from laconic.wiring import Services
from laconic.workspaces.model import ADMIN, OPERATOR, Actor, Workspace, WorkspaceSettings
from laconic.workspaces.tenants import WorkspaceEdit

_LARGEST_PAGE = 200


class WorkspaceChoices(BaseModel):
    """What a workspace may choose. null: as the installation has it."""

    model_config = ConfigDict(extra="forbid")

    deterministic: bool | None = None
    redirect_status: Literal[301, 302, 307, 308] | None = None
    expires_in_hours: Annotated[int, Field(ge=1, le=LONGEST_EXPIRY_HOURS)] | None = None
    click_retention_days: Annotated[int, Field(ge=1, le=LONGEST_RETENTION_DAYS)] | None = None
    privacy: PrivacyLevel | None = None

    def chosen(self) -> dict[str, Any]:
        named = {name: getattr(self, name) for name in self.model_fields_set}
        if "deterministic" in named:
            named["deterministic"] = bool(named["deterministic"])
        if named.get("redirect_status") is not None:
            check_status(named["redirect_status"])
        return named


class WorkspaceRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    slug: str
    settings: WorkspaceChoices = WorkspaceChoices()


class WorkspaceEditRequest(BaseModel):
    """New values; what is not named stays as it is."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = None
    settings: WorkspaceChoices | None = None


class InEffect(BaseModel):
    """What holds for its clicks: a workspace may keep less than the installation does, never more."""

    click_retention_days: int
    privacy: PrivacyLevel


class ShownWorkspace(BaseModel):
    id: str
    name: str
    slug: str
    settings: WorkspaceChoices
    in_effect: InEffect
    created_at: str
    updated_at: str


class NewWorkspace(ShownWorkspace):
    """With a link that makes its first admin, shown this once: null when an Idempotency-Key comes again."""

    invitation_url: str | None


class WorkspacePage(BaseModel):
    items: list[ShownWorkspace]
    next_cursor: str | None


class Me(BaseModel):
    """Who is calling, and what they may do."""

    kind: str
    scopes: list[str]
    workspace: ShownWorkspace
    user_id: str | None
    api_key_id: str | None


def workspace_json(workspace: Workspace, installation: Settings) -> dict[str, Any]:
    chosen = workspace.settings
    kept = shorter(installation.click_retention, chosen.click_retention_days)
    return {
        "id": str(workspace.id),
        "name": workspace.name,
        "slug": workspace.slug,
        "settings": asdict(chosen),
        "in_effect": {
            "click_retention_days": kept // DAY,
            "privacy": stricter(installation.privacy, chosen.privacy),
        },
        "created_at": moment_text(workspace.created_at),
        "updated_at": moment_text(workspace.updated_at),
    }


class WorkspaceRoutes:
    def __init__(self, services: Services, gate: Gate) -> None:
        self._services = services
        self._gate = gate
        self._tenants = services.tenants

    async def me(self, request: Request) -> Response:
        """Who is calling."""
        actor = await self._gate.identify(request)
        return json_response(
            {
                "kind": actor.kind,
                "scopes": sorted(actor.scopes),
                "workspace": self._shown(await self._tenants.get(actor.workspace_id)),
                "user_id": None if actor.user_id is None else str(actor.user_id),
                "api_key_id": None if actor.api_key_id is None else str(actor.api_key_id),
            }
        )

    async def create(self, request: Request) -> Response:
        """For the operator. The answer holds the link by which the workspace's first admin comes in."""
        actor = await self._gate.admit(request, OPERATOR)
        asked, body = await read_asked(request, WorkspaceRequest)
        settings = WorkspaceSettings(**asked.settings.chosen())

        async def act(transact: Transact) -> Workspace:
            return await self._tenants.create(actor, asked.name, asked.slug, settings, transact=transact)

        made = await act_once(self._services, actor, request, body, act, self._shown_again)
        if isinstance(made, Response):
            return made
        token, _ = await self._services.people.invitations.invite(actor, made.id, "admin")
        url = f"{self._services.settings.base_url}/dashboard/invitation/{token}"
        return json_response({**self._shown(made), "invitation_url": url}, 201)

    async def page(
        self,
        request: Request,
        cursor: Annotated[str | None, Query(max_length=30)] = None,
        limit: Annotated[int, Query(ge=1, le=_LARGEST_PAGE)] = 50,
    ) -> Response:
        """One's own workspace; all of them for the operator."""
        actor = await self._gate.identify(request)
        past = parse_cursor(cursor)
        if not actor.may(OPERATOR):
            own = [] if past else [self._shown(await self._tenants.get(actor.workspace_id))]
            return json_response({"items": own, "next_cursor": None})
        found = await self._tenants.page(past, limit + 1)
        more = str(found[limit - 1].id) if len(found) > limit else None
        return json_response({"items": [self._shown(one) for one in found[:limit]], "next_cursor": more})

    async def get(self, request: Request, workspace_id: str) -> Response:
        actor = await self._gate.identify(request)
        found = await self._tenants.get(self._visible(actor, workspace_id))
        return json_response(self._shown(found))

    async def edit(self, request: Request, workspace_id: str) -> Response:
        """Name and settings; in effect for new links within a second."""
        actor = await self._admit_owner(request, workspace_id)
        asked = await read_model(request, WorkspaceEditRequest)
        choices = None if asked.settings is None else asked.settings.chosen()
        after = await self._tenants.change(
            actor, parse_id(workspace_id, "workspace"), WorkspaceEdit(asked.name, choices)
        )
        return json_response(self._shown(after))

    async def delete(self, request: Request, workspace_id: str) -> Response:
        """Keys and sessions end at once; its links answer 410 within minutes. The slug is never given again."""
        actor = await self._admit_owner(request, workspace_id)
        number = parse_id(workspace_id, "workspace")
        await self._tenants.delete(actor, number)
        await delete_links_of(self._services.database, number, cache=self._services.cache)
        return Response(status_code=204, headers=API_HEADERS)

    def _shown(self, workspace: Workspace) -> dict[str, Any]:
        return workspace_json(workspace, self._services.settings)

    def _shown_again(self, workspace: Workspace) -> dict[str, Any]:
        """What a repeated request is answered: the link was shown once."""
        return {**self._shown(workspace), "invitation_url": None}

    async def _admit_owner(self, request: Request, workspace_id: str) -> Actor:
        actor = await self._gate.identify(request)
        self._visible(actor, workspace_id)
        return actor if actor.may(OPERATOR) else self._gate.allow(actor, ADMIN)

    def _visible(self, actor: Actor, workspace_id: str) -> int:
        number = parse_id(workspace_id, "workspace")
        if number != actor.workspace_id and not actor.may(OPERATOR):
            raise RecordUnknown("workspace")
        return number

    def router(self) -> APIRouter:
        router = APIRouter(tags=["workspaces"])
        many, one = "/api/v1/workspaces", "/api/v1/workspaces/{workspace_id}"
        router.add_api_route(
            "/api/v1/me", self.me, methods=["GET"], responses={200: {"model": Me}, **problems(401)}
        )
        router.add_api_route(
            many,
            self.create,
            methods=["POST"],
            status_code=201,
            responses={201: {"model": NewWorkspace}, **problems(400, 401, 403, 409, 413, 415, 422)},
            openapi_extra=body_of(WorkspaceRequest),
        )
        router.add_api_route(
            many, self.page, methods=["GET"], responses={200: {"model": WorkspacePage}, **problems(401, 422)}
        )
        router.add_api_route(
            one, self.get, methods=["GET"], responses={200: {"model": ShownWorkspace}, **problems(401, 404)}
        )
        router.add_api_route(
            one,
            self.edit,
            methods=["PATCH"],
            responses={200: {"model": ShownWorkspace}, **problems(400, 401, 403, 404, 413, 415, 422)},
            openapi_extra=body_of(WorkspaceEditRequest),
        )
        router.add_api_route(
            one,
            self.delete,
            methods=["DELETE"],
            status_code=204,
            responses=problems(401, 403, 404, 422),
        )
        return router
