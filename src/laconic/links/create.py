"""Making links: one by one, many at once, once per Idempotency-Key, or again the one that is there."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from laconic import clock
from laconic.codes.ahead.allocations import Allocations
from laconic.codes.allocator import CodeAllocator
from laconic.codes.rules import POSSIBLE_CODE, CustomCodeRules
from laconic.errors import CodeTaken, LaconicError, Unavailable
from laconic.links import store as statements_of
from laconic.links.insert import FEW_PER_INSERT, Inserter, Outcome, creation_event
from laconic.links.model import Created, Link, LinkDraft
from laconic.links.normalize import digest
from laconic.links.prepare import Prepared, Preparer
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import record
from laconic.workspaces.model import Actor, WorkspaceSettings

# For the case that the first is taken: inside a transaction no more can be leased.
_SPARE_CODES = 4
_PLAIN = WorkspaceSettings()


async def _no_choices(_: int) -> WorkspaceSettings:
    return _PLAIN


@dataclass(frozen=True, slots=True)
class ReadyDraft:
    """A judged draft with codes to try, for `LinkCreator.create_in`."""

    prepared: Prepared
    spare_codes: Sequence[str]


class LinkCreator:
    """The verb "create", with everything it needs. Belongs to one loop."""

    def __init__(
        self,
        database: Database,
        codes: CodeAllocator,
        targets: TargetRules,
        custom_codes: CustomCodeRules,
        *,
        default_domain: Callable[[int], int],
        redirect_status: int = 302,
        allocations: Allocations | None = None,
        cache: RedirectCache | None = None,
        settings_of: Callable[[int], Awaitable[WorkspaceSettings]] = _no_choices,
        most_per_insert: int = FEW_PER_INSERT,
        inserts_at_once: int = 1,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._codes = codes
        self._allocations = allocations
        self._settings_of = settings_of
        self._preparer = Preparer(
            targets, custom_codes, default_domain=default_domain, redirect_status=redirect_status, now=now
        )
        self._inserter = Inserter(
            LinkStore(database), codes, self._preparer, cache, most_per_insert, inserts_at_once
        )

    @property
    def conflicts(self) -> int:
        """Rows that a unique index has refused so far."""
        return self._inserter.conflicts

    async def create(
        self, workspace_id: int, created_by: int | None, draft: LinkDraft, actor: Actor | None = None
    ) -> Created:
        """One link, durable when this returns. Raises a Refused that says what to change.

        An `actor` who has a name goes into the audit trail with it.
        """
        prepared = await self._prepare(workspace_id, created_by, draft, actor)
        if prepared.normalized is not None:
            return await self._create_for_reuse(prepared)
        outcome = (await self._inserter.insert([prepared]))[0]
        if isinstance(outcome, LaconicError):
            raise outcome
        if prepared.code_holder:
            await self._mark_used([prepared], [outcome])
        return outcome

    async def create_many(
        self, workspace_id: int, created_by: int | None, drafts: Sequence[LinkDraft]
    ) -> list[Outcome]:
        """What became of each draft, in order; one that is refused spoils no other."""
        codes = await self._codes_or_reason(sum(draft.custom_code is None for draft in drafts))
        holders = await self._holders(draft.custom_code for draft in drafts)
        moment = self._preparer.now()
        choices = await self._settings_of(workspace_id)
        outcomes: list[Outcome | None] = []
        plain: list[Prepared] = []
        for draft in drafts:
            code = draft.custom_code if draft.custom_code is not None else next(codes)
            outcome: Outcome | None = None
            try:
                if isinstance(code, LaconicError):
                    raise code
                holder = holders.get(draft.custom_code or "", "")
                prepared = self._preparer.prepare(
                    workspace_id, created_by, draft, code, moment, choices, holder
                )
                if prepared.normalized is None:
                    plain.append(prepared)
                else:
                    outcome = await self._create_for_reuse(prepared)
            except LaconicError as error:
                outcome = error
            outcomes.append(outcome)
        made = await self._inserter.insert(plain)
        await self._mark_used(plain, made)
        inserted = iter(made)
        return [next(inserted) if outcome is None else outcome for outcome in outcomes]

    async def _codes_or_reason(self, count: int) -> Iterator[str | LaconicError]:
        """Codes for those who need one, or what each of them is told instead."""
        try:
            return iter(await self._codes.take(count))
        except Unavailable as error:
            return repeat(error)

    async def make_ready(
        self, workspace_id: int, created_by: int | None, draft: LinkDraft, actor: Actor | None = None
    ) -> ReadyDraft:
        """All that can be judged and fetched before a transaction opens, where nothing else may be awaited."""
        prepared = await self._prepare(workspace_id, created_by, draft, actor)
        return ReadyDraft(prepared, await self._spare_codes(prepared))

    async def create_in(self, statements: Statements, ready: ReadyDraft, workspace_id: int) -> Created:
        """A create inside a transaction that the caller has opened; `committed` follows its commit."""
        created = await self._insert_in(statements, ready, workspace_id)
        if ready.prepared.is_custom and not created.existing:
            link = created.link
            await statements_of.announce_changes(
                statements, [(link.domain_id, link.short_code, link.version)], link.created_at
            )
        return created

    async def committed(self, ready: ReadyDraft) -> None:
        """Codes belong to no tenant: the pool is told outside the transaction that made the link."""
        self._inserter.tell_cache(ready.prepared)
        await self._mark_used([ready.prepared], [Created(ready.prepared.link)])

    async def close(self) -> None:
        await self._inserter.close()

    async def _prepare(
        self, workspace_id: int, created_by: int | None, draft: LinkDraft, actor: Actor | None
    ) -> Prepared:
        choices = await self._settings_of(workspace_id)
        holder = ""
        if draft.custom_code is None:
            code = (await self._codes.take())[0]
        else:
            code = draft.custom_code
            holder = (await self._holders([code])).get(code, "")
        prepared = self._preparer.prepare(
            workspace_id, created_by, draft, code, self._preparer.now(), choices, holder
        )
        if actor is not None and actor.is_named:
            prepared.told_of = actor
        return prepared

    async def _holders(self, custom_codes: Iterable[str | None]) -> dict[str, str]:
        """Whose the codes are that programs have taken ahead; all others are free for anyone to ask for."""
        codes = [code for code in custom_codes if code is not None and POSSIBLE_CODE.fullmatch(code)]
        return await self._allocations.holders(codes) if codes and self._allocations else {}

    async def _mark_used(self, prepared: Sequence[Prepared], outcomes: Sequence[Outcome]) -> None:
        for one, outcome in zip(prepared, outcomes, strict=True):
            if one.code_holder and self._allocations and isinstance(outcome, Created):
                await self._allocations.mark_used(one.code_holder, one.link.short_code, one.link.id)

    async def _spare_codes(self, prepared: Prepared) -> Sequence[str]:
        return [] if prepared.is_custom else await self._codes.replace(_SPARE_CODES)

    async def _create_for_reuse(self, prepared: Prepared) -> Created:
        ready = ReadyDraft(prepared, await self._spare_codes(prepared))

        async def work(statements: Statements) -> Created:
            return await self._insert_in(statements, ready, prepared.link.workspace_id)

        created = await self._database.for_workspace(prepared.link.workspace_id).transaction(work)
        self._inserter.tell_cache(prepared)
        return created

    async def _insert_in(self, statements: Statements, ready: ReadyDraft, workspace_id: int) -> Created:
        prepared = ready.prepared
        for code in (prepared.link.short_code, *ready.spare_codes):
            existing = await self._reusable(statements, prepared, workspace_id)
            if existing is not None:
                return Created(existing, existing=True)
            prepared.link.short_code = code
            if await statements_of.insert_one(statements, workspace_id, prepared.row()):
                if prepared.told_of is not None:
                    event = creation_event(prepared.link)
                    await record(statements, workspace_id, prepared.told_of, event, prepared.link.created_at)
                return Created(prepared.link)
        if prepared.is_custom:
            raise CodeTaken(prepared.link.short_code)
        raise Unavailable("No free code was found.")

    async def _reusable(self, statements: Statements, prepared: Prepared, workspace_id: int) -> Link | None:
        if prepared.normalized is None:
            return None
        found = await statements_of.find_reusable(
            statements,
            workspace_id,
            digest(prepared.normalized, prepared.link.domain_id),
            prepared.normalized,
        )
        if found is None or found.is_live(prepared.link.created_at):
            return found
        # It has expired and only the reaper has not come yet: it no longer stands for its URL.
        await statements_of.release_from_reuse(statements, workspace_id, found.id)
        return None
