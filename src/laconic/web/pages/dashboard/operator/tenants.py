"""/dashboard/operator/workspaces: all tenants of the installation, new ones, and who is in each."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.errors import ChoiceRefused
from laconic.links.retire import delete_links_of
from laconic.web.api.records import parse_cursor, parse_id
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, OPERATOR, Workspace
from laconic.workspaces.tenants import WorkspaceEdit

_PAGE = 50
_WORKSPACES = "/dashboard/operator/workspaces"


class TenantRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services
        self._tenants = shell.services.tenants

    async def show(self, request: Request) -> Response:
        return await self._list(await self._shell.enter(request, OPERATOR))

    async def create(self, request: Request) -> Response:
        """With the link by which its first admin comes in, which is in this answer and nowhere else."""
        visitor, form = await self._shell.receive(request, OPERATOR)
        try:
            made = await self._tenants.create(visitor.actor, form.get("name"), form.get("slug").strip())
        except CORRECTABLE as error:
            return await self._list(visitor, Mistake.from_error("create", error, form))
        return await self._one(visitor, made, invited=await self._invite(visitor, made), status=201)

    async def show_one(self, request: Request, workspace_id: str) -> Response:
        visitor = await self._shell.enter(request, OPERATOR)
        return await self._one(visitor, await self._find(workspace_id))

    async def rename(self, request: Request, workspace_id: str) -> Response:
        visitor, form = await self._shell.receive(request, OPERATOR)
        workspace = await self._find(workspace_id)
        try:
            await self._tenants.change(visitor.actor, workspace.id, WorkspaceEdit(form.get("name")))
        except CORRECTABLE as error:
            return await self._one(visitor, workspace, Mistake.from_error("rename", error, form))
        return await self._shell.go(f"{_WORKSPACES}/{workspace.id}", Flash("Saved."))

    async def invite(self, request: Request, workspace_id: str) -> Response:
        """A way in for a workspace whose admins cannot come in any more."""
        visitor, _ = await self._shell.receive(request, OPERATOR)
        workspace = await self._find(workspace_id)
        return await self._one(visitor, workspace, invited=await self._invite(visitor, workspace), status=201)

    async def delete(self, request: Request, workspace_id: str) -> Response:
        visitor, form = await self._shell.receive(request, OPERATOR)
        workspace = await self._find(workspace_id)
        try:
            if form.get("slug").strip() != workspace.slug:
                raise ChoiceRefused("slug", f"Type {workspace.slug} to say that you mean it.")
            await self._tenants.delete(visitor.actor, workspace.id)
        except CORRECTABLE as error:
            return await self._one(visitor, workspace, Mistake.from_error("delete", error, form))
        await delete_links_of(self._services.database, workspace.id, cache=self._services.cache)
        return await self._shell.go(_WORKSPACES, Flash(f"The workspace {workspace.slug} was deleted."))

    async def _invite(self, visitor: Visitor, workspace: Workspace) -> str:
        token, _ = await self._services.people.invitations.invite(visitor.actor, workspace.id, "admin")
        return f"{self._services.settings.base_url}/dashboard/invitation/{token}"

    async def _find(self, workspace_id: str) -> Workspace:
        return await self._tenants.get(parse_id(workspace_id, "workspace"))

    async def _list(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        cursor = visitor.request.query_params.get("cursor")
        found = await self._tenants.page(parse_cursor(cursor), _PAGE + 1)
        shown = found[:_PAGE]
        return await self._shell.page(
            visitor,
            "dashboard/operator/workspaces.html",
            "workspaces",
            200 if mistake is None else mistake.status,
            workspaces=shown,
            first=_WORKSPACES if cursor else None,
            next=f"{_WORKSPACES}?cursor={shown[-1].id}" if len(found) > _PAGE else None,
            mistake=mistake,
        )

    async def _one(
        self,
        visitor: Visitor,
        workspace: Workspace,
        mistake: Mistake | None = None,
        *,
        invited: str | None = None,
        status: int = 200,
    ) -> Response:
        values: dict[str, Any] = {
            "tenant": workspace,
            "users": await self._services.people.users.list(workspace.id),
            "may_be_deleted": workspace.id != DEFAULT_WORKSPACE_ID,
            "invited": invited,
        }
        return await self._shell.page(
            visitor,
            "dashboard/operator/workspace.html",
            "workspaces",
            status if mistake is None else mistake.status,
            mistake=mistake,
            **values,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        one = _WORKSPACES + "/{workspace_id}"
        router.add_api_route(_WORKSPACES, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_WORKSPACES, self.create, methods=["POST"])
        router.add_api_route(one, self.show_one, methods=["GET", "HEAD"])
        router.add_api_route(one, self.rename, methods=["POST"])
        router.add_api_route(one + "/invite", self.invite, methods=["POST"])
        router.add_api_route(one + "/delete", self.delete, methods=["POST"])
        return router
