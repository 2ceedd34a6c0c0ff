"""Hosts that no visitor is sent to, by the operator's word. Judged when a link is looked up, not on a hit."""

import re

# A location is made of URL characters and has no credentials: what follows the slashes is the host.
_HOST = re.compile(r"https?://(\[[^\]]*\]|[^/?#:]*)", re.IGNORECASE)


class BlockedHosts:
    """Names in ASCII and lower case, as the URL parser writes them."""

    def __init__(self) -> None:
        self._hosts: dict[str, bool] = {}

    def put(self, host: str, *, includes_subdomains: bool) -> None:
        self._hosts[host] = includes_subdomains

    def drop(self, host: str) -> None:
        self._hosts.pop(host, None)

    def blocks(self, name: str) -> bool:
        """The name itself, or one that it lies below of."""
        if not self._hosts:
            return False
        name = name.strip(".")
        if name in self._hosts:
            return True
        parent = name.partition(".")[2]
        while parent:
            if self._hosts.get(parent):
                return True
            parent = parent.partition(".")[2]
        return False

    def blocks_location(self, location: str) -> bool:
        if not self._hosts:
            return False
        found = _HOST.match(location)
        return found is not None and self.blocks(found[1].lower())
