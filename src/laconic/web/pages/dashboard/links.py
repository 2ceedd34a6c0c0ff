"""/dashboard/links: search, filter, sort; change many at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final, get_args
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from starlette.responses import Response

from laconic.clicks.csv_text import csv_lines
from laconic.clock import DAY, HOUR, LAST_MOMENT, SECOND, from_datetime, now, to_rfc3339
from laconic.links import browse
from laconic.links.change_many import Outcome, Place
from laconic.links.model import Link, LinkEdit
from laconic.links.orders import Sort
from laconic.web.api.problems import WRONG_SHAPE, Problem
from laconic.web.pages.dashboard.link_paths import LINKS, NEW_LINK, ShownLink, host_of, places_of
from laconic.web.pages.dashboard.shell import Shell, Visitor
from laconic.web.pages.flashes import Flash, Undo
from laconic.web.pages.forms import Form
from laconic.web.pages.templates import PAGE_HEADERS
from laconic.workspaces.model import LINKS_READ, LINKS_WRITE

PAGE_LINKS: Final = 50
# Past this many an undo would not fit into the cookie that carries it.
_MOST_UNDONE = 100
_STATES = (("all", "All links"), ("active", "Live"), ("expired", "Expired"), ("disabled", "Off"))
_SORTS = (
    ("-created_at", "Newest first"),
    ("created_at", "Oldest first"),
    ("-clicks", "Most clicks"),
    ("clicks", "Fewest clicks"),
    ("-updated_at", "Changed last"),
)
_EXPIRIES: Final[dict[str, tuple[str, int | None]]] = {
    # Now is a second ahead: an expiry lies in the future.
    "now": ("now", SECOND),
    "hour": ("in an hour", HOUR),
    "day": ("in a day", DAY),
    "week": ("in a week", 7 * DAY),
    "month": ("in 30 days", 30 * DAY),
    "never": ("never", None),
}
_COLUMNS = "short_url original_url title description created_at expires_at is_active click_count".split()


@dataclass(frozen=True, slots=True)
class Wish:
    """What the page's address asks for; a value that it cannot have given is as if it were not there."""

    search: str = ""
    state: browse.State = "all"
    sort: Sort = "-created_at"
    domain: str = ""
    first_day: str = ""
    last_day: str = ""
    cursor: str = ""

    @classmethod
    def of_request(cls, request: Request) -> "Wish":
        asked = request.query_params
        state, sort = asked.get("state", ""), asked.get("sort", "")
        return cls(
            asked.get("search", "")[:200],
            state if state in get_args(browse.State) else "all",  # type: ignore[arg-type]
            sort if sort in get_args(Sort) else "-created_at",  # type: ignore[arg-type]
            asked.get("domain", "")[:255],
            _day(asked.get("from", "")),
            _day(asked.get("to", "")),
            asked.get("cursor", "")[:500],
        )

    @property
    def is_narrow(self) -> bool:
        return bool(self.search or self.state != "all" or self.domain or self.first_day or self.last_day)

    def path(self, **other: str) -> str:
        """The page's address with everything that is not as usual."""
        wish = replace(self, **other)  # type: ignore[arg-type]
        values = {
            "search": wish.search,
            "state": "" if wish.state == "all" else wish.state,
            "sort": "" if wish.sort == "-created_at" else wish.sort,
            "domain": wish.domain,
            "from": wish.first_day,
            "to": wish.last_day,
            "cursor": wish.cursor,
        }
        query = urlencode({name: value for name, value in values.items() if value})
        return f"{LINKS}?{query}" if query else LINKS


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _start_of(day: str, later_days: int = 0) -> int | None:
    if not day:
        return None
    try:
        start = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=later_days)
    except OverflowError:
        return None
    return max(0, from_datetime(start))


class LinkListRoutes:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._services = shell.services

    async def show(self, request: Request) -> Response:
        visitor = await self._shell.enter(request, LINKS_READ)
        wish = Wish.of_request(request)
        values = await self._values(visitor, wish)
        if request.query_params.get("part") == "rows":
            return await self._shell.fragment(visitor, "dashboard/links_rows.html", **values)
        return await self._shell.page(
            visitor,
            "dashboard/links.html",
            "links",
            hosts=await self._hosts(visitor),
            states=_STATES,
            sorts=_SORTS,
            **values,
        )

    async def _values(self, visitor: Visitor, wish: Wish) -> dict[str, Any]:
        services = self._services
        page = await services.browser.page(
            visitor.workspace_id,
            browse.Query(
                search=wish.search or None,
                state=wish.state,
                created_from=_start_of(wish.first_day),
                created_to=_start_of(wish.last_day, 1),
                domain_id=await services.locator.for_list(visitor.workspace_id, wish.domain or None),
                sort=wish.sort,
                cursor=wish.cursor or None,
                limit=PAGE_LINKS,
            ),
        )
        await services.directory.know(link.domain_id for link in page.links)
        return {
            "wish": wish,
            "links": [ShownLink.of(services, link) for link in page.links],
            "first_page": wish.path(cursor="") if wish.cursor else None,
            "next_page": wish.path(cursor=page.next_cursor) if page.next_cursor else None,
            "may_write": visitor.may(LINKS_WRITE),
            "expiries": [(name, words) for name, (words, _) in _EXPIRIES.items()],
            "new_link": NEW_LINK,
        }

    async def _hosts(self, visitor: Visitor) -> list[str]:
        ids = self._services.directory.ids_of(visitor.workspace_id)
        return [host_of(self._services, domain_id) for domain_id in ids]

    # Changing many.

    async def change(self, request: Request) -> Response:
        visitor, form = await self._shell.receive(request, LINKS_READ)
        places = places_of(form.all("link"))
        action = form.get("action")
        back = _own_list(form.get("back"))
        if not places:
            return await self._shell.go(back, Flash("Select links first.", "problem"))
        if action == "export":
            return await self._export(visitor, places)
        self._shell.gate.allow(visitor.actor, LINKS_WRITE)
        flash = await self._do(visitor, form, action, places)
        return await self._shell.go(back, flash)

    async def _do(self, visitor: Visitor, form: Form, action: str, places: list[Place]) -> Flash:
        match action:
            case "delete":
                return await self._delete(visitor, places)
            case "restore":
                return await self._restore(visitor, form, places)
            case "disable" | "enable":
                return await self._switch(visitor, places, is_active=action == "enable")
            case "expire":
                return await self._expire(visitor, places, form.get("when"))
            case "unexpire":
                return await self._unexpire(visitor, form, places)
        raise Problem(WRONG_SHAPE, "There is no such action.")

    async def _switch(self, visitor: Visitor, places: Sequence[Place], *, is_active: bool) -> Flash:
        found = await self._find(visitor, places)
        same = {link.id for link in found if link.is_active == is_active}
        edit = LinkEdit(frozenset({"is_active"}), is_active=is_active)
        outcome = await self._edit(visitor, places, edit)
        opposite = Undo(LINKS, {"action": ["disable" if is_active else "enable"]})
        # What was so before stays so when the rest is taken back.
        undone = [link for link in outcome.changed if link.id not in same]
        return _told(outcome, "switched on" if is_active else "switched off", opposite, undone)

    async def _expire(self, visitor: Visitor, places: Sequence[Place], when: str) -> Flash:
        words, after = _EXPIRIES.get(when, _EXPIRIES["now"])
        found = await self._find(visitor, places)
        before = [f"{_place(link)}.{link.expires_at}" for link in found if link.expires_at is not None]
        expires_at = None if after is None else now() + after
        outcome = await self._edit(
            visitor, places, LinkEdit(frozenset({"expires_at"}), expires_at=expires_at)
        )
        return _told(
            outcome, "set to expire " + words, Undo(LINKS, {"action": ["unexpire"], "before": before})
        )

    async def _unexpire(self, visitor: Visitor, form: Form, places: Sequence[Place]) -> Flash:
        before = _expiries_of(form.all("before"))
        expiries = {place: before.get(place) for place in places}
        outcome = await self._services.many_changer.put_expiries_back(
            visitor.workspace_id, expiries, visitor.actor
        )
        return _told(outcome, f"expire{'s' if len(outcome.changed) == 1 else ''} as before")

    async def _edit(self, visitor: Visitor, places: Sequence[Place], edit: LinkEdit) -> Outcome:
        return await self._services.many_changer.edit(visitor.workspace_id, places, edit, visitor.actor)

    async def _delete(self, visitor: Visitor, places: Sequence[Place]) -> Flash:
        found = await self._find(visitor, places)
        was_off = [_place(link) for link in found if not link.is_active]
        outcome = await self._services.many_changer.delete(visitor.workspace_id, places, visitor.actor)
        return _told(outcome, "deleted", Undo(LINKS, {"action": ["restore"], "off": was_off}))

    async def _restore(self, visitor: Visitor, form: Form, places: Sequence[Place]) -> Flash:
        off = set(places_of(form.all("off")))
        together = Outcome()
        for is_active in (True, False):
            some = [place for place in places if (place not in off) == is_active]
            outcome = await self._services.many_changer.restore(
                visitor.workspace_id, some, is_active=is_active, actor=visitor.actor
            )
            together.changed.extend(outcome.changed)
            together.refused.extend(outcome.refused)
        return _told(together, "restored")

    async def _find(self, visitor: Visitor, places: Sequence[Place]) -> list[Link]:
        found = [await self._services.links.find(visitor.workspace_id, *place) for place in places]
        return [link for link in found if link is not None and not link.is_deleted and not link.is_blanked]

    async def _export(self, visitor: Visitor, places: Sequence[Place]) -> Response:
        shown = [ShownLink.of(self._services, link) for link in await self._find(visitor, places)]
        headers = {**PAGE_HEADERS, "content-disposition": 'attachment; filename="links.csv"'}
        body = csv_lines([_COLUMNS, *(_row(one) for one in shown)])
        return Response(body.encode(), headers=headers, media_type="text/csv; charset=utf-8")

    def router(self) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        router.add_api_route(LINKS, self.show, methods=["GET", "HEAD"])
        router.add_api_route(LINKS, self.change, methods=["POST"])
        return router


def _row(shown: ShownLink) -> list[Any]:
    link = shown.link
    return [
        shown.short_url,
        link.original_url,
        link.title or "",
        link.description or "",
        to_rfc3339(link.created_at),
        "" if link.expires_at is None else to_rfc3339(link.expires_at),
        "true" if link.is_active else "false",
        link.click_count,
    ]


def _place(link: Link) -> str:
    """What the box that selects it sends."""
    return f"{link.domain_id}.{link.short_code}"


def _expiries_of(values: Sequence[str]) -> dict[Place, int]:
    """What an undo has sent: places, each with the moment at which the link was to expire."""
    expiries = {}
    for value in values:
        place, _, text = value.rpartition(".")
        if text.isdecimal() and text.isascii() and len(text) < 19 and int(text) <= LAST_MOMENT:
            expiries.update(dict.fromkeys(places_of([place]), int(text)))
    return expiries


def _told(
    outcome: Outcome, what: str, undo: Undo | None = None, undone: Sequence[Link] | None = None
) -> Flash:
    """One sentence for what was done and, where something was not, another. `undone`: what an undo is for, if not all."""
    count = len(outcome.changed)
    text = f"{count:,} link{'' if count == 1 else 's'} {what}."
    if count == 1:
        text = f"/{outcome.changed[0].short_code} {what}."
    if outcome.refused:
        code, why = outcome.refused[0]
        more = f" and {len(outcome.refused) - 1} more" if len(outcome.refused) > 1 else ""
        text += f" Not /{code}{more}: {why}"
    links = outcome.changed if undone is None else undone
    if undo is not None and 0 < len(links) <= _MOST_UNDONE:
        undo = Undo(undo.action, {**undo.fields, "link": [_place(link) for link in links]})
    else:
        undo = None
    return Flash(text, "done" if count else "problem", undo)


def _own_list(back: str) -> str:
    """Where the form says it was: a page of this list, or its beginning."""
    is_ours = back == LINKS or (back.startswith(f"{LINKS}?") and back.isascii() and back.isprintable())
    return back if is_ours and len(back) < 1_500 else LINKS
