"""Whose word on a visitor's address is taken: the proxies that the operator has named, and nobody else's."""

import ipaddress
from collections.abc import Sequence

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class TrustedProxies:
    """Built from addresses and networks; none means that forwarded headers are ignored."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(network, strict=False) for network in networks]

    def trusts(self, address: str) -> bool:
        if not self._networks:
            return False
        parsed = _parse(address)
        return parsed is not None and self._is_ours(parsed)

    def visitor_address(self, peer: bytes, forwarded: bytes) -> bytes:
        """The last address of X-Forwarded-For that is not one of our own proxies: what stands before it is hearsay."""
        address = peer
        for part in reversed(forwarded.split(b",")):
            parsed = _parse(part.strip().decode("ascii", "replace"))
            if parsed is None:
                return address
            address = str(parsed).encode()
            if not self._is_ours(parsed):
                return address
        return address

    def _is_ours(self, address: _Address) -> bool:
        return any(address in network for network in self._networks)


def _parse(text: str) -> _Address | None:
    """The plain address: without a zone, which may be any text, and IPv4 as IPv4 on a socket for both."""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address
