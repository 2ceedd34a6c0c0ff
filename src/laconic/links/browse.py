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
        conditions = _Conditions()
        self._filter(conditions, query)
        if query.search and query.search.strip():
            found = await self._add_search(conditions, workspace_id, query.search)
            if not found:
                return Page([], None)
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

    async def _add_search(self, conditions: _Conditions, workspace_id: int, search: str) -> bool:
        """False when no link can be meant. Few candidates are named by their ids; many are met by walking the list."""
        check_text("search", search)
        text, found = search.strip(), None
        if self._search_store is not None:
            found = await candidates(self._search_store, workspace_id, text, _words(text))
        if found is None:
            conditions.add(self._search(conditions, text))
        elif found:
            marks = ",".join(conditions.mark(one) for one in padded(found))
            conditions.add(f"short_link.id IN ({marks})")
        return found is None or bool(found)

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
