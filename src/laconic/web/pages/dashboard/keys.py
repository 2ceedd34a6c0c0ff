"""/dashboard/keys: API keys, one's own or, for admins, all of the workspace. A secret is shown once."""

from dataclasses import dataclass
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import DAY, now
from laconic.errors import ChoiceRefused
from laconic.redirect.model import is_expired
from laconic.web.api.records import parse_id
from laconic.web.pages.dashboard.mistakes import CORRECTABLE, Mistake
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash
from laconic.workspaces.api_keys import DEFAULT_SCOPES, LONGEST_OVERLAP_SECONDS
from laconic.workspaces.model import ADMIN, OWN_KEYS, ApiKey

_KEYS = "/dashboard/keys"
_LONGEST_DAYS = 3_650

SCOPE_WORDS: Final = {
    "links:read": "read links",
    "links:write": "make, change and delete links",
    "analytics:read": "read statistics",
    "keys:allocate": "take codes ahead",
    "admin": "everything in this workspace: people, keys, settings, audit trail",
    "operator": "everything in this installation",
}


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key, in the words of a list."""

    key: ApiKey
    state: str
    made_by: str | None

    @property
    def is_usable(self) -> bool:
        return self.state in ("works", "replaced")


class ApiKeyRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._keys = shell.services.api_keys
        self._users = shell.services.people.users

    async def show(self, request: Request) -> Response:
        return await self._list(await self._shell.enter(request, OWN_KEYS))

    async def create(self, request: Request) -> Response:
        """The secret is in this answer and nowhere else, so the answer is the page itself and not a way to it."""
        visitor, form = await self._shell.receive(request, OWN_KEYS)
        try:
            secret, key = await self._keys.create(
                visitor.workspace_id,
                form.get("name"),
                frozenset(form.all("scope")),
                created_by=visitor.actor.user_id,
                expires_at=_expiry(form.get("days")),
                actor=visitor.actor,
            )
        except CORRECTABLE as error:
            return await self._list(visitor, Mistake.from_error("create", error, form))
        return await self._list(visitor, made={"secret": secret, "name": key.name, "is_rotation": False})

    async def rotate(self, request: Request, key_id: str) -> Response:
        visitor, form = await self._shell.receive(request, OWN_KEYS)
        old = await self._keys.get(visitor.actor, parse_id(key_id, "API key"))
        try:
            secret, key = await self._keys.rotate(visitor.actor, old.id, _overlap(form.get("overlap")))
        except CORRECTABLE as error:
            return await self._list(visitor, Mistake.from_error("rotate", error, form))
        return await self._list(visitor, made={"secret": secret, "name": key.name, "is_rotation": True})

    async def revoke(self, request: Request, key_id: str) -> Response:
        visitor, _ = await self._shell.receive(request, OWN_KEYS)
        key = await self._keys.revoke(visitor.actor, parse_id(key_id, "API key"))
        return await self._shell.go(
            _KEYS, Flash(f"The key {key.name} is revoked: every worker refuses it within a second.")
        )

    async def _list(
        self, visitor: Visitor, mistake: Mistake | None = None, made: dict[str, Any] | None = None
    ) -> Response:
        status = 200 if mistake is None else mistake.status
        names = {}
        if visitor.may(ADMIN):
            names = {user.id: user.email for user in await self._users.list(visitor.workspace_id)}
        keys = await self._keys.list(visitor.actor)
        shown = [_shown(key, names) for key in reversed(keys)]
        return await self._shell.page(
            visitor,
            "dashboard/keys.html",
            "keys",
            201 if made is not None else status,
            keys=sorted(shown, key=lambda one: not one.is_usable),
            scopes={scope: words for scope, words in SCOPE_WORDS.items() if visitor.may(scope)},
            chosen=DEFAULT_SCOPES if mistake is None else mistake.given.get("scope", ()),
            base_url=self._shell.services.settings.base_url,
            mistake=mistake,
            made=made,
        )

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_KEYS, self.show, methods=["GET", "HEAD"])
        router.add_api_route(_KEYS, self.create, methods=["POST"])
        router.add_api_route(_KEYS + "/{key_id}/rotate", self.rotate, methods=["POST"])
        router.add_api_route(_KEYS + "/{key_id}/revoke", self.revoke, methods=["POST"])
        return router


def _shown(key: ApiKey, names: dict[int, str]) -> ShownKey:
    made_by = None if key.created_by is None else names.get(key.created_by)
    if not key.is_active:
        return ShownKey(key, "revoked", made_by)
    if is_expired(key.expires_at, now()):
        return ShownKey(key, "expired", made_by)
    return ShownKey(key, "works" if key.replaced_by is None else "replaced", made_by)


def _expiry(days: str) -> int | None:
    if not days:
        return None
    if not (days.isascii() and days.isdigit() and 0 < int(days[:9]) <= _LONGEST_DAYS):
        raise ChoiceRefused("days", f"A key lives 1 to {_LONGEST_DAYS} days, or until it is revoked.")
    return now() + int(days) * DAY


def _overlap(seconds: str) -> int:
    if seconds.isascii() and seconds.isdigit() and int(seconds[:9]) <= LONGEST_OVERLAP_SECONDS:
        return int(seconds)
    raise ChoiceRefused("overlap", "The old secret goes on for 30 days at most.")
