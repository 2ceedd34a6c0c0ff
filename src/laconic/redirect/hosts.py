"""Which domain a Host header means. An unknown name means the default domain."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

# Spellings of Host that are remembered: bounds what a hostile client can make us remember.
_MOST_SPELLINGS = 1_000
_LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Site:
    """What a visitor of a domain meets besides its links."""

    domain_id: int
    root_target: str | None = None
    not_found_target: str | None = None


class Hosts:
    """`prefix_of` is called by the lane for every request, so it keeps answers under the header's raw bytes."""

    def __init__(self, default_domain_id: int, domains: Mapping[str, int] | None = None) -> None:
        self._default = b"%d" % default_domain_id
        self._sites: dict[bytes, Site] = {}
        self._by_prefix: dict[bytes, Site] = {}
        self._spellings: dict[bytes, bytes] = {}
        self._forget: list[Callable[[], None]] = []
        for host, domain_id in (domains or {}).items():
            self.put(host, Site(domain_id))

    def prefix_of(self, host: bytes) -> bytes:
        """The first part of a cache key."""
        return self._spellings.get(host) or self._learn(host)

    def _learn(self, host: bytes) -> bytes:
        site = self._sites.get(_bare(host))
        prefix = self._default if site is None else b"%d" % site.domain_id
        if len(self._spellings) < _MOST_SPELLINGS and len(host) <= _LONGEST_NAME:
            self._spellings[host] = prefix
        return prefix

    def domain_of(self, host: bytes) -> int:
        return int(self.prefix_of(host))

    def site_of(self, host: bytes) -> Site | None:
        """The site of a name that has its own namespace; None on the default domain and on unknown names."""
        prefix = self.prefix_of(host)
        return None if prefix == self._default else self._by_prefix.get(prefix)

    def not_found_target(self, host: bytes) -> str | None:
        site = self._by_prefix.get(self.prefix_of(host))
        return None if site is None else site.not_found_target

    # While the server runs.

    def put(self, host: str, site: Site) -> None:
        self._sites[host.encode("ascii")] = site
        self._by_prefix[b"%d" % site.domain_id] = site
        self._changed()

    def drop(self, host: str, domain_id: int) -> None:
        """Unless the name has come to mean another domain meanwhile."""
        name = host.encode("ascii")
        site = self._sites.get(name)
        if site is not None and site.domain_id == domain_id:
            del self._sites[name]
            del self._by_prefix[b"%d" % domain_id]
            self._changed()

    def when_changed(self, forget: Callable[[], None]) -> None:
        """For whoever remembers what a header meant: `forget` is called when it may mean something else."""
        self._forget.append(forget)

    def _changed(self) -> None:
        self._spellings.clear()
        for forget in self._forget:
            forget()


def _bare(host: bytes) -> bytes:
    """Without port and trailing dot, in lower case."""
    name, _, port = host.rpartition(b":")
    if name and port.isdigit():
        host = name
    return host.lower().rstrip(b".")
