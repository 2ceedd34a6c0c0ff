"""TXT records, asked of the resolver that the operator's machine uses: a user chooses the name, not whom we ask."""

from collections.abc import Sequence

import dns.asyncresolver
import dns.exception
import dns.resolver

from laconic.errors import CannotFetch

_SECONDS = 5.0


class Names:
    """`servers` and `port` are for tests; by default the system's resolvers are asked."""

    def __init__(self, servers: Sequence[str] = (), port: int = 53) -> None:
        self._servers = list(servers)
        self._port = port

    async def texts(self, name: str) -> list[str]:
        """The TXT records of a name; none when there are none. Raises CannotFetch when that cannot be known."""
        try:
            answer = await self._resolver().resolve(name, "TXT", lifetime=_SECONDS, search=False)
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except (dns.exception.DNSException, OSError, UnicodeError) as error:
            raise CannotFetch("dns", f"DNS does not answer for {name}.") from error
        # One record may be cut into pieces of 255 bytes (RFC 1035, section 3.3.14).
        return [b"".join(record.strings).decode("utf-8", "replace") for record in answer]

    def _resolver(self) -> dns.asyncresolver.Resolver:
        """A new one each time: its cache would remember that the record was not there yet."""
        resolver = dns.asyncresolver.Resolver(configure=not self._servers)
        if self._servers:
            resolver.nameservers = self._servers
            resolver.port = self._port
        return resolver
