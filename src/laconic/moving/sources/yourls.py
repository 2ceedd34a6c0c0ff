"""YOURLS: links and their counts in `yourls_url`, single clicks in `yourls_log`. The prefix may be another.

Times are UTC unless told otherwise: YOURLS sets PHP's zone to UTC, and mysqldump writes timestamps so.
"""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, tzinfo

from laconic.moving.records import MovedClick, MovedLink, Record, Unreadable
from laconic.moving.sources.fields import count_of, cut, paged, text_of
from laconic.moving.times import read_moment
from laconic.storage.foreign import Foreign
from laconic.storage.foreign import Record as Row

_URL = frozenset({"keyword", "url", "timestamp", "clicks"})
_LOG = frozenset({"click_id", "click_time", "shorturl", "referrer", "user_agent", "ip_address"})
TABLES = ("url", "log")


def find(tables: Mapping[str, frozenset[str]]) -> str | None:
    """The prefix of its tables, where this is a database of YOURLS."""
    for name, columns in sorted(tables.items()):
        if name.endswith("url") and columns >= _URL:
            return name.removesuffix("url")
    return None


class Yourls:
    """See `Source`."""

    kind = "yourls"

    def __init__(
        self, database: Foreign, prefix: str, *, has_log: bool, name: str, zone: tzinfo = UTC
    ) -> None:
        self.name = name
        self._database = database
        self._urls = f"{prefix}url"
        self._log = f"{prefix}log" if has_log else None
        self._zone = zone

    @classmethod
    def open(
        cls, database: Foreign, tables: Mapping[str, frozenset[str]], name: str, zone: tzinfo
    ) -> "Yourls":
        prefix = find(tables) or ""
        has_log = tables.get(f"{prefix}log", frozenset()) >= _LOG
        return cls(database, prefix, has_log=has_log, name=name, zone=zone)

    async def size(self) -> int | None:
        clicks = await self._database.count(self._log) if self._log else 0
        return clicks + await self._database.count(self._urls)

    async def records(self) -> AsyncIterator[Record]:
        async for row in paged(self._database, self._urls, "keyword"):
            yield self._link(row)
        if self._log:
            async for row in paged(self._database, self._log, "click_id"):
                yield self._click(row)

    async def close(self) -> None:
        await self._database.close()

    def _link(self, row: Row) -> Record:
        code = text_of(row["keyword"])
        place = f"{self._urls} {code}"
        try:
            title, notes = cut(row.get("title"))
            return MovedLink(
                place,
                code,
                text_of(row["url"]),
                read_moment(row["timestamp"], self._zone),
                title=title,
                clicks=count_of(row["clicks"]),
                notes=notes,
            )
        except ValueError as error:
            return Unreadable(place, "malformed", str(error))

    def _click(self, row: Row) -> Record:
        place = f"{self._log} {row['click_id']}"
        try:
            moment = read_moment(row["click_time"], self._zone)
        except ValueError as error:
            return Unreadable(place, "malformed", str(error))
        if moment is None:
            return Unreadable(place, "malformed", "The click has no time.")
        referrer = text_of(row["referrer"])
        country = text_of(row.get("country_code")).strip().upper()
        return MovedClick(
            text_of(row["shorturl"]),
            None,
            int(row["click_id"]),
            moment,
            address=text_of(row["ip_address"]),
            user_agent=text_of(row["user_agent"]),
            referrer="" if referrer == "direct" else referrer,
            country=country if len(country) == 2 and country.isalpha() else "",
        )
