"""/dashboard/settings: the workspace's name, what its new links are like, what is kept of clicks, and its end. For admins."""

from typing import Any, Final, get_args

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clicks.keeping import LONGEST_RETENTION_DAYS, PrivacyLevel, shorter, stricter
from laconic.clock import DAY
from laconic.errors import ChoiceRefused
from laconic.links.fields import check_status
from laconic.links.model import LONGEST_EXPIRY_HOURS
from laconic.links.retire import delete_links_of
from laconic.redirect.model import REDIRECT_STATUSES
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.navigation import SIGN_IN
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash
from laconic.web.pages.forms import Form
from laconic.workspaces.model import ADMIN, DEFAULT_WORKSPACE_ID, LONGEST_NAME
from laconic.workspaces.tenants import WorkspaceEdit

_SETTINGS = "/dashboard/settings"
# What a field may hold, in the words that stand beside it when it does not.
_ALLOWED: Final = {
    "name": f"A name has 1 to {LONGEST_NAME} printable characters.",
    "redirect_status": "A redirect is 301, 302, 307 or 308.",
    "expires_in_hours": f"Links live 1 to {LONGEST_EXPIRY_HOURS} hours, or for ever.",
    "click_retention_days": f"Single clicks are kept for 1 to {LONGEST_RETENTION_DAYS} days.",
    "privacy": "Of an address all is kept, the network or nothing.",
}


class SettingsRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services

    async def show(self, request: Request) -> Response:
        return await self._page(await self._shell.enter(request, ADMIN))

    async def save(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, ADMIN)
        try:
            edit = WorkspaceEdit(form.get("name"), _choices(form))
            await self._services.tenants.change(visitor.actor, visitor.workspace_id, edit)
        except CORRECTABLE as error:
            return await self._page(visitor, Mistake.from_error("settings", error, form))
        return await self._shell.go(_SETTINGS, Flash("Saved. New links follow within a second."))

    async def delete(self, request: Request) -> Response:
        """Nobody gets in any more, the caller neither: only with the workspace's slug, typed in."""
        visitor, form = await self._shell.receive(request, ADMIN)
        workspace = visitor.workspace
        try:
            if form.get("slug").strip() != workspace.slug:
                raise ChoiceRefused("slug", f"Type {workspace.slug} to say that you mean it.")
            await self._services.tenants.delete(visitor.actor, workspace.id)
        except CORRECTABLE as error:
            return await self._page(visitor, Mistake.from_error("delete", error, form))
        await delete_links_of(self._services.database, workspace.id, cache=self._services.cache)
        return await self._shell.go(SIGN_IN)

    async def _page(self, visitor: Visitor, mistake: Mistake | None = None) -> Response:
        settings, chosen = self._services.settings, visitor.workspace.settings
        return await self._shell.page(
            visitor,
            "dashboard/settings.html",
            "settings",
            200 if mistake is None else mistake.status,
            chosen=chosen,
            allowed=_ALLOWED,
            statuses=sorted(REDIRECT_STATUSES),
            usual_status=settings.redirect_status,
            longest_name=LONGEST_NAME,
            longest_hours=LONGEST_EXPIRY_HOURS,
            longest_days=LONGEST_RETENTION_DAYS,
            levels=get_args(PrivacyLevel),
            usual_level=settings.privacy,
            level=stricter(settings.privacy, chosen.privacy),
            usual_days=settings.click_retention // DAY,
            days=shorter(settings.click_retention, chosen.click_retention_days) // DAY,
            may_be_deleted=visitor.workspace_id != DEFAULT_WORKSPACE_ID,
            mistake=mistake,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_SETTINGS, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_SETTINGS, self.save, methods=["POST"])
        router.add_api_route(_SETTINGS + "/delete", self.delete, methods=["POST"])
        return router


def _choices(form: Form) -> dict[str, Any]:
    """An empty field takes a choice back."""
    status = _number(form, "redirect_status")
    if status is not None:
        check_status(status)
    return {
        "deterministic": form.get("deterministic") == "yes",
        "redirect_status": status,
        "expires_in_hours": _number(form, "expires_in_hours", LONGEST_EXPIRY_HOURS),
        "click_retention_days": _number(form, "click_retention_days", LONGEST_RETENTION_DAYS),
        "privacy": _level(form),
    }


def _number(form: Form, name: str, most: int = 99_999_999) -> int | None:
    text = form.get(name).strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 9 and 1 <= int(text) <= most):
        raise ChoiceRefused(name, _ALLOWED[name])
    return int(text)


def _level(form: Form) -> str | None:
    level = form.get("privacy")
    if level and level not in get_args(PrivacyLevel):
        raise ChoiceRefused("privacy", _ALLOWED["privacy"])
    return level or None
