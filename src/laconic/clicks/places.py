"""Where a visitor is, and what of the address may be stored.

The country is looked up by the whole address, in data that comes with a package (registries' allocations); in a
GeoIP file of the operator's own first, if there is one. Then the address is cut.
"""

from collections.abc import Callable
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton
from typing import NamedTuple

from laconic import clock
from laconic.clicks.geoip import UNKNOWN, GeoipFile

_MOST_PLACES = 1 << 17

_IPV4_IN_IPV6 = bytes(10) + b"\xff\xff"
# What registries write where no country is: Europe, Asia-Pacific, nobody.
_NO_COUNTRY = (None, "EU", "AP", "ZZ")


class Place(NamedTuple):
    """What is kept of an address."""

    # "192.0.2.0/24", "2001:db8:1::/48"; whole with privacy "full", None with "none" or when unreadable.
    network: str | None
    # ISO 3166-1 alpha-2, or empty.
    country: str
    # Empty when unknown, and always without a GeoIP file.
    city: str


NOWHERE = Place(None, "", "")


class Places(dict[bytes, Place]):
    """`places[b"192.0.2.7"]`. A new one costs a few microseconds, a known one a dictionary read."""

    def __init__(
        self, privacy: str, geoip_file: str = "", *, monotonic: Callable[[], float] = clock.monotonic
    ) -> None:
        """`privacy` is full, truncate or none; `geoip_file` a path, or empty."""
        from iptocc import country_code

        super().__init__()
        self._country_code = country_code
        self.privacy = privacy
        self._keep = {"full": _whole, "truncate": _cut, "none": _nothing}[privacy]
        self._geoip = GeoipFile(geoip_file, monotonic=monotonic) if geoip_file else None

    @property
    def has_cities(self) -> bool:
        """Whether a place may have a city now: without a GeoIP file none has."""
        return self._geoip is not None and self._geoip.is_open

    def refresh(self) -> None:
        """Takes up a GeoIP file that was replaced; asks the disk at most once a minute."""
        if self._geoip is not None and self._geoip.refresh():
            self.clear()

    def __missing__(self, address: bytes) -> Place:
        if len(self) >= _MOST_PLACES:
            self.clear()
        place = self[address] = self._read(address)
        return place

    def _read(self, address: bytes) -> Place:
        packed = _packed(address)
        if packed is None:
            return NOWHERE
        # In its one canonical form, however it was written.
        text = inet_ntop(AF_INET if len(packed) == 4 else AF_INET6, packed)
        country, city = self._geoip.find(text) if self._geoip else UNKNOWN
        if not country:
            code = self._country_code(text)
            country = "" if code in _NO_COUNTRY else code
        return Place(self._keep(packed, text), country, city)


def _packed(address: bytes) -> bytes | None:
    """Its 4 or 16 bytes; None when it is no address. IPv4 in IPv6's clothes is IPv4; a zone ("%eth0") is no matter."""
    try:
        text = address.decode("ascii")
        if ":" not in text:
            return inet_pton(AF_INET, text)
        packed = inet_pton(AF_INET6, text.partition("%")[0])
    except (OSError, ValueError):
        return None
    return packed[12:] if packed.startswith(_IPV4_IN_IPV6) else packed


def _whole(packed: bytes, text: str) -> str | None:
    return text


def _cut(packed: bytes, text: str) -> str | None:
    if len(packed) == 4:
        return text[: text.rindex(".")] + ".0/24"
    return inet_ntop(AF_INET6, packed[:6] + bytes(10)) + "/48"


def cut_network(address: str) -> str:
    """A whole address, as `Place.network` has it, cut to its network; one that is cut already stays."""
    packed = _packed(address.encode())
    return address if packed is None else _cut(packed, address) or address


def _nothing(packed: bytes, text: str) -> str | None:
    return None
