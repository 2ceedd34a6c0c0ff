"""Which domain a Host header means. An unknown name means the default domain."""

from collections.abc import Mapping


class Hosts:
    """`prefix_of` is called by the lane for every request, so it keeps answers under the header's raw bytes."""

    def __init__(self, default_domain_id: int, domains: Mapping[str, int] | None = None) -> None:
        self._default = b"%d" % default_domain_id
        self._default_domain_id = default_domain_id
        self._domains = dict(domains or {})
        self._prefixes: dict[bytes, bytes] = {}
        for host, domain_id in self._domains.items():
            self._prefixes[host.encode("ascii")] = b"%d" % domain_id

    def prefix_of(self, host: bytes) -> bytes:
        """The first part of a cache key."""
        return self._prefixes.get(host) or self._prefixes.get(_bare(host), self._default)

    def known(self, host: str) -> int | None:
        """The domain of a name that somebody has written; None when it is not one of ours."""
        return self._domains.get(host.lower().rstrip("."))

    def domain_of(self, host: bytes) -> int:
        return int(self.prefix_of(host))


def _bare(host: bytes) -> bytes:
    """Without port and trailing dot, in lower case."""
    name, _, port = host.rpartition(b":")
    if name and port.isdigit():
        host = name
    return host.lower().rstrip(b".")
