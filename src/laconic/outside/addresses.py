"""Which hosts are on the public Internet: a table of address blocks and one of names.

Python 3.11's `ipaddress` is used for arithmetic only. Its `is_global` calls 192.88.99.0/24, 64:ff9b:1::/48,
5f00::/16, 3fff::/20, fec0::/10 and all unallocated IPv6 space public, and it looks into few of the addresses
that carry another one.

The table is strict where the registries leave a choice. Blocks that IANA calls globally reachable, but where
no web site can be (192.0.0.9/32, 192.0.0.10/32, parts of 2001::/23), stay refused. So does every IPv6 address
that only wraps an IPv4 one (mapped, compatible, translated, NAT64, 6to4, Teredo): whoever means a public IPv4
address can write it.
"""

import re
from contextlib import suppress
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

# IANA IPv4 Special-Purpose Address Registry and IPv4 Multicast Address Space Registry.
_NOT_PUBLIC_IPV4: Final = (
    "0.0.0.0/8",  # "This network" (RFC 791 section 3.2)
    "10.0.0.0/8",  # Private-Use (RFC 1918)
    "100.64.0.0/10",  # Shared Address Space (RFC 6598); Alibaba's metadata service is 100.100.100.200
    "127.0.0.0/8",  # Loopback (RFC 1122 section 3.2.1.3)
    "168.63.129.16/32",  # not IANA's: Azure's host agent, a public number that only answers inside Azure
    "169.254.0.0/16",  # Link Local (RFC 3927); metadata services of most clouds
    "172.16.0.0/12",  # Private-Use (RFC 1918)
    "192.0.0.0/24",  # IETF Protocol Assignments (RFC 6890 section 2.1); Oracle's metadata is 192.0.0.192
    "192.0.2.0/24",  # Documentation (TEST-NET-1) (RFC 5737)
    "192.88.99.0/24",  # Deprecated (6to4 Relay Anycast) (RFC 7526)
    "192.168.0.0/16",  # Private-Use (RFC 1918)
    "198.18.0.0/15",  # Benchmarking (RFC 2544)
    "198.51.100.0/24",  # Documentation (TEST-NET-2) (RFC 5737)
    "203.0.113.0/24",  # Documentation (TEST-NET-3) (RFC 5737)
    "224.0.0.0/4",  # Multicast (RFC 5771)
    "240.0.0.0/4",  # Reserved (RFC 1112 section 4) and Limited Broadcast (RFC 8190)
)

# Everything outside 2000::/3 is refused at once: IANA's IPv6 Address Space Registry allocates global unicast
# addresses from that block alone. That covers ::/128, ::1/128, IPv4-compatible ::/96 (RFC 4291, 2.5.5.1),
# IPv4-mapped ::ffff:0:0/96, IPv4-translated ::ffff:0:0:0/96 (RFC 2765), NAT64 64:ff9b::/96 and 64:ff9b:1::/48
# (RFC 6052, RFC 8215), discard-only 100::/64 (RFC 6666), dummy prefix 100:0:0:1::/64 (RFC 9780), segment
# routing 5f00::/16 (RFC 9602), unique-local fc00::/7, link-local fe80::/10, site-local fec0::/10 (RFC 3879)
# and multicast ff00::/8.
_GLOBAL_UNICAST: Final = "2000::/3"

# IANA IPv6 Special-Purpose Address Registry, the entries inside 2000::/3.
_NOT_PUBLIC_IPV6: Final = (
    "2001::/23",  # IETF Protocol Assignments (RFC 2928): Teredo, benchmarking, ORCHID, drone tags, anycast
    "2001:db8::/32",  # Documentation (RFC 3849)
    "2002::/16",  # 6to4 (RFC 3056): wraps an IPv4 address, and its relays are gone (RFC 7526)
    "3ffe::/16",  # the former 6bone, given back (RFC 3701)
    "3fff::/20",  # Documentation (RFC 9637)
)


def _blocks(networks: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Each network as (mask, base): an address is inside when `address & mask == base`."""
    parsed: list[IPv4Network | IPv6Network] = [ip_network(network) for network in networks]
    return tuple((int(network.netmask), int(network.network_address)) for network in parsed)


_IPV4_BLOCKS: Final = _blocks(_NOT_PUBLIC_IPV4)
_IPV6_BLOCKS: Final = _blocks(_NOT_PUBLIC_IPV6)
_GLOBAL_MASK, _GLOBAL_BASE = _blocks((_GLOBAL_UNICAST,))[0]

# RFC 5214 section 6.1: an ISATAP interface identifier is 0000:5efe or 0200:5efe, then an IPv4 address.
_ISATAP_MASK: Final = 0xFDFF_FFFF
_ISATAP: Final = 0x0000_5EFE


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether a machine on the public Internet can have this address."""
    value = int(address)
    if isinstance(address, IPv4Address):
        return _is_public_ipv4(value)
    if value & _GLOBAL_MASK != _GLOBAL_BASE or _inside(value, _IPV6_BLOCKS):
        return False
    if (value >> 32) & _ISATAP_MASK == _ISATAP:
        return _is_public_ipv4(value & 0xFFFF_FFFF)
    return True


def _is_public_ipv4(value: int) -> bool:
    return not _inside(value, _IPV4_BLOCKS)


def _inside(value: int, blocks: tuple[tuple[int, int], ...]) -> bool:
    return any(value & mask == base for mask, base in blocks)


def literal(host: str) -> IPv4Address | IPv6Address | None:
    """The address that a host as the WHATWG parser writes it stands for, None for a name.

    The parser has turned every spelling of an IPv4 address into four decimal numbers, and no name ends in a
    number (WHATWG URL, "ends in a number checker"), so a look at the ends of the host tells.
    """
    if host[0] == "[":
        return ip_address(host[1:-1])
    if host[-1] in "0123456789" and host.rpartition(".")[2].isdigit():
        with suppress(ValueError):  # `foo.09..` is a name to WHATWG, and comes here without its dots
            return IPv4Address(host)
    return None


# Names that never lead to the public Internet, by last label. `.test` and `.example` (RFC 6761) are left out:
# people write them in trials and documents. `.onion` (RFC 7686) is public, over Tor.
_LOCAL_TOP_LABELS: Final = frozenset(
    {
        "localhost",  # RFC 6761 section 6.3
        "invalid",  # RFC 6761 section 6.4
        "local",  # RFC 6762 section 3
        *("intranet", "internal", "private", "corp", "home", "lan"),  # RFC 6762 appendix G
        *("localdomain", "localdomain6", "localhost4", "localhost6"),  # /etc/hosts of many systems
    }
)

# Zones by their last two labels whose every name is local.
_LOCAL_ZONES: Final = frozenset(
    {
        "home.arpa",  # RFC 8375
        "service.arpa",  # RFC 9665
        "resolver.arpa",  # RFC 9462
        "ipv4only.arpa",  # RFC 7050 section 8.2
        # Public zones that answer every name with 127.0.0.1, or with what an attacker's test asks for.
        *("localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "fuf.me", "localho.st", "local.gd"),
        *("localdev.me", "localhost.direct", "traefik.me", "1u.ms", "rbndr.us", "rebind.network"),
    }
)

# Zones whose names spell the address they lead to: 10.0.0.1.nip.io, app-10-0-0-1.sslip.io, 0a000001.nip.io.
_ADDRESS_ZONES: Final = frozenset({"nip.io", "sslip.io", "xip.io", "xip.name", "backname.io"})

_SEPARATORS: Final = re.compile("[.-]")
_EIGHT_HEX_DIGITS: Final = re.compile("[0-9a-f]{8}")


def is_local_name(name: str) -> bool:
    """Whether a lower-case name without outer dots means something inside a private network."""
    head, _, top = name.rpartition(".")
    if top in _LOCAL_TOP_LABELS:
        return True
    second = head.rpartition(".")[2]
    zone = f"{second}.{top}"
    if zone in _LOCAL_ZONES:
        return True
    return zone in _ADDRESS_ZONES and _spells_private_address(head.removesuffix(second))


def _spells_private_address(labels: str) -> bool:
    """Whether labels in front of an address zone spell no address, or one that is not public."""
    parts = [part for part in _SEPARATORS.split(labels) if part]
    if parts in ([], ["www"]):
        return False
    spelled = [int(part, 16) for part in parts if _EIGHT_HEX_DIGITS.fullmatch(part)]
    for index in range(len(parts) - 3):
        octets = [int(part) for part in parts[index : index + 4] if part.isdigit() and len(part) <= 3]
        if len(octets) == 4 and max(octets) <= 255:
            spelled.append(int.from_bytes(octets, "big"))
    return not spelled or not all(_is_public_ipv4(value) for value in spelled)
