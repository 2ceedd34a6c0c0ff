"""Which domain a caller means: by the host they name, or by where their links are."""

from laconic.errors import ChoiceRefused, LinkUnknown
from laconic.links.store import LinkStore
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.model import DEFAULT_DOMAIN_ID

# A workspace with more domains than this has to name the one it means.
_MOST_SEARCHED = 100


class Locator:
    def __init__(self, directory: Directory, store: LinkStore) -> None:
        self._directory = directory
        self._store = store

    async def for_new(self, workspace_id: int, host: str | None) -> int:
        """Where a new link goes."""
        if host is None:
            return self._directory.default_of(workspace_id)
        domain = await self._directory.find_now(workspace_id, host)
        if domain is None or not domain.is_served:
            raise ChoiceRefused("domain", "This workspace has no such domain, or it is not proved yet.")
        return domain.id

    async def for_list(self, workspace_id: int, host: str | None) -> int | None:
        """None when nobody named a domain: then links of all of them are meant."""
        if host is None:
            return None
        domain = await self._directory.find_now(workspace_id, host)
        if domain is None:
            raise ChoiceRefused("domain", "This workspace has no such domain.")
        return domain.id

    async def of_code(self, workspace_id: int, code: str, host: str | None) -> int:
        """The domain of the link that is meant. Without a host: the default domain's link, or the only one there is."""
        if host is not None:
            domain = await self._directory.find_now(workspace_id, host)
            if domain is None:
                raise LinkUnknown(code)
            return domain.id
        domain_ids = self._directory.ids_of(workspace_id)
        if len(domain_ids) == 1:
            return domain_ids[0]
        found = await self._store.domains_of_code(workspace_id, code, domain_ids[:_MOST_SEARCHED])
        for first in (domain_ids[0], DEFAULT_DOMAIN_ID):
            if first in found:
                return first
        if len(found) > 1:
            raise ChoiceRefused("domain", f"Several domains have a link {code!r}: say which one is meant.")
        return found.pop() if found else domain_ids[0]
