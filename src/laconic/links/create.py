"""Making links: one by one, many at once, once per Idempotency-Key, or again the one that is there."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat

from laconic import clock
from laconic.codes.allocator import CodeAllocator
from laconic.codes.rules import CustomCodeRules
from laconic.errors import CodeTaken, LaconicError, Unavailable
from laconic.links import store as statements_of
from laconic.links.insert import Inserter, Outcome
from laconic.links.model import Created, Link, LinkDraft
from laconic.links.normalize import digest
from laconic.links.prepare import Prepared, Preparer
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.storage.database import Database, Statements

# For the case that the first is taken: inside a transaction no more can be leased.
_SPARE_CODES = 4


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
        cache: RedirectCache | None = None,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._codes = codes
        self._preparer = Preparer(
            targets, custom_codes, default_domain=default_domain, redirect_status=redirect_status, now=now
        )
        self._inserter = Inserter(LinkStore(database), codes, self._preparer, cache)

    @property
    def conflicts(self) -> int:
        """Rows that a unique index has refused so far."""
        return self._inserter.conflicts

    async def create(self, workspace_id: int, created_by: int | None, draft: LinkDraft) -> Created:
        """One link, durable when this returns. Raises a Refused that says what to change."""
        prepared = await self._prepare(workspace_id, created_by, draft)
        if prepared.normalized is not None:
            return await self._create_for_reuse(prepared)
        outcome = (await self._inserter.insert([prepared]))[0]
        if isinstance(outcome, LaconicError):
            raise outcome
        return outcome

    async def create_many(
        self, workspace_id: int, created_by: int | None, drafts: Sequence[LinkDraft]
    ) -> list[Outcome]:
        """What became of each draft, in order; one that is refused spoils no other."""
        codes = await self._codes_or_reason(sum(draft.custom_code is None for draft in drafts))
        moment = self._preparer.now()
        outcomes: list[Outcome | None] = []
        plain: list[Prepared] = []
        for draft in drafts:
            code = draft.custom_code if draft.custom_code is not None else next(codes)
            outcome: Outcome | None = None
            try:
                if isinstance(code, LaconicError):
                    raise code
                prepared = self._preparer.prepare(workspace_id, created_by, draft, code, moment)
                if prepared.normalized is None:
                    plain.append(prepared)
                else:
                    outcome = await self._create_for_reuse(prepared)
            except LaconicError as error:
                outcome = error
            outcomes.append(outcome)
        inserted = iter(await self._inserter.insert(plain))
        return [next(inserted) if outcome is None else outcome for outcome in outcomes]

    async def _codes_or_reason(self, count: int) -> Iterator[str | LaconicError]:
        """Codes for those who need one, or what each of them is told instead."""
        try:
            return iter(await self._codes.take(count))
        except Unavailable as error:
            return repeat(error)

    async def make_ready(self, workspace_id: int, created_by: int | None, draft: LinkDraft) -> ReadyDraft:
        """All that can be judged and fetched before a transaction opens, where nothing else may be awaited."""
        prepared = await self._prepare(workspace_id, created_by, draft)
        return ReadyDraft(prepared, await self._spare_codes(prepared))

    async def create_in(self, statements: Statements, ready: ReadyDraft, workspace_id: int) -> Created:
        """A create inside a transaction that the caller has opened; `tell_cache` follows its commit."""
        created = await self._insert_in(statements, ready, workspace_id)
        if ready.prepared.is_custom and not created.existing:
            link = created.link
            await statements_of.announce_changes(
                statements, [(link.domain_id, link.short_code, link.version)], link.created_at
            )
        return created

    def tell_cache(self, ready: ReadyDraft) -> None:
        self._inserter.tell_cache(ready.prepared)

    async def close(self) -> None:
        await self._inserter.close()

    async def _prepare(self, workspace_id: int, created_by: int | None, draft: LinkDraft) -> Prepared:
        code = draft.custom_code if draft.custom_code is not None else (await self._codes.take())[0]
        return self._preparer.prepare(workspace_id, created_by, draft, code, self._preparer.now())

    async def _spare_codes(self, prepared: Prepared) -> Sequence[str]:
        return [] if prepared.is_custom else await self._codes.take(_SPARE_CODES)

    async def _create_for_reuse(self, prepared: Prepared) -> Created:
        ready = ReadyDraft(prepared, await self._spare_codes(prepared))

        async def work(statements: Statements) -> Created:
            return await self._insert_in(statements, ready, prepared.link.workspace_id)

        created = await self._database.transaction(work)
        self.tell_cache(ready)
        return created

    async def _insert_in(self, statements: Statements, ready: ReadyDraft, workspace_id: int) -> Created:
        prepared = ready.prepared
        for code in (prepared.link.short_code, *ready.spare_codes):
            existing = await self._reusable(statements, prepared, workspace_id)
            if existing is not None:
                return Created(existing, existing=True)
            prepared.link.short_code = code
            if await statements_of.insert_one(statements, workspace_id, prepared.row()):
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
