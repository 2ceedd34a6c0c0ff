"""Adding, proving, changing and giving up domains.

When a verb returns, this process serves the change, and every other one does within a second.
"""

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from laconic import clock
from laconic.errors import ChoiceRefused, Conflict, DomainInUse, DomainNotProved, DomainTaken, DomainUnknown
from laconic.ids import IdSource
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.domains.model import Domain, DomainDraft, DomainEdit, host_of, name_of
from laconic.workspaces.domains.store import DomainStore

if TYPE_CHECKING:
    from laconic.workspaces.domains.proof import ProofReader

Method = Literal["dns", "http", "any"]

# Every process keeps all of them in memory, given-up ones too.
_MOST_DOMAINS = 1_000


class Domains:
    """The verbs. `canonical` writes a host as the URL parser does, `check_target` judges a target.

    `open_proofs` is asked at the first proof: what reads them takes a while to import, and few commands need it.
    """

    def __init__(
        self,
        store: DomainStore,
        directory: Directory,
        open_proofs: "Callable[[], ProofReader]",
        *,
        base_host: str,
        canonical: Callable[[str], str],
        check_target: Callable[[str], str],
        allow_private: bool = False,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._store = store
        self._directory = directory
        self._open_proofs = open_proofs
        self._proofs: ProofReader | None = None
        self._base_host = base_host
        self._canonical = canonical
        self._check_target = check_target
        self._allow_private = allow_private
        self._now = now
        self._ids = IdSource()

    async def list_all(self, workspace_id: int) -> list[Domain]:
        return await self._store.list_all(workspace_id)

    async def get(self, workspace_id: int, host: str) -> Domain:
        """The workspace's own, or the shared one."""
        shared = self._directory.find(workspace_id, host)
        if shared is not None and shared.is_shared:
            return shared
        return await self._own(workspace_id, host)

    async def add(self, workspace_id: int, draft: DomainDraft, *, is_trusted: bool = False) -> Domain:
        """A claim that is to be proved, unless the operator vouches for it.

        The workspace's subdomain of the base host needs no proof either, for the slug is the tenant's.
        """
        host = host_of(draft.host, self._canonical, allow_private=self._allow_private)
        moment = self._now()
        is_subdomain = await self._is_own_subdomain(workspace_id, host, is_trusted=is_trusted)
        if (known := await self._store.find(workspace_id, host)) is not None and not known.is_deleted:
            raise ChoiceRefused("host", f"This workspace has the domain {host} already.")
        if known is None and await self._store.count_all(workspace_id) >= _MOST_DOMAINS:
            raise ChoiceRefused("host", f"A workspace has at most {_MOST_DOMAINS} domains.")
        needs_proof = not (is_subdomain or is_trusted)
        claim = Domain(
            id=self._ids.take(moment),
            workspace_id=workspace_id,
            host=host,
            is_default=False,
            verified_at=None if needs_proof else moment,
            root_target=self._target(draft.root_target),
            not_found_target=self._target(draft.not_found_target),
            created_at=moment,
            proof=secrets.token_hex(16) if needs_proof else None,
            is_subdomain=is_subdomain,
            is_deleted=False,
        )
        try:
            domain = await self._store.claim(workspace_id, claim)
        except Conflict:
            raise DomainTaken(host) from None
        await self._directory.catch_up()
        return domain

    async def verify(self, workspace_id: int, host: str, method: Method = "any") -> Domain:
        """Looks for the proof, now. What is proved stays so."""
        domain = await self._own(workspace_id, host)
        if domain.verified_at is not None:
            return domain
        proofs = self._proofs = self._proofs or self._open_proofs()
        found = []
        if method in ("dns", "any"):
            found.append(await proofs.by_dns(domain))
        if method in ("http", "any") and None not in found:
            found.append(await proofs.by_http(domain))
        if None not in found:
            raise DomainNotProved(" ".join(problem for problem in found if problem is not None))
        return await self._set_verified(workspace_id, domain)

    async def trust(self, workspace_id: int, host: str) -> Domain:
        """The operator vouches for it."""
        domain = await self._own(workspace_id, host)
        return domain if domain.verified_at is not None else await self._set_verified(workspace_id, domain)

    async def change(self, workspace_id: int, host: str, edit: DomainEdit) -> Domain:
        domain = await self._own(workspace_id, host)
        changes: dict[str, Any] = {}
        for name in ("root_target", "not_found_target"):
            if name in edit.fields:
                changes[name] = self._target(getattr(edit, name))
        if "is_default" in edit.fields and edit.is_default is not None:
            if edit.is_default and not domain.is_served:
                raise ChoiceRefused("is_default", "A domain has to be proved before new links go there.")
            changes["is_default"] = edit.is_default
        return await self._update(workspace_id, domain, changes) if changes else domain

    async def remove(self, workspace_id: int, host: str) -> None:
        """The row stays for the links that name it; whoever proves the host from now on has it."""
        domain = await self._own(workspace_id, host)
        if domain.is_served and await self._store.has_live_links(workspace_id, domain.id):
            raise DomainInUse(domain.host)
        await self._update(
            workspace_id, domain, {"is_deleted": True, "is_default": False, "verified_at": None}
        )

    async def _own(self, workspace_id: int, host: str) -> Domain:
        name = name_of(host, self._canonical)
        domain = await self._store.find(workspace_id, name) if name else None
        if domain is None or domain.is_deleted:
            raise DomainUnknown(host)
        return domain

    async def _set_verified(self, workspace_id: int, domain: Domain) -> Domain:
        return await self._update(workspace_id, domain, {"verified_at": self._now()})

    async def _update(self, workspace_id: int, domain: Domain, changes: dict[str, Any]) -> Domain:
        try:
            changed = await self._store.update(workspace_id, domain.id, changes)
        except Conflict:
            raise DomainTaken(domain.host) from None
        await self._directory.catch_up()
        return changed or replace(domain, **changes)

    def _target(self, text: str | None) -> str | None:
        return None if text is None else self._check_target(text)

    async def _is_own_subdomain(self, workspace_id: int, host: str, *, is_trusted: bool) -> bool:
        if host == self._base_host:
            raise ChoiceRefused("host", f"{host} is the shared domain of this installation.")
        if not host.endswith(f".{self._base_host}"):
            return False
        own = f"{await self._store.slug_of(workspace_id)}.{self._base_host}"
        if host != own and not is_trusted:
            raise ChoiceRefused("host", f"Below {self._base_host} this workspace may have {own} only.")
        return host == own
