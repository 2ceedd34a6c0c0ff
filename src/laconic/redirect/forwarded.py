"""Whose word on a visitor's address is taken: the proxies that the operator has named, and nobody else's."""

import ipaddress
from collections.abc import Sequence


class TrustedProxies:
    """Built from addresses and networks; none means that forwarded headers are ignored."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._networks = [ipaddress.ip_network(network, strict=False) for network in networks]

    def trusts(self, address: str) -> bool:
        if not self._networks:
            return False
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)

    def visitor_address(self, peer: bytes, forwarded: bytes) -> bytes:
        """The last address of X-Forwarded-For that is not one of our own proxies: what stands before it is hearsay."""
        address = peer
        for part in reversed(forwarded.split(b",")):
            text = part.strip().decode("ascii", "replace")
            try:
                ipaddress.ip_address(text)
            except ValueError:
                return address
            address = text.encode()
            if not self.trusts(text):
                return address
        return address
