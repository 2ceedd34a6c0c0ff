"""Reading links: one by its code, many by page."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from laconic import clock
from laconic.clock import LAST_MOMENT
from laconic.errors import ChoiceRefused, LinkGone, LinkUnknown
from laconic.links.fields import check_text
from laconic.links.model import Link
from laconic.links.search.candidates import candidates, padded
from laconic.links.search.store import SearchStore
from laconic.links.store import LinkStore

LARGEST_PAGE = 1_000

State = Literal["all", "active", "expired", "disabled"]
Sort = Literal["-created_at", "created_at", "-clicks", "clicks", "-updated_at", "updated_at"]

_SORT_COLUMNS = {
    "created_at": "short_link.created_at",
    "updated_at": "short_link.updated_at",
    "clicks": "coalesce(link_total.clicks, 0)",
}
_MOST_WORDS = 8
_LARGEST_ID = (1 << 63) - 1
# Links that are looked through before an index is asked: some 5 ms.
_NEARBY = 3_000


@dataclass(frozen=True, slots=True)
class Query:
    """Which links, in which order, from where on."""

    search: str | None = None
    state: State = "all"
    created_from: int | None = None
    created_to: int | None = None
    domain_id: int | None = None
    sort: Sort = "-created_at"
    cursor: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Page:
    links: list[Link]
    next_cursor: str | None


class _Conditions:
    """SQL conditions with numbered arguments; $1 is the workspace."""

    def __init__(self) -> None:
        self.arguments: list[Any] = []
        self._parts: list[str] = []

    def mark(self, value: Any) -> str:
        self.arguments.append(value)
        return f"${len(self.arguments) + 1}"

    def next_number(self) -> int:
        return len(self.arguments) + 2

    def add(self, part: str) -> None:
        self._parts.append(part)

    def __str__(self) -> str:
        return "".join(f" AND {part}" for part in self._parts)


class LinkBrowser:
    """The verbs "get" and "list"."""

    def __init__(self, store: LinkStore, search: SearchStore | None = None) -> None:
        """Without `search` a search walks the list, which is right and slow."""
        self._store = store
        self._search_store = search

    async def get(self, workspace_id: int, domain_id: int, code: str) -> Link:
        link = await self._store.find(workspace_id, domain_id, code)
        if link is None:
            raise LinkUnknown(code)
        if link.is_deleted or link.is_blanked:
            raise LinkGone(code)
        return link

    async def page(self, workspace_id: int, query: Query) -> Page:
        if query.search and query.search.strip():
            check_text("search", query.search)
            return await self._searched(workspace_id, query, query.search.strip())
        return await self._read(workspace_id, query, _Conditions())

    async def _read(self, workspace_id: int, query: Query, conditions: _Conditions) -> Page:
        self._filter(conditions, query)
        column = _SORT_COLUMNS[query.sort.removeprefix("-")]
        direction, comparison = ("DESC", "<") if query.sort.startswith("-") else ("ASC", ">")
        if query.cursor is not None:
            value, link_id = _read_cursor(query.cursor, query.sort)
            conditions.add(
                f"({column}, short_link.id) {comparison} ({conditions.mark(value)}, {conditions.mark(link_id)})"
            )
        order = f"{column} {direction}, short_link.id {direction}"
        links = await self._store.list_page(
            workspace_id, str(conditions), conditions.arguments, order, query.limit + 1
        )
        shown = links[: query.limit]
        more = len(links) > query.limit
        return Page(shown, _cursor_behind(shown[-1], query.sort) if more else None)

    async def _searched(self, workspace_id: int, query: Query, text: str) -> Page:
        """What many links match is met by walking a little of the list; what few match, an index names."""
        walk = _Conditions()
        walk.add(self._search(walk, text))
        if self._search_store is None:
            return await self._read(workspace_id, query, walk)
        if query.sort == "-created_at":
            page = await self._nearby(self._search_store, workspace_id, query, text)
            if page is not None:
                return page
        found = await candidates(self._search_store, workspace_id, text, _words(text))
        if found is None:
            return await self._read(workspace_id, query, walk)
        if not found:
            return Page([], None)
        named = _Conditions()
        named.add(f"short_link.id IN ({','.join(named.mark(one) for one in padded(found))})")
        return await self._read(workspace_id, query, named)

    async def _nearby(self, store: SearchStore, workspace_id: int, query: Query, text: str) -> Page | None:
        """The page, if the next few thousand links of the list fill it; or None."""
        last = LAST_MOMENT if query.cursor is None else _read_cursor(query.cursor, query.sort)[0]
        first = await store.moment_behind(workspace_id, last, _NEARBY)
        near = _Conditions()
        near.add(self._search(near, text))
        if first is not None:
            near.add(f"short_link.created_at >= {near.mark(first)}")
        page = await self._read(workspace_id, query, near)
        return page if first is None or page.next_cursor is not None else None

    def _filter(self, conditions: _Conditions, query: Query) -> None:
        moment = clock.now()
        if query.state == "active":
            conditions.add(f"is_active AND (expires_at IS NULL OR expires_at > {conditions.mark(moment)})")
        elif query.state == "expired":
            conditions.add(f"(gone_reason = 'expired' OR expires_at <= {conditions.mark(moment)})")
        elif query.state == "disabled":
            conditions.add("NOT is_active AND (gone_reason IS NULL OR gone_reason <> 'expired')")
        if query.domain_id is not None:
            conditions.add(f"domain_id = {conditions.mark(query.domain_id)}")
        if query.created_from is not None:
            conditions.add(f"short_link.created_at >= {conditions.mark(query.created_from)}")
        if query.created_to is not None:
            conditions.add(f"short_link.created_at < {conditions.mark(query.created_to)}")

    def _search(self, conditions: _Conditions, text: str) -> str:
        """Words of title or description by their beginnings, the code as a whole, any part of the URL."""
        code = conditions.mark(text)
        part = conditions.mark("%" + _escape_like(text) + "%")
        alternatives = [f"short_code = {code}", f"lower(original_url) LIKE lower({part}) ESCAPE '\\'"]
        words = _words(text)
        if words:
            condition, argument = self._store.text_search(words, conditions.next_number())
            conditions.mark(argument)
            alternatives.append(condition)
        return "(" + " OR ".join(alternatives) + ")"


def _words(text: str) -> Sequence[str]:
    cleaned = "".join(character if character.isalnum() else " " for character in text)
    return cleaned.split()[:_MOST_WORDS]


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _cursor_behind(link: Link, sort: Sort) -> str:
    name = sort.removeprefix("-")
    value = link.click_count if name == "clicks" else getattr(link, name)
    text = json.dumps([sort, value, link.id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, sort: Sort) -> tuple[int, int]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        made_for, value, link_id = json.loads(text)
        # Counts and moments from 1970 on: what no list has given out may be more than an engine can compare.
        if made_for == sort and all(
            type(number) is int and 0 <= number <= most
            for number, most in ((value, LAST_MOMENT), (link_id, _LARGEST_ID))
        ):
            return value, link_id
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    raise ChoiceRefused("cursor", "The cursor is not one that this list gave out.")
