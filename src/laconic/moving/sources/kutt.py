"""Kutt: `links` with their counts, and clicks counted by the hour in `visits`."""

import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

from laconic.clicks.moved.model import Pair
from laconic.clock import DAY, HOUR
from laconic.moving.records import MovedDay, MovedLink, Record, Unreadable
from laconic.moving.sources.fields import count_of, flag_of, paged, text_of
from laconic.moving.sources.tables import TableSource
from laconic.moving.times import read_moment
from laconic.storage.foreign import Record as Row

_PAGE = 1_000
_LINKS = frozenset({"id", "address", "target", "visit_count", "created_at"})
TABLES = ("links", "visits", "domains")
_BROWSERS = {
    "br_chrome": "Chrome",
    "br_edge": "Edge",
    "br_firefox": "Firefox",
    "br_ie": "Internet Explorer",
    "br_opera": "Opera",
    "br_safari": "Safari",
}
_SYSTEMS = {
    "os_android": "Android",
    "os_ios": "iOS",
    "os_linux": "Linux",
    "os_macos": "macOS",
    "os_windows": "Windows",
}


def find(tables: Mapping[str, frozenset[str]]) -> bool:
    return tables.get("links", frozenset()) >= _LINKS


class Kutt(TableSource):
    """See `Source`. Kutt's rows of an hour grow until the hour is over; so the last one may come again, larger."""

    kind = "kutt"
    links = "links"

    async def records(self) -> AsyncIterator[Record]:
        await self._read_domains("address")
        async for row in paged(self._database, "links", "id"):
            yield self._link(row)
        if "visits" in self._tables:
            async for record in self._visits():
                yield record

    def _domain_of(self, row: Row) -> str | None:
        return self._domains.get(row.get("domain_id"), "").lower() or None

    def _link(self, row: Row) -> Record:
        place = f"links {row['id']}"
        notes: tuple[str, ...] = ()
        is_active = True
        if row.get("password"):
            # Without its password everybody could follow it.
            is_active, notes = False, ("disabled, for it had a password",)
        elif flag_of(row.get("banned")):
            is_active, notes = False, ("disabled, for it was banned",)
        try:
            return MovedLink(
                place,
                text_of(row["address"]),
                text_of(row["target"]),
                read_moment(row["created_at"], self._zone),
                domain=self._domain_of(row),
                updated_at=read_moment(row.get("updated_at"), self._zone),
                expires_at=read_moment(row.get("expire_in"), self._zone),
                description=text_of(row.get("description")) or None,
                is_active=is_active,
                gone_reason=None if is_active else "disabled",
                clicks=count_of(row["visit_count"]),
                notes=notes,
            )
        except ValueError as error:
            return Unreadable(place, "malformed", str(error))

    async def _visits(self) -> AsyncIterator[Record]:
        after: Any = None
        while page := await self._database.page("visits", "id", after, _PAGE):
            after = page[-1]["id"]
            ids = sorted({row["link_id"] for row in page if row["link_id"] is not None})
            rows = await self._database.among("links", "id", ids) if ids else []
            links = {row["id"]: row for row in rows}
            for row in page:
                link = links.get(row["link_id"])
                if link is not None:
                    yield self._hour(row, link)

    def _hour(self, row: Row, link: Row) -> Record:
        try:
            moment = read_moment(row["created_at"], self._zone)
            total = count_of(row["total"])
            position = count_of(row["id"])
            if moment is None:
                raise ValueError("The visits have no time.")
            hour = moment - moment % HOUR
            dimensions = {
                "browser": _filled(_counted(row, _BROWSERS), total),
                "os": _filled(_counted(row, _SYSTEMS), total),
                "country": _filled(_listed(row.get("countries"), _country), total),
                "referer": _filled(_listed(row.get("referrers"), _referrer), total),
                # Every click has one; the charts count by it.
                "device_type": {"unknown": (total, 0)},
                "language": {"": (total, 0)},
            }
        except ValueError as error:
            return Unreadable(f"visits {row['id']}", "malformed", str(error))
        return MovedDay(
            text_of(link["address"]),
            self._domain_of(link),
            position,
            hour // DAY,
            {hour: (total, 0)},
            dimensions,
        )


def _counted(row: Row, names: Mapping[str, str]) -> dict[str, int]:
    return {name: count_of(row.get(column)) for column, name in names.items()}


def _listed(value: Any, name_of: Any) -> dict[str, int]:
    """Counts by name out of a JSON column."""
    document = json.loads(value) if isinstance(value, str | bytes) and value else value
    found: dict[str, int] = {}
    # A count that Kutt could not add to is null.
    for name, count in (document if isinstance(document, dict) else {}).items():
        if isinstance(count, int) and count > 0:
            key = name_of(name)
            found[key] = found.get(key, 0) + count
    return found


def _country(name: str) -> str:
    return name.upper() if len(name) == 2 and name.isascii() and name.isalpha() else ""


def _referrer(name: str) -> str:
    host = name.replace("[dot]", ".").replace("\0", "").lower().removeprefix("www.")
    return "" if host in ("direct", "unknown") else host[:253]


def _filled(counts: dict[str, int], total: int) -> dict[str, Pair]:
    """What nothing is known of counts as unknown: each dimension adds up to the total."""
    found = {name: count for name, count in counts.items() if count and name}
    rest = total - sum(found.values())
    if rest > 0:
        found[""] = rest
    return {name: (count, 0) for name, count in found.items()}
