"""What every process knows by heart: which hosts are served for whom, and which targets are blocked.

It is read once at the start and then kept current: a change has the next revision of the database, a process asks for
that one number every quarter of a second (`serve/`), and reads only the rows past the one it has seen. Redirects and
creates read memory alone.
"""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from laconic.errors import Unavailable
from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.hosts import Hosts, Site
from laconic.workspaces.domains.model import Domain, name_of
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import DEFAULT_DOMAIN_ID


class Directory:
    """Belongs to one loop. `blocked_changed` is called when other targets are blocked than before."""

    def __init__(
        self,
        store: DomainStore,
        hosts: Hosts,
        blocked: BlockedHosts,
        base_url: str,
        *,
        canonical: Callable[[str], str],
        blocked_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._hosts = hosts
        self._blocked = blocked
        self._canonical = canonical
        self._blocked_changed = blocked_changed
        base = urlsplit(base_url)
        self._base_url = base_url
        self._scheme = base.scheme
        self._port = "" if base.port is None else f":{base.port}"
        self._seen = self._seen_domains = self._seen_blocked = 0
        self._by_id: dict[int, Domain] = {}
        self._of_workspace: dict[int, dict[str, Domain]] = defaultdict(dict)
        self._owners: dict[str, int] = {}
        self._defaults: dict[int, int] = {}
        self._prefixes = {DEFAULT_DOMAIN_ID: f"{base_url}/"}
        self._reading = asyncio.Lock()

    async def refresh(self) -> None:
        """Reads what has changed since the last time."""
        async with self._reading:
            revision = await self._store.revision()
            if revision == self._seen:
                return
            domains = await self._store.changed_since(self._seen_domains)
            blocked = await self._store.blocked_since(self._seen_blocked)
            # Those that went first: a host may have passed from one workspace to another, a default to another host.
            for domain in sorted(domains, key=lambda one: (one.is_served, one.is_default)):
                self._learn(domain)
                self._seen_domains = max(self._seen_domains, domain.revision)
            for host, includes_subdomains, is_removed, row_revision in blocked:
                if is_removed:
                    self._blocked.drop(host)
                else:
                    self._blocked.put(host, includes_subdomains=bool(includes_subdomains))
                self._seen_blocked = row_revision
            if blocked:
                self._blocked_changed()
                for domain in self._by_id.values():
                    self._publish(domain)
            self._seen = revision

    async def catch_up(self) -> None:
        """After a change of our own. It is made: should it not be readable now, it is heard of as by the others."""
        with contextlib.suppress(Unavailable):
            await self.refresh()

    def _learn(self, domain: Domain) -> None:
        before = self._by_id.get(domain.id)
        if before is not None:
            self._hosts.drop(before.host, domain.id)
            if self._owners.get(before.host) == domain.id:
                del self._owners[before.host]
            if before.workspace_id is not None:
                self._of_workspace[before.workspace_id].pop(before.host, None)
                if self._defaults.get(before.workspace_id) == domain.id:
                    del self._defaults[before.workspace_id]
        self._by_id[domain.id] = domain
        if domain.workspace_id is not None:
            self._of_workspace[domain.workspace_id][domain.host] = domain
            if domain.is_default and domain.is_served:
                self._defaults[domain.workspace_id] = domain.id
        if domain.id != DEFAULT_DOMAIN_ID:
            self._prefixes[domain.id] = f"{self._scheme}://{domain.host}{self._port}/"
        if domain.is_served:
            self._owners[domain.host] = domain.id
        self._publish(domain)

    def _publish(self, domain: Domain) -> None:
        """To the data plane, which knows no tenants."""
        if domain.is_served:
            targets = (
                self._unless_blocked(target) for target in (domain.root_target, domain.not_found_target)
            )
            self._hosts.put(domain.host, Site(domain.id, *targets))

    def _unless_blocked(self, target: str | None) -> str | None:
        return None if target is None or self._blocked.blocks_location(target) else target

    # What others ask.

    def is_own(self, name: str) -> bool:
        """Do visitors of this host come to us?"""
        return name in self._owners

    def is_blocked(self, name: str) -> bool:
        return self._blocked.blocks(name)

    def prefix(self, domain_id: int) -> str:
        """What a short URL on this domain begins with: from the settings and the table, never from a request."""
        return self._prefixes.get(domain_id) or f"{self._base_url}/"

    def short_url(self, domain_id: int, code: str) -> str:
        return self.prefix(domain_id) + code

    def own_host_of(self, domain_id: int) -> str | None:
        """None for the shared domain, whose host is a matter of the settings."""
        known = self._by_id.get(domain_id)
        return None if known is None or domain_id == DEFAULT_DOMAIN_ID else known.host

    def host_of(self, domain_id: int) -> str:
        """That of the shared domain for one that is not known yet, as `prefix` has it."""
        return self._by_id.get(domain_id, self._by_id[DEFAULT_DOMAIN_ID]).host

    def default_of(self, workspace_id: int) -> int:
        """Where new links go that name no domain."""
        return self._defaults.get(workspace_id, DEFAULT_DOMAIN_ID)

    def find(self, workspace_id: int, host: str) -> Domain | None:
        """The workspace's domain or the shared one, by its host; another tenant's is none."""
        name = self._name_of(host)
        shared = self._by_id.get(DEFAULT_DOMAIN_ID)
        if shared is not None and name == shared.host:
            return shared
        return self._of_workspace.get(workspace_id, {}).get(name)

    async def find_now(self, workspace_id: int, host: str) -> Domain | None:
        """The same, after a second look: another process may have added or proved it a moment ago."""
        domain = self.find(workspace_id, host)
        if domain is not None and domain.is_served:
            return domain
        await self.catch_up()
        return self.find(workspace_id, host)

    async def know(self, domain_ids: Iterable[int]) -> None:
        """Makes sure that links on these domains can be shown: one may be newer than what was read last."""
        if not self._prefixes.keys() >= set(domain_ids):
            await self.catch_up()

    def find_served(self, host: str) -> Domain | None:
        """Whoever it belongs to: for the operator."""
        domain_id = self._owners.get(self._name_of(host))
        return None if domain_id is None else self._by_id[domain_id]

    def ids_of(self, workspace_id: int) -> list[int]:
        """Every domain on which the workspace may have links, given-up ones too; the default first."""
        own = [domain.id for domain in self._of_workspace.get(workspace_id, {}).values()]
        first = self.default_of(workspace_id)
        return [first, *(one for one in (DEFAULT_DOMAIN_ID, *own) if one != first)]

    def _name_of(self, host: str) -> str:
        name = host.strip().rstrip(".").lower()
        # Known by the name that browsers send, whatever script it was written in.
        return name if name.isascii() else name_of(name, self._canonical)
