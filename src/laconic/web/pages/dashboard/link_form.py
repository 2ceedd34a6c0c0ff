"""Making, editing, duplicating and deleting one link."""

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clock import from_datetime, to_rfc3339
from laconic.errors import ChoiceRefused, CodeRefused, CodeTaken, LaconicError, TargetRefused, TargetTooLong
from laconic.links.model import LONGEST_DESCRIPTION, LONGEST_TITLE, Link, LinkDraft, LinkEdit
from laconic.web.api.links import domain_of
from laconic.web.api.problems import kind_of
from laconic.web.pages.dashboard.link_paths import LINKS, NEW_LINK, ShownLink, host_of, link_path
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash, Undo
from laconic.web.pages.forms import Form
from laconic.workspaces.model import LINKS_CREATE, LINKS_WRITE

_STATUSES: Final = (
    ("302", "302, temporary: edits show at once, every click is counted"),
    ("307", "307, temporary, keeps the method"),
    ("301", "301, permanent: browsers remember it and stop asking"),
    ("308", "308, permanent, keeps the method"),
)
# Which field of the form an error of a verb belongs to.
_FIELDS: Final = {
    "original_url": "url",
    "custom_code": "code",
    "expires_at": "expires",
    "redirect_status": "status",
    "is_active": "active",
}


@dataclass(frozen=True, slots=True)
class Filled:
    """What stands in the form: text, as it was written."""

    url: str = ""
    code: str = ""
    title: str = ""
    description: str = ""
    expires: str = ""
    status: str = "302"
    domain: str = ""
    active: str = "on"
    errors: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_form(cls, form: Form) -> "Filled":
        get = form.get
        return cls(
            *(get("url"), get("code"), get("title"), get("description")),
            *(get("expires"), get("status"), get("domain"), get("active")),
        )

    @classmethod
    def of_link(cls, link: Link, host: str) -> "Filled":
        return cls(
            link.original_url,
            link.short_code,
            link.title or "",
            link.description or "",
            "" if link.expires_at is None else to_rfc3339(link.expires_at)[:16],
            str(link.redirect_status),
            host,
            "on" if link.is_active else "",
        )

    def with_error(self, error: LaconicError) -> "Filled":
        return replace(self, errors={_field_of(error): str(error)})

    def expires_at(self) -> int | None:
        """The form speaks UTC; the script turns it into the reader's own time and back."""
        if not self.expires:
            return None
        try:
            return from_datetime(datetime.fromisoformat(self.expires).replace(tzinfo=UTC))
        except (ValueError, OverflowError):
            raise ChoiceRefused(
                "expires_at", "A day and a time are needed, such as 2027-01-31T18:00."
            ) from None

    def redirect_status(self) -> int:
        # What is no number is refused as any other status would be.
        return int(self.status) if self.status.isdecimal() and len(self.status) < 6 else 0


def _field_of(error: LaconicError) -> str:
    match error:
        case TargetRefused() | TargetTooLong():
            return "url"
        case CodeRefused() | CodeTaken():
            return "code"
        case ChoiceRefused(field=name):
            return _FIELDS.get(name, name)
    return "form"


class LinkFormRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services

    # Making.

    async def new(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, LINKS_CREATE)
        asked = request.query_params
        return await self._form(visitor, Filled(url=asked.get("url", "")[:4_000]))

    async def duplicate(self, request: Request, code: str) -> Response:
        """The form, filled in like another link: all but the code, which belongs to that one."""
        visitor = await self._shell.enter(request, LINKS_CREATE)
        link = await self._find(visitor, request, code)
        return await self._form(visitor, replace(self._filled(link), code="", active="on"))

    async def create(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, LINKS_CREATE)
        filled, actor = Filled.of_form(form), visitor.actor
        try:
            domain_id = await self._services.locator.for_new(visitor.workspace_id, filled.domain or None)
            draft = LinkDraft(
                filled.url,
                filled.code.strip() or None,
                expires_at=filled.expires_at(),
                title=filled.title.strip() or None,
                description=filled.description.strip() or None,
                redirect_status=filled.redirect_status(),
                code_holder=actor.code_holder,
                domain_id=domain_id,
            )
            made = await self._services.creator.create(visitor.workspace_id, actor.user_id, draft, actor)
        except LaconicError as error:
            return await self._form(visitor, filled.with_error(error), status=kind_of(error).status)
        flash = Flash("The link is there already." if made.existing else "The link is made.")
        return await self._shell.go(link_path(self._services, made.link), flash)

    # Changing.

    async def edit(self, request: Request, code: str) -> Response:
        visitor = await self._shell.enter(request, LINKS_WRITE)
        link = await self._find(visitor, request, code)
        return await self._form(visitor, self._filled(link), link)

    async def change(self, request: Request, code: str) -> Response:
        visitor, form = await self._shell.receive(request, LINKS_WRITE)
        link = await self._find(visitor, request, code)
        filled = Filled.of_form(form)
        try:
            edit = self._edit_of(link, filled)
            link = await self._services.changer.edit(
                visitor.workspace_id, link.domain_id, link.short_code, edit, visitor.actor
            )
        except LaconicError as error:
            return await self._form(visitor, filled.with_error(error), link, kind_of(error).status)
        return await self._shell.go(link_path(self._services, link), Flash("Saved."))

    def _edit_of(self, link: Link, filled: Filled) -> LinkEdit:
        """What differs from the link as it is, and nothing else: an expiry that has passed may stay."""
        before = self._filled(link)
        changed = {
            name
            for name, own in _EDITED.items()
            if getattr(filled, own).strip() != getattr(before, own).strip()
        }
        return LinkEdit(
            frozenset(changed),
            filled.url,
            filled.title.strip() or None,
            filled.description.strip() or None,
            expires_at=filled.expires_at() if "expires_at" in changed else None,
            is_active=bool(filled.active),
            redirect_status=filled.redirect_status(),
        )

    async def delete(self, request: Request, code: str) -> Response:
        visitor, _ = await self._shell.receive(request, LINKS_WRITE)
        link = await self._find(visitor, request, code)
        await self._services.changer.delete(
            visitor.workspace_id, link.domain_id, link.short_code, visitor.actor
        )
        place = f"{link.domain_id}.{link.short_code}"
        undo = {"action": ["restore"], "link": [place], "off": [] if link.is_active else [place]}
        return await self._shell.go(LINKS, Flash(f"/{link.short_code} deleted.", undo=Undo(LINKS, undo)))

    # Both.

    def _filled(self, link: Link) -> Filled:
        return Filled.of_link(link, host_of(self._services, link.domain_id))

    async def _find(self, visitor: Visitor, request: Request, code: str) -> Link:
        host = request.query_params.get("domain")
        domain_id = await domain_of(self._services, visitor.actor, code, host)
        return await self._services.browser.get(visitor.workspace_id, domain_id, code)

    async def _form(
        self, visitor: Visitor, filled: Filled, link: Link | None = None, status: int = 200
    ) -> Response:
        values: dict[str, Any] = {
            "filled": filled,
            "errors": defaultdict(str, filled.errors),
            "shown": None if link is None else ShownLink.of(self._services, link),
            "action": NEW_LINK if link is None else link_path(self._services, link, "/edit"),
            "delete_path": None if link is None else link_path(self._services, link, "/delete"),
            "hosts": await self._served_hosts(visitor),
            "prefix": self._services.directory.prefix(
                self._services.directory.default_of(visitor.workspace_id) if link is None else link.domain_id
            ).partition("://")[2],
            "statuses": _STATUSES,
            "longest_title": LONGEST_TITLE,
            "longest_description": LONGEST_DESCRIPTION,
        }
        return await self._shell.page(visitor, "dashboard/link_form.html", "links", status, **values)

    async def _served_hosts(self, visitor: Visitor) -> list[str]:
        """Where a new link may go; the default first."""
        directory = self._services.directory
        hosts = [host_of(self._services, domain_id) for domain_id in directory.ids_of(visitor.workspace_id)]
        return [host for host in hosts if (found := directory.find_served(host)) and found.is_served]

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        one = LINKS + "/{code}"
        router.add_api_route(NEW_LINK, self.new, methods=["GET", "HEAD"])
        router.add_api_route(NEW_LINK, self.create, methods=["POST"])
        router.add_api_route(one + "/duplicate", self.duplicate, methods=["GET", "HEAD"])
        router.add_api_route(one + "/edit", self.edit, methods=["GET", "HEAD"])
        router.add_api_route(one + "/edit", self.change, methods=["POST"])
        router.add_api_route(one + "/delete", self.delete, methods=["POST"])
        return router


# Columns, and the form's fields for them.
_EDITED: Final = {
    "original_url": "url",
    "title": "title",
    "description": "description",
    "expires_at": "expires",
    "is_active": "active",
    "redirect_status": "status",
}
