"""Shlink: `short_urls` and single clicks in `visits`, with domains, tags and places in tables of their own."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from laconic.moving.records import MovedClick, MovedLink, Record, Unreadable
from laconic.moving.sources.fields import count_of, cut, flag_of, text_of
from laconic.moving.sources.tables import TableSource
from laconic.moving.times import read_moment
from laconic.storage.foreign import Record as Row

_PAGE = 500
_LINKS = frozenset({"id", "original_url", "short_code", "date_created"})
TABLES = ("short_urls", "visits", "visit_locations", "domains", "tags", "short_urls_in_tags")
# What Shlink writes for its own host, which has no row in `domains`.
_DEFAULT = "DEFAULT"


def find(tables: Mapping[str, frozenset[str]]) -> bool:
    return tables.get("short_urls", frozenset()) >= _LINKS


class Shlink(TableSource):
    """See `Source`."""

    kind = "shlink"
    links = "short_urls"

    async def records(self) -> AsyncIterator[Record]:
        await self._read_domains("authority")
        after: Any = None
        while page := await self._database.page("short_urls", "id", after, _PAGE):
            after = page[-1]["id"]
            tags = await self._tags([row["id"] for row in page])
            for row in page:
                yield self._link(row, tags.get(row["id"], []))
        async for record in self._visits():
            yield record

    async def _tags(self, ids: Sequence[int]) -> dict[Any, list[str]]:
        if "short_urls_in_tags" not in self._tables or "tags" not in self._tables:
            return {}
        pairs = await self._database.among("short_urls_in_tags", "short_url_id", ids)
        wanted = sorted({pair["tag_id"] for pair in pairs})
        rows = await self._database.among("tags", "id", wanted) if wanted else []
        names = {row["id"]: text_of(row["name"]) for row in rows}
        found: dict[Any, list[str]] = defaultdict(list)
        for pair in pairs:
            found[pair["short_url_id"]].append(names.get(pair["tag_id"], ""))
        return {key: sorted(filter(None, tags)) for key, tags in found.items()}

    def _link(self, row: Row, tags: Sequence[str]) -> Record:
        place = f"short_urls {row['id']}"
        try:
            title, notes = cut(row.get("title"))
            metadata: dict[str, Any] = {"tags": list(tags)} if tags else {}
            for name in ("valid_since", "max_visits"):
                if row.get(name) is not None:
                    metadata[name] = row[name]
                    notes += (f"{name} is kept as metadata only",)
            return MovedLink(
                place,
                text_of(row["short_code"]),
                text_of(row["original_url"]),
                read_moment(row["date_created"], self._zone),
                domain=self._domain_of(row),
                expires_at=read_moment(row.get("valid_until"), self._zone),
                title=title,
                metadata=metadata,
                notes=notes,
            )
        except ValueError as error:
            return Unreadable(place, "malformed", str(error))

    def _domain_of(self, row: Row) -> str | None:
        authority = self._domains.get(row.get("domain_id"), _DEFAULT)
        return None if authority == _DEFAULT else authority.partition(":")[0]

    async def _visits(self) -> AsyncIterator[Record]:
        if "visits" not in self._tables:
            return
        after: Any = None
        while page := await self._database.page("visits", "id", after, 2 * _PAGE):
            after = page[-1]["id"]
            links = await self._by_id("short_urls", page, "short_url_id")
            places = await self._by_id("visit_locations", page, "visit_location_id")
            for row in page:
                # Others are visits of the bare host or of unknown codes, which Shlink counts, too.
                link = links.get(row["short_url_id"])
                if link is not None:
                    yield self._click(row, link, places.get(row.get("visit_location_id"), {}))

    async def _by_id(self, table: str, page: Sequence[Row], column: str) -> dict[Any, Row]:
        ids = sorted({row[column] for row in page if row.get(column) is not None})
        if not ids or table not in self._tables:
            return {}
        return {row["id"]: row for row in await self._database.among(table, "id", ids)}

    def _click(self, row: Row, link: Row, place: Row) -> Record:
        try:
            moment = read_moment(row["date"], self._zone)
        except ValueError as error:
            return Unreadable(f"visits {row['id']}", "malformed", str(error))
        if moment is None:
            return Unreadable(f"visits {row['id']}", "malformed", "The visit has no time.")
        country = text_of(place.get("country_code")).strip().upper()
        return MovedClick(
            text_of(link["short_code"]),
            self._domain_of(link),
            count_of(row["id"]),
            moment,
            address=text_of(row.get("remote_addr")),
            user_agent=text_of(row.get("user_agent")),
            referrer=text_of(row.get("referer")),
            country=country if len(country) == 2 and country.isalpha() else "",
            city=text_of(place.get("city_name")).replace("\0", ""),
            is_bot=flag_of(row["potential_bot"]) if "potential_bot" in row else None,
        )
