"""Reading links: one by its code, many by page."""

import base64
import binascii
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from laconic import clock
from laconic.clock import LAST_MOMENT
from laconic.errors import ChoiceRefused, LinkGone, LinkUnknown
from laconic.links.fields import check_text
from laconic.links.model import Link
from laconic.links.orders import Conditions, Position, Sort, legs_of, position_of, read_links
from laconic.links.search.candidates import candidates, padded
from laconic.links.search.store import SearchStore
from laconic.links.store import LinkStore

LARGEST_PAGE = 1_000

State = Literal["all", "active", "expired", "disabled"]
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
        if _picks_few(query) and self._search_store is not None:
            left = Conditions()
            self._filter(left, query)
            found = await self._search_store.left_by(workspace_id, str(left), left.arguments, left.index)
            if found is not None:
                return await self._named(workspace_id, query, found)
        return await self._read(workspace_id, query, Conditions())

    async def _named(self, workspace_id: int, query: Query, ids: list[int]) -> Page:
        if not ids:
            return Page([], None)
        named = Conditions(names_ids=True)
        named.add(f"short_link.id IN ({','.join(named.mark(one) for one in padded(ids))})")
        return await self._read(workspace_id, query, named)

    async def _read(self, workspace_id: int, query: Query, conditions: Conditions) -> Page:
        self._filter(conditions, query)
        behind = None if query.cursor is None else _read_cursor(query.cursor, query.sort)
        links = await read_links(self._store, workspace_id, query.sort, conditions, behind, query.limit + 1)
        shown = links[: query.limit]
        more = len(links) > query.limit
        return Page(shown, _cursor_behind(shown[-1], query.sort) if more else None)

    async def _searched(self, workspace_id: int, query: Query, text: str) -> Page:
        """What many links match is met by walking a little of the list; what few match, an index names."""
        walk = Conditions()
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
        return await self._named(workspace_id, query, found)

    async def _nearby(self, store: SearchStore, workspace_id: int, query: Query, text: str) -> Page | None:
        """The page, if the next few thousand links of the list fill it; or None."""
        last = LAST_MOMENT if query.cursor is None else _read_cursor(query.cursor, query.sort).value
        first = await store.moment_behind(workspace_id, last, _NEARBY)
        near = Conditions()
        near.add(self._search(near, text))
        if first is not None:
            near.add(f"short_link.created_at >= {near.mark(first)}")
        page = await self._read(workspace_id, query, near)
        return page if first is None or page.next_cursor is not None else None

    def _filter(self, conditions: Conditions, query: Query) -> None:
        moment = clock.now()
        if query.state == "active":
            conditions.add(f"is_active AND (expires_at IS NULL OR expires_at > {conditions.mark(moment)})")
        elif query.state == "expired":
            # The first is said for the index: it is worded so.
            conditions.index = "short_link_dated_idx"
            conditions.add("(gone_reason = 'expired' OR expires_at IS NOT NULL)")
            conditions.add(f"(gone_reason = 'expired' OR expires_at <= {conditions.mark(moment)})")
        elif query.state == "disabled":
            conditions.index = "short_link_off_idx"
            conditions.add("NOT is_active AND (gone_reason IS NULL OR gone_reason <> 'expired')")
        if query.domain_id is not None:
            conditions.add(f"domain_id = {conditions.mark(query.domain_id)}")
        if query.created_from is not None:
            conditions.add(f"short_link.created_at >= {conditions.mark(query.created_from)}")
        if query.created_to is not None:
            conditions.add(f"short_link.created_at < {conditions.mark(query.created_to)}")

    def _search(self, conditions: Conditions, text: str) -> str:
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


def _picks_few(query: Query) -> bool:
    """May the filters leave next to nothing of a large workspace, and the order's index not know of them?"""
    if query.state == "expired":
        return True
    is_bounded = query.created_from is not None or query.created_to is not None
    return query.sort.endswith("clicks") and (is_bounded or query.state == "disabled")


def _words(text: str) -> Sequence[str]:
    cleaned = "".join(character if character.isalnum() else " " for character in text)
    return cleaned.split()[:_MOST_WORDS]


def _escape_like(text: str) -> str:
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _cursor_behind(link: Link, sort: Sort) -> str:
    behind = position_of(link, sort)
    text = json.dumps([behind.leg, behind.value, behind.link_id], separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, sort: Sort) -> Position:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        leg, value, link_id = json.loads(text)
        # Counts and moments from 1970 on: what no list has given out may be more than an engine can compare.
        if any(leg == one.name for one in legs_of(sort)) and all(
            type(number) is int and 0 <= number <= most
            for number, most in ((value, LAST_MOMENT), (link_id, _LARGEST_ID))
        ):
            return Position(leg, value, link_id)
    except (ValueError, TypeError, binascii.Error, RecursionError):
        pass
    raise ChoiceRefused("cursor", "The cursor is not one that this list gave out.")
