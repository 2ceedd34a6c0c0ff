"""In which order a list is read, and by which index, so that a page never costs a walk over the whole workspace.

An order is one leg or two. By clicks: links that were followed come by their totals, the others, which have no total,
by age; one leg behind the other. By change: links that were changed have an index, the others are as old as their last
change; the two are read side by side and merged.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from laconic.links.model import Link
from laconic.links.store import LinkStore

Sort = Literal["-created_at", "created_at", "-clicks", "clicks", "-updated_at", "updated_at"]


class Conditions:
    """SQL conditions with numbered arguments; $1 is the workspace. `names_ids`: they say which few links it may be.

    `index` has the links that meet them, newest first, and few others.
    """

    def __init__(self, names_ids: bool = False) -> None:
        self.names_ids = names_ids
        self.index: str | None = None
        self.arguments: list[Any] = []
        self._parts: list[str] = []

    def mark(self, value: Any) -> str:
        self.arguments.append(value)
        return f"${len(self.arguments) + 1}"

    def next_number(self) -> int:
        return len(self.arguments) + 2

    def add(self, part: str) -> None:
        self._parts.append(part)

    def copy(self) -> "Conditions":
        other = Conditions(self.names_ids)
        other.index = self.index
        other.arguments, other._parts = [*self.arguments], [*self._parts]
        return other

    def __str__(self) -> str:
        return "".join(f" AND {part}" for part in self._parts)


@dataclass(frozen=True, slots=True)
class Leg:
    """`column` is sorted by, `field` of a link has its value. `name` is what cursors say."""

    name: str
    column: str
    field: str
    is_descending: bool
    condition: str = ""
    by_totals: bool = False

    def value(self, link: Link) -> int:
        value: int = getattr(link, self.field)
        return value


@dataclass(frozen=True, slots=True)
class Position:
    """Behind which link to go on: the leg's name, its value, its id."""

    leg: str
    value: int
    link_id: int


_CREATED: Final = Leg("created_at", "short_link.created_at", "created_at", False)
_FOLLOWED: Final = Leg("clicks", "link_total.clicks", "click_count", False, "link_total.clicks > 0", True)
_UNFOLLOWED: Final = replace(_CREATED, name="clicks:none", condition="coalesce(link_total.clicks, 0) = 0")
_CHANGED: Final = Leg(
    "updated_at",
    "short_link.updated_at",
    "updated_at",
    False,
    "short_link.updated_at <> short_link.created_at",
)
_UNCHANGED: Final = replace(
    _CREATED, name="updated_at", condition="short_link.updated_at = short_link.created_at"
)
_LEGS: Final = {
    "created_at": (_CREATED,),
    # Those that nobody has followed are the fewest.
    "clicks": (_UNFOLLOWED, _FOLLOWED),
    "updated_at": (_CHANGED, _UNCHANGED),
}


def legs_of(sort: Sort) -> Sequence[Leg]:
    legs = _LEGS[sort.removeprefix("-")]
    if not sort.startswith("-"):
        return legs
    downwards = [replace(leg, name=f"-{leg.name}", is_descending=True) for leg in legs]
    return downwards if legs[0] is _CHANGED else downwards[::-1]


def position_of(link: Link, sort: Sort) -> Position:
    """Where the list goes on behind this link."""
    legs = legs_of(sort)
    leg = legs[0]
    if sort.endswith("clicks"):
        leg = next(leg for leg in legs if leg.by_totals == (link.click_count > 0))
    return Position(leg.name, leg.value(link), link.id)


async def read_links(
    store: LinkStore,
    workspace_id: int,
    sort: Sort,
    conditions: Conditions,
    behind: Position | None,
    limit: int,
) -> list[Link]:
    legs = legs_of(sort)
    if legs[0].name == legs[-1].name and len(legs) > 1:
        return await _merged(store, workspace_id, legs, conditions, behind, limit)
    links: list[Link] = []
    names = [leg.name for leg in legs]
    for leg in legs[0 if behind is None else names.index(behind.leg) :]:
        past = behind if behind is not None and leg.name == behind.leg else None
        links += await _leg(store, workspace_id, leg, conditions.copy(), past, limit - len(links))
        if len(links) == limit:
            break
    return links


async def _merged(
    store: LinkStore,
    workspace_id: int,
    legs: Sequence[Leg],
    conditions: Conditions,
    behind: Position | None,
    limit: int,
) -> list[Link]:
    changed, unchanged = legs
    links = await _leg(store, workspace_id, changed, conditions.copy(), behind, limit)
    rest = conditions.copy()
    if len(links) == limit:
        # Nothing past the last of them will be shown, so the other leg need not look for it.
        comparison = ">=" if changed.is_descending else "<="
        rest.add(f"{unchanged.column} {comparison} {rest.mark(changed.value(links[-1]))}")
    links += await _leg(store, workspace_id, unchanged, rest, behind, limit)
    links.sort(key=lambda link: (link.updated_at, link.id), reverse=changed.is_descending)
    return links[:limit]


async def _leg(
    store: LinkStore,
    workspace_id: int,
    leg: Leg,
    conditions: Conditions,
    behind: Position | None,
    limit: int,
) -> list[Link]:
    direction, comparison = ("DESC", "<") if leg.is_descending else ("ASC", ">")
    by_totals = leg.by_totals and not conditions.names_ids
    link_id = "link_total.link_id" if by_totals else "short_link.id"
    # The sum keeps the planner from walking all totals to find the few links that are named.
    column = f"{leg.column} + 0" if leg.by_totals and conditions.names_ids else leg.column
    if leg.condition:
        conditions.add(leg.condition)
    if behind is not None:
        value, last = conditions.mark(behind.value), conditions.mark(behind.link_id)
        conditions.add(f"({column}, {link_id}) {comparison} ({value}, {last})")
    return await store.list_page(
        workspace_id,
        str(conditions),
        conditions.arguments,
        f"{column} {direction}, {link_id} {direction}",
        limit,
        by_totals=by_totals,
        names_ids=conditions.names_ids,
        index=conditions.index if leg.column == _CREATED.column and not conditions.names_ids else None,
    )
