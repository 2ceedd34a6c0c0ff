"""Where a visitor is, and what of the address is kept."""

import ipaddress
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mmdb_writer import MMDBWriter
from netaddr import IPSet
from structlog.testing import capture_logs

from laconic.clicks import places as places_module
from laconic.clicks.places import NOWHERE, Place, Places

BERLIN = {"city": {"names": {"en": "Berlin", "de": "Berlin"}}, "country": {"iso_code": "DE"}}
BOXFORD = {"city": {"names": {"en": "Boxford"}}, "country": {"iso_code": "GB"}}


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def write_geoip(path: Path, records: dict[str, Any], *, ip_version: Literal[4, 6] = 6) -> None:
    """As the makers of such files publish them: written aside, then renamed."""
    writer = MMDBWriter(ip_version, "Test-City", ipv4_compatible=ip_version == 6)
    for network, record in records.items():
        writer.insert_network(IPSet([network]), record)
    aside = path.with_suffix(".new")
    writer.to_db_file(str(aside))
    aside.rename(path)


@pytest.fixture
def geoip(tmp_path: Path) -> Path:
    path = tmp_path / "city.mmdb"
    write_geoip(path, {"192.0.2.0/25": BERLIN, "192.0.2.128/25": BOXFORD, "2001:db8:1::/48": BERLIN})
    return path


@pytest.mark.parametrize(
    ("privacy", "ipv4", "ipv6"),
    [
        ("truncate", "81.2.69.0/24", "2001:4860:4860::/48"),
        ("full", "81.2.69.142", "2001:4860:4860::8888"),
        ("none", None, None),
    ],
)
def test_what_is_kept_of_an_address(privacy: str, ipv4: str | None, ipv6: str | None) -> None:
    """A network, the whole, or nothing; the country in any case."""
    places = Places(privacy)
    assert places[b"81.2.69.142"] == Place(ipv4, "GB", "")
    assert places[b"2001:4860:4860::8888"] == Place(ipv6, "US", "")


@pytest.mark.parametrize(
    ("address", "network"),
    [
        (b"::ffff:81.2.69.142", "81.2.69.0/24"),
        (b"::FFFF:5102:458E", "81.2.69.0/24"),
        (b"2001:0DB8:0001:0002::1", "2001:db8:1::/48"),
        (b"fe80::1%eth0", "fe80::/48"),
        (b"::1", "::/48"),
        (b"10.1.2.3", "10.1.2.0/24"),
    ],
)
def test_an_address_has_one_form(address: bytes, network: str) -> None:
    """IPv4 in IPv6's clothes is IPv4; zones, capitals and leading zeros do not matter."""
    assert Places("truncate")[address].network == network


@pytest.mark.parametrize(
    "address",
    [b"", b"unknown", b"1.2.3", b"1.2.3.256", b"01.2.3.4", b"1.2.3.4:80", b"\xff", b"1.2.3.4\0", b"1" * 64],
)
def test_what_is_no_address(address: bytes) -> None:
    """Nothing is kept of it, with any privacy."""
    assert [Places(privacy)[address] for privacy in ("full", "truncate", "none")] == [NOWHERE] * 3


# Published for years by those who hold them, or by the registry that gave them.
_WELL_KNOWN = {
    "8.8.8.8": "US",  # Google
    "81.2.69.142": "GB",  # Andrews & Arnold
    "89.160.20.112": "SE",  # Bredband2
    "193.0.6.139": "NL",  # RIPE NCC
    "217.160.0.1": "DE",  # IONOS
    "77.88.8.8": "RU",  # Yandex
    "175.16.199.1": "CN",
    "203.178.141.194": "JP",  # WIDE
    "200.160.2.3": "BR",  # NIC.br
    "2001:218::1": "JP",  # NTT
    "2001:220::1": "KR",
    "2001:250::1": "CN",
    "2001:4860:4860::8888": "US",  # Google
}


@pytest.mark.parametrize(("address", "country"), _WELL_KNOWN.items())
def test_countries_of_well_known_addresses(address: str, country: str) -> None:
    """Found offline, in data that comes with a package."""
    assert Places("none")[address.encode()].country == country


@pytest.mark.parametrize("address", [b"127.0.0.1", b"192.168.1.1", b"::1", b"fe80::1", b"2001:db8::1"])
def test_private_addresses_are_in_no_country(address: bytes) -> None:
    """Unknown, which is not an error."""
    assert Places("truncate")[address].country == ""


def test_the_operators_file(geoip: Path) -> None:
    """It knows cities, and its word on the country goes before the package's; what it lacks is found as before.

    The whole address is looked up: both halves of one /24 are told apart.
    """
    places = Places("truncate", str(geoip))
    assert places.has_cities
    assert places[b"192.0.2.7"] == Place("192.0.2.0/24", "DE", "Berlin")
    assert places[b"192.0.2.200"] == Place("192.0.2.0/24", "GB", "Boxford")
    assert places[b"2001:db8:1::7"] == Place("2001:db8:1::/48", "DE", "Berlin")
    assert places[b"8.8.8.8"] == Place("8.8.8.0/24", "US", "")


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"country": "de", "city": "Berlin"}, ("DE", "Berlin")),
        ({"country": "Germany", "country_code": "DE", "city": "Berlin"}, ("DE", "Berlin")),
        ({"country": {"iso_code": "DE"}}, ("DE", "")),
        ({"country": {"iso_code": 49}, "city": {"names": ["Berlin"]}}, ("", "")),
        ({"city": {"names": {"de": "Berlin"}}}, ("", "")),
        ({"autonomous_system_number": 64500}, ("", "")),
        ("Berlin", ("", "")),
    ],
)
def test_other_makers_files(tmp_path: Path, record: Any, expected: tuple[str, str]) -> None:
    """What is understood of a record is used, and nothing in it can fail."""
    path = tmp_path / "other.mmdb"
    write_geoip(path, {"192.0.2.0/24": record})
    assert Places("none", str(path))[b"192.0.2.7"] == (None, *expected)


def test_a_file_for_ipv4_alone(tmp_path: Path) -> None:
    """IPv6 addresses are not in it; that is not worth a log line."""
    path = tmp_path / "four.mmdb"
    write_geoip(path, {"192.0.2.0/24": BERLIN}, ip_version=4)
    with capture_logs() as logs:
        places = Places("truncate", str(path))
        assert places[b"2001:4860:4860::8888"] == Place("2001:4860:4860::/48", "US", "")
        assert places[b"192.0.2.7"].city == "Berlin"
    assert [line["event"] for line in logs] == ["GeoIP file opened"]


@pytest.mark.parametrize("content", [None, b"", b"no database", b"\xab\xcd\xefMaxMind.com" * 3])
def test_a_file_that_is_missing_or_broken(tmp_path: Path, content: bytes | None) -> None:
    """One line says so, and places are found as if there were none."""
    path = tmp_path / "city.mmdb"
    if content is not None:
        path.write_bytes(content)
    with capture_logs() as logs:
        places = Places("truncate", str(path))
        assert places[b"81.2.69.142"] == Place("81.2.69.0/24", "GB", "")
        assert places[b"81.2.70.142"].country == "GB"
    assert not places.has_cities
    assert [line["event"] for line in logs] == ["the GeoIP file cannot be read"]


def test_a_truncated_file(geoip: Path) -> None:
    """As one that is missing, wherever it was cut."""
    whole = geoip.read_bytes()
    for length in range(0, len(whole), 97):
        geoip.write_bytes(whole[:length])
        assert Places("none", str(geoip))[b"81.2.69.142"] == Place(None, "GB", ""), length


def test_a_damaged_file(geoip: Path) -> None:
    """Wrong bytes anywhere in it never raise, and fill no log."""
    whole = geoip.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        geoip.write_bytes(damaged)
        with capture_logs() as logs:
            places = Places("none", str(geoip))
            for address in (b"192.0.2.7", b"192.0.2.200", b"2001:db8:1::7", b"8.8.8.8"):
                assert len(places[address].country) in (0, 2)
        assert sum(line["log_level"] == "warning" for line in logs) <= 1


def test_a_file_that_vanishes_or_is_overwritten(geoip: Path) -> None:
    """What was read of it serves on: neither a deletion nor a truncation under our feet does any harm."""
    clock = Clock()
    places = Places("none", str(geoip), monotonic=clock)
    with geoip.open("r+b") as file:
        file.truncate(0)
    assert places[b"192.0.2.7"].city == "Berlin"
    geoip.unlink()
    clock.seconds = 61
    with capture_logs() as logs:
        places.refresh()
        assert places[b"192.0.2.8"].city == "Berlin"
    assert [line["event"] for line in logs] == ["the GeoIP file cannot be read"]


def test_a_file_that_is_replaced(geoip: Path) -> None:
    """It is taken up within a minute, without a restart; a broken one does not drive out the good one."""
    clock = Clock()
    places = Places("none", str(geoip), monotonic=clock)
    assert places[b"192.0.2.7"].city == "Berlin"
    geoip.write_bytes(b"half a file")
    clock.seconds = 61
    places.refresh()
    assert places[b"192.0.2.7"].city == "Berlin"
    write_geoip(geoip, {"192.0.2.0/24": BOXFORD})
    places.refresh()
    assert places[b"192.0.2.7"].city == "Berlin"
    clock.seconds = 122
    places.refresh()
    assert places[b"192.0.2.7"].city == "Boxford"


def test_a_file_that_comes_later(tmp_path: Path) -> None:
    """The server may start before the file is there."""
    clock = Clock()
    places = Places("none", str(tmp_path / "city.mmdb"), monotonic=clock)
    assert places[b"192.0.2.7"] == NOWHERE
    write_geoip(tmp_path / "city.mmdb", {"192.0.2.0/24": BERLIN})
    clock.seconds = 61
    places.refresh()
    assert places[b"192.0.2.7"].city == "Berlin"
    assert places.has_cities


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many addresses come, only so many are remembered."""
    monkeypatch.setattr(places_module, "_MOST_PLACES", 3)
    places = Places("full")
    sent = [f"192.0.2.{number}".encode() for number in range(8)] * 2
    assert [places[address].network for address in sent] == [address.decode() for address in sent]
    assert len(places) <= 3


@given(st.binary(max_size=64) | st.ip_addresses().map(lambda address: str(address).encode()))
@example(b"\xff")
@example(b"::ffff:0:0%")
def test_no_bytes_are_too_strange(address: bytes) -> None:
    """Whatever is sent, what is kept is a network that the database takes, and never the whole address."""
    place = Places("truncate")[address]
    assert len(place.country) in (0, 2)
    if place.network is not None:
        assert ipaddress.ip_network(place.network).prefixlen in (24, 48)
