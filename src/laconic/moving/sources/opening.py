"""Finding out what somebody wants to import from, and opening it."""

from collections.abc import Mapping
from datetime import UTC, tzinfo
from pathlib import Path

from laconic.errors import ChoiceRefused
from laconic.moving.records import Source
from laconic.moving.sources import kutt, shlink, yourls
from laconic.moving.sources.kutt import Kutt
from laconic.moving.sources.own import OwnFile
from laconic.moving.sources.rows import RowFile
from laconic.moving.sources.shlink import Shlink
from laconic.moving.sources.yourls import Yourls
from laconic.storage.foreign import is_foreign, open_foreign

KINDS = ("laconic", "yourls", "shlink", "kutt", "bitly", "csv")
_DATABASES = ("yourls", "shlink", "kutt")


async def open_source(
    place: str,
    *,
    kind: str | None = None,
    name: str | None = None,
    columns: Mapping[str, str] | None = None,
    zone: tzinfo = UTC,
) -> Source:
    """`place` is a file or a database's URL; without a `kind` it is told by what is in it.

    `name` tells two installations of one kind apart: clicks of a source are added once.
    """
    if kind in (None, *_DATABASES) and is_foreign(place):
        return await _open_database(place, kind, name, zone)
    path = Path(place)
    if kind == "laconic" or (kind is None and _is_own(path)):
        return OwnFile(path)
    found = kind or ("bitly" if "bitly" in path.name.lower() else "csv")
    return RowFile(path, kind=found, name=name or found, columns=columns or {}, zone=zone)


def _is_own(path: Path) -> bool:
    try:
        return bool(OwnFile(path).name)
    except (ChoiceRefused, EOFError):
        return False


async def _open_database(place: str, kind: str | None, name: str | None, zone: tzinfo) -> Source:
    database = await open_foreign(place, _is_wanted)
    try:
        tables = await database.tables()
        if kind in (None, "shlink") and shlink.find(tables):
            return Shlink(database, tables, name or "shlink", zone)
        if kind in (None, "kutt") and kutt.find(tables):
            return Kutt(database, tables, name or "kutt", zone)
        if kind in (None, "yourls") and yourls.find(tables) is not None:
            return Yourls.open(database, tables, name or "yourls", zone)
        raise ChoiceRefused("source", f"This is no database of {kind or 'YOURLS, Shlink or Kutt'}.")
    except BaseException:
        await database.close()
        raise


def _is_wanted(table: str) -> bool:
    """YOURLS has a prefix of the owner's choice."""
    return table in shlink.TABLES + kutt.TABLES or table.endswith(yourls.TABLES)
