"""What Shlink and Kutt have in common: links in one table, `visits` and `domains` in two others."""

from collections.abc import Mapping
from datetime import UTC, tzinfo
from typing import Any

from laconic.moving.sources.fields import text_of
from laconic.storage.foreign import Foreign

_MOST_DOMAINS = 100_000


class TableSource:
    """See `Source`."""

    links: str
    """The table that links are in."""

    def __init__(
        self, database: Foreign, tables: Mapping[str, frozenset[str]], name: str, zone: tzinfo = UTC
    ) -> None:
        self.name = name
        self._database = database
        self._tables = tables
        self._zone = zone
        self._domains: dict[Any, str] = {}

    async def size(self) -> int | None:
        visits = await self._database.count("visits") if "visits" in self._tables else 0
        return visits + await self._database.count(self.links)

    async def close(self) -> None:
        await self._database.close()

    async def _read_domains(self, column: str) -> None:
        """Their hosts, by id."""
        if "domains" in self._tables:
            rows = await self._database.page("domains", "id", None, _MOST_DOMAINS)
            self._domains = {row["id"]: text_of(row[column]) for row in rows}
