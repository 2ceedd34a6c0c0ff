"""Adding, proving, changing and giving up domains.

When a verb returns, this process serves the change, and every other one does within a second.
"""

import secrets
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from laconic import clock
from laconic.clock import DAY
from laconic.errors import ChoiceRefused, Conflict, DomainInUse, DomainNotProved, DomainTaken, DomainUnknown
from laconic.ids import IdSource
from laconic.storage.database import Database, Statements, Transact, plainly
from laconic.workspaces.audit.record import Event, changed, record, record_oversight
from laconic.workspaces.domains import store as statements_of
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.domains.model import Domain, DomainDraft, DomainEdit, host_of, name_of
from laconic.workspaces.domains.store import DomainStore
from laconic.workspaces.model import Actor

if TYPE_CHECKING:
    from laconic.workspaces.domains.proof import ProofReader

Method = Literal["dns", "http", "any"]

# Every process keeps all of them in memory, given-up ones too.
_MOST_DOMAINS = 1_000
# How long a proof may be missing before somebody else who proves the host gets it. Until then, and as long as nobody
# does, the domain is served as before.
GRACE = 30 * DAY
_GIVEN_UP: Final[Mapping[str, Any]] = {
    "is_deleted": True,
    "is_default": False,
    "verified_at": None,
    "lapsed_at": None,
}


class Domains:
    """The verbs. `canonical` writes a host as the URL parser does, `check_target` judges a target.

    `open_proofs` is asked at the first proof: what reads them takes a while to import, and few commands need it.
    """

    def __init__(
        self,
        database: Database,
        directory: Directory,
        open_proofs: "Callable[[], ProofReader]",
        *,
        base_host: str,
        canonical: Callable[[str], str],
        check_target: Callable[[str], str],
        allow_private: bool = False,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._store = DomainStore(database)
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

    async def add(
        self, actor: Actor, draft: DomainDraft, *, is_trusted: bool = False, transact: Transact = plainly
    ) -> Domain:
        """A claim that is to be proved, unless the operator vouches for it.

        The workspace's subdomain of the base host needs no proof either, for the slug is the tenant's.
        """
        workspace_id = actor.workspace_id
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
            is_trusted=is_trusted and not is_subdomain,
        )

        async def work(statements: Statements) -> Domain:
            domain = await statements_of.claim_domain(statements, workspace_id, claim)
            after = {**_shown(domain), "is_trusted": is_trusted}
            event = Event("domain.add", domain.id, host, after=after)
            await record(statements, workspace_id, actor, event, moment)
            return domain

        try:
            domain = await transact(self._database.for_workspace(workspace_id), work)
        except Conflict:
            raise DomainTaken(host) from None
        await self._directory.catch_up()
        return domain

    async def verify(self, actor: Actor, host: str, method: Method = "any") -> Domain:
        """Looks for the proof, now. One that is found is looked for again only after a while (`upkeep/proofs`)."""
        domain = await self._own(actor.workspace_id, host)
        if domain.verified_at is not None and domain.lapsed_at is None:
            return domain
        problem = await self.look_for_proof(domain, method)
        if problem is not None:
            raise DomainNotProved(problem)
        moment = self._now()
        changes = {"verified_at": domain.verified_at or moment, "checked_at": moment, "lapsed_at": None}
        try:
            return await self._update(actor, "domain.prove", domain, changes)
        except DomainTaken:
            await self._end_lapsed(domain.host)
            return await self._update(actor, "domain.prove", domain, changes)

    async def look_for_proof(self, domain: Domain, method: Method = "any") -> str | None:
        """None when it is there, otherwise what was found instead."""
        proofs = self._proofs = self._proofs or self._open_proofs()
        found = []
        if method in ("dns", "any"):
            found.append(await proofs.by_dns(domain))
        if method in ("http", "any") and None not in found:
            found.append(await proofs.by_http(domain))
        return None if None in found else " ".join(problem for problem in found if problem is not None)

    async def note_proof(self, domain: Domain, *, is_there: bool) -> None:
        """What a look from time to time has found. A domain whose proof is missing is marked, and served as before."""
        moment = self._now()
        lapsed_at = None if is_there else domain.lapsed_at or moment
        changes = {"checked_at": moment, "lapsed_at": lapsed_at}
        if lapsed_at == domain.lapsed_at:
            await self._set_quietly(domain, changes)
            return
        await self._update(_system(domain), "domain.lapse" if lapsed_at else "domain.renew", domain, changes)

    async def end(self, actor: Actor, host: str) -> Domain:
        """The operator ends whoever's domain it is, such as one that was sold: its links are no longer served there,
        and whoever proves the host from now on has it."""
        await self._directory.catch_up()
        domain = self._directory.find_served(host)
        if domain is None or domain.is_shared:
            raise DomainUnknown(host)
        return await self._update(actor, "domain.end", domain, _GIVEN_UP, is_oversight=True)

    async def _end_lapsed(self, host: str) -> None:
        """Somebody else has proved the host: whoever's proof is missing for longer than the grace has lost it."""
        found = await statements_of.find_lapsed(self._database, host, self._now() - GRACE)
        if found is None:
            raise DomainTaken(host)
        await self._update(_system(found), "domain.end", found, _GIVEN_UP)

    async def _set_quietly(self, domain: Domain, changes: Mapping[str, Any]) -> None:
        """A look that found what was known: nothing to tell in the audit trail."""

        async def work(statements: Statements) -> None:
            await statements_of.update_domain(statements, domain.workspace_id or 0, domain.id, dict(changes))

        await self._database.transaction(work)

    async def trust(self, actor: Actor, host: str) -> Domain:
        """The operator vouches for it."""
        domain = await self._own(actor.workspace_id, host)
        if domain.verified_at is not None:
            return domain
        return await self._update(
            actor, "domain.trust", domain, {"verified_at": self._now(), "is_trusted": True}
        )

    async def change(self, actor: Actor, host: str, edit: DomainEdit) -> Domain:
        domain = await self._own(actor.workspace_id, host)
        changes: dict[str, Any] = {}
        for name in ("root_target", "not_found_target"):
            if name in edit.fields:
                changes[name] = self._target(getattr(edit, name))
        if "is_default" in edit.fields and edit.is_default is not None:
            if edit.is_default and not domain.is_served:
                raise ChoiceRefused("is_default", "A domain has to be proved before new links go there.")
            changes["is_default"] = edit.is_default
        return await self._update(actor, "domain.change", domain, changes) if changes else domain

    async def remove(self, actor: Actor, host: str) -> None:
        """The row stays for the links that name it; whoever proves the host from now on has it."""
        domain = await self._own(actor.workspace_id, host)
        if domain.is_served and await self._store.has_live_links(actor.workspace_id, domain.id):
            raise DomainInUse(domain.host)
        await self._update(actor, "domain.remove", domain, _GIVEN_UP)

    async def _own(self, workspace_id: int, host: str) -> Domain:
        name = name_of(host, self._canonical)
        domain = await self._store.find(workspace_id, name) if name else None
        if domain is None or domain.is_deleted:
            raise DomainUnknown(host)
        return domain

    async def _update(
        self,
        actor: Actor,
        action: str,
        domain: Domain,
        changes: Mapping[str, Any],
        *,
        is_oversight: bool = False,
    ) -> Domain:
        workspace_id = domain.workspace_id or actor.workspace_id

        async def work(statements: Statements) -> Domain:
            found = await statements_of.update_domain(statements, workspace_id, domain.id, dict(changes))
            if found is None:
                raise DomainUnknown(domain.host)
            before, after = found
            event = Event(action, domain.id, domain.host, *changed(_shown(before), _shown(after)))
            told = record_oversight if is_oversight else record
            await told(statements, workspace_id, actor, event, self._now())
            return after

        place = self._database if is_oversight else self._database.for_workspace(workspace_id)
        try:
            after = await place.transaction(work)
        except Conflict:
            raise DomainTaken(domain.host) from None
        await self._directory.catch_up()
        return after

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


def _shown(domain: Domain) -> dict[str, Any]:
    """What an audit event tells of it."""
    return {
        "is_default": domain.is_default,
        "verified_at": domain.verified_at,
        "root_target": domain.root_target,
        "not_found_target": domain.not_found_target,
        "is_deleted": domain.is_deleted,
        "lapsed_at": domain.lapsed_at,
    }


def _system(domain: Domain) -> Actor:
    """Whoever looks from time to time is nobody in particular."""
    return Actor(domain.workspace_id or 0, frozenset(), kind="system")
