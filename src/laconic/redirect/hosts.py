"""Which domain a Host header means. An unknown name means the default domain."""

from collections.abc import Mapping

# Spellings of Host that are remembered: bounds what a hostile client can make us remember.
_MOST_SPELLINGS = 1_000
_LONGEST_NAME = 255


class Hosts:
    """`prefix_of` is called by the lane for every request, so it keeps answers under the header's raw bytes."""

    def __init__(self, default_domain_id: int, domains: Mapping[str, int] | None = None) -> None:
        self._default = b"%d" % default_domain_id
        self._domains = dict(domains or {})
        self._prefixes = {
            host.encode("ascii"): b"%d" % domain_id for host, domain_id in self._domains.items()
        }
        self._spellings: dict[bytes, bytes] = {}

    def prefix_of(self, host: bytes) -> bytes:
        """The first part of a cache key."""
        return self._spellings.get(host) or self._learn(host)

    def _learn(self, host: bytes) -> bytes:
        prefix = self._prefixes.get(_bare(host), self._default)
        if len(self._spellings) < _MOST_SPELLINGS and len(host) <= _LONGEST_NAME:
            self._spellings[host] = prefix
        return prefix

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
