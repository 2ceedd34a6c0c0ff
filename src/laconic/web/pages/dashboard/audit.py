"""/dashboard/audit: who changed what, when and from where. For admins."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import from_datetime
from laconic.web.api.audit import read_cursor
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.workspaces.audit.store import AuditEvent, AuditQuery
from laconic.workspaces.model import ADMIN

_PAGE = 50
_AUDIT = "/dashboard/audit"
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_ID = re.compile("[0-9]{1,18}")
_LONGEST_VALUE = 200

# What was done, in words that go on with its subject.
ACTION_WORDS: Final = {
    "link.create": "made the link",
    "link.change": "changed the link",
    "link.delete": "deleted the link",
    "link.restore": "took back the deletion of",
    "link.import": "imported links",
    "link.take_down": "took down the link",
    "link.put_back": "put back the link",
    "api_key.create": "made the API key",
    "api_key.rotate": "rotated the API key",
    "api_key.revoke": "revoked the API key",
    "user.create": "joined or was added:",
    "user.change": "changed the member",
    "user.delete": "removed the member",
    "user.reset_link": "made a link for a new password of",
    "user.reset": "chose a new password:",
    "invitation.create": "made an invitation",
    "invitation.withdraw": "withdrew an invitation",
    "session.start": "signed in:",
    "session.end": "signed a browser out",
    "session.end_all": "signed out everywhere:",
    "session.refuse": "tried to sign in and failed:",
    "domain.add": "added the domain",
    "domain.prove": "proved the domain",
    "domain.trust": "vouched for the domain",
    "domain.change": "changed the domain",
    "domain.remove": "gave up the domain",
    "domain.lapse": "found the proof missing of the domain",
    "domain.renew": "found the proof again of the domain",
    "domain.end": "ended the domain",
    "workspace.create": "made the workspace",
    "workspace.change": "changed the workspace",
    "workspace.delete": "deleted the workspace",
}
_KIND_WORDS: Final = {
    "open": "Somebody in open mode",
    "anyone": "Somebody",
    "command": "The command line",
    "operator": "The operator of the installation",
    "system": "Laconic itself",
}


@dataclass(frozen=True, slots=True)
class Filter:
    """What the page's form asks for; a field that makes no sense is left out."""

    action: str
    actor: str
    since: str
    until: str

    @classmethod
    def from_request(cls, request: Request) -> "Filter":
        asked = request.query_params
        action, actor = asked.get("action", ""), asked.get("actor", "")
        return cls(
            action if action in ACTION_WORDS else "",
            actor if _ID.fullmatch(actor) else "",
            # With the day after: that is what "until" means.
            *(asked[name] if _moment(asked.get(name, ""), 1) else "" for name in ("since", "until")),
        )

    def query(self, past: tuple[int, int] | None) -> AuditQuery:
        return AuditQuery(
            action=self.action or None,
            actor_id=int(self.actor) if self.actor else None,
            created_from=_moment(self.since),
            created_to=_moment(self.until, days=1),
            past=past,
        )

    def for_page(self, **more: str) -> str:
        return _with_query(_AUDIT, {"action": self.action, "actor": self.actor, "since": self.since, "until": self.until, **more})  # fmt: skip

    def for_export(self, form: str) -> str:
        """The API's own export, which a browser opens with its session."""
        created_to = "" if not self.until else f"{_day(self.until, 1)}T00:00:00Z"
        created_from = "" if not self.since else f"{self.since}T00:00:00Z"
        asked = {"format": form, "action": self.action, "actor_id": self.actor}
        return _with_query(
            "/api/v1/audit/export", {**asked, "created_from": created_from, "created_to": created_to}
        )


@dataclass(frozen=True, slots=True)
class ShownEvent:
    event: AuditEvent
    who: str
    words: str
    changes: list[tuple[str, str | None, str | None]]


class AuditPageRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services

    async def show(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, ADMIN)
        asked = Filter.from_request(request)
        cursor = request.query_params.get("cursor")
        query = asked.query(read_cursor(cursor))
        found = await self._services.audit.page(visitor.workspace_id, query, _PAGE + 1)
        shown = found[:_PAGE]
        names = await self._names(visitor)
        more = f"{shown[-1].created_at}-{shown[-1].id}" if len(found) > _PAGE else None
        return await self._shell.page(
            visitor,
            "dashboard/audit.html",
            "audit",
            events=[_shown(event, names) for event in shown],
            asked=asked,
            actions=ACTION_WORDS,
            people=sorted(names.items(), key=lambda one: one[1].lower()),
            first=asked.for_page() if cursor else None,
            next=None if more is None else asked.for_page(cursor=more),
            is_filtered=asked != Filter("", "", "", ""),
        )

    async def _names(self, visitor: Visitor) -> dict[int, str]:
        """Of the people and the keys that are still there."""
        users = await self._services.people.users.list(visitor.workspace_id)
        keys = await self._services.api_keys.list(visitor.actor)
        return {key.id: f"API key {key.name}" for key in keys} | {user.id: user.email for user in users}

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(_AUDIT, self.show, methods=["GET", "HEAD"])
        return router


def _shown(event: AuditEvent, names: dict[int, str]) -> ShownEvent:
    who = _KIND_WORDS.get(event.actor_kind)
    if who is None:
        kind = "API key" if event.actor_kind == "api_key" else "user"
        who = names.get(event.actor_id or 0) or f"A former {kind}"
    before, after = _fields(event.before), _fields(event.after)
    changes = [
        (name, _text(before[name]) if name in before else None, _text(after[name]) if name in after else None)
        for name in dict.fromkeys((*before, *after))
    ]
    return ShownEvent(event, who, ACTION_WORDS.get(event.action, event.action), changes)


def _fields(document: str | None) -> dict[str, Any]:
    told = {} if document is None else json.loads(document)
    return told if isinstance(told, dict) else {}


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def _moment(day: str, days: int = 0) -> int | None:
    try:
        return from_datetime(datetime.fromisoformat(_day(day, days)).replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def _day(day: str, days: int) -> str:
    if not _DAY.fullmatch(day):
        raise ValueError(day)
    return (datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=days)).date().isoformat()


def _with_query(path: str, asked: dict[str, str]) -> str:
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{path}?{query}" if query else path
