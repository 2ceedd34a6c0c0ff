"""A GeoIP file (.mmdb) of the operator's own: MaxMind's, DB-IP's, IPinfo's.

Whatever becomes of the file, clicks are counted: missing, broken or truncated, it is told once and places are found
without it. It is read from a copy, because a file that is overwritten while it is mapped kills the process that
reads it (SIGBUS); a new one is taken up when it is whole, and until then the last good one serves.
"""

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from laconic import clock

if TYPE_CHECKING:
    from maxminddb import Reader

log = structlog.get_logger(__name__)

_LOOK_EVERY_SECONDS = 60.0

UNKNOWN = ("", "")


class GeoipFile:
    def __init__(self, path: str, *, monotonic: Callable[[], float] = clock.monotonic) -> None:
        self._path = Path(path)
        self._monotonic = monotonic
        self._reader: Reader | None = None
        self._has_failed = False
        self._look_at = monotonic() + _LOOK_EVERY_SECONDS
        # Which file was opened, or could not be; None: there was none to be seen.
        self._seen = self._identity()
        self._open()

    @property
    def is_open(self) -> bool:
        return self._reader is not None

    def refresh(self) -> bool:
        """Takes up the file when it has changed. Whether what is found may be different now."""
        if self._monotonic() < self._look_at:
            return False
        self._look_at = self._monotonic() + _LOOK_EVERY_SECONDS
        identity = self._identity()
        if identity == self._seen:
            return False
        self._seen = identity
        return self._open()

    def find(self, address: str) -> tuple[str, str]:
        """Country (ISO alpha-2) and city of an address; empty where the file says nothing."""
        if self._reader is None:
            return UNKNOWN
        try:
            record: Any = self._reader.get(address)
        except Exception as error:
            # A damaged file raises anything; an IPv6 address in a file for IPv4 is a ValueError, and no damage.
            if not isinstance(error, ValueError) or ":" not in address:
                self._tell(error)
            return UNKNOWN
        return _country_in(record), _city_in(record)

    def _identity(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _open(self) -> bool:
        try:
            reader = _open_copy(self._path)
            kind = str(reader.metadata().database_type)
        except Exception as error:
            # As above; and there may be no room for the copy.
            self._tell(error)
            return False
        self._reader = reader
        self._has_failed = False
        log.info("GeoIP file opened", file=str(self._path), type=kind)
        return True

    def _tell(self, error: Exception) -> None:
        """Once, until a file was opened again."""
        if not self._has_failed:
            log.warning("the GeoIP file cannot be read", file=str(self._path), error=str(error))
        self._has_failed = True


def _open_copy(path: Path) -> "Reader":
    from maxminddb import open_database

    with tempfile.NamedTemporaryFile(prefix="laconic-geoip-") as copy:
        with path.open("rb") as file:
            shutil.copyfileobj(file, copy)
        copy.flush()
        # The file's name goes with the block; its pages stay for as long as they are mapped.
        return open_database(copy.name)


def _country_in(record: Any) -> str:
    """MaxMind and DB-IP: country.iso_code; IPinfo: country_code or country. "" when it says none of them."""
    if not isinstance(record, dict):
        return ""
    country = record.get("country")
    found = country.get("iso_code") if isinstance(country, dict) else record.get("country_code", country)
    if isinstance(found, str) and len(found) == 2 and found.isascii() and found.isalpha():
        return found.upper()
    return ""


def _city_in(record: Any) -> str:
    """MaxMind and DB-IP: city.names.en; IPinfo: city."""
    city = record.get("city") if isinstance(record, dict) else None
    if isinstance(city, dict):
        names = city.get("names")
        city = names.get("en") if isinstance(names, dict) else None
    return city.replace("\0", "") if isinstance(city, str) else ""
