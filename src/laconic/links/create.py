"""Making links: one by one, many at once, once per Idempotency-Key, or again the one that is there.

Plain creates that wait at the same time go in by one INSERT and one commit. The unique index is the referee:
a generated code that is taken is replaced unseen, a custom one that is taken is refused.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from laconic import clock
from laconic.codes.allocator import CodeAllocator
from laconic.codes.rules import CustomCodeRules
from laconic.errors import CodeTaken, LaconicError, Unavailable
from laconic.ids import IdSource
from laconic.links import store as statements_of
from laconic.links.fields import check_status, check_texts, metadata_text
from laconic.links.model import Created, Link, LinkDraft, expiry_of
from laconic.links.normalize import digest, normalize
from laconic.links.store import LinkStore
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.storage.database import Database, Statements

# Rows of one INSERT, and so of one commit: more would only make the others wait longer.
_MOST_PER_INSERT = 512
# Generated codes meet taken ones only where custom codes are as long: this many in a row is no accident.
_MOST_TRIES = 20
_SPARE_CODES = 4


@dataclass(slots=True)
class _Prepared:
    """A draft that has passed every rule, with its code."""

    link: Link
    created_by: int | None
    is_custom: bool
    normalized: str | None

    def row(self) -> tuple[Any, ...]:
        link = self.link
        return (
            link.id,
            link.workspace_id,
            link.domain_id,
            link.short_code,
            link.original_url,
            link.target_url,
            self.normalized,
            digest(self.normalized) if self.normalized is not None else None,
            link.title,
            link.description,
            link.metadata,
            self.created_by,
            link.created_at,
            link.updated_at,
            link.expires_at,
            link.redirect_status,
        )


@dataclass(slots=True)
class _Waiting:
    prepared: _Prepared
    done: asyncio.Future[Created]
    tries: int = 0


class LinkCreator:
    """The verb "create", with everything it needs. Belongs to one loop."""

    def __init__(
        self,
        database: Database,
        codes: CodeAllocator,
        targets: TargetRules,
        custom_codes: CustomCodeRules,
        *,
        domain_id: int,
        redirect_status: int = 302,
        cache: RedirectCache | None = None,
        now: Any = clock.now,
    ) -> None:
        self._database = database
        self._store = LinkStore(database)
        self._codes = codes
        self._targets = targets
        self._custom_codes = custom_codes
        self._domain_id = domain_id
        self._redirect_status = redirect_status
        self._cache = cache
        self._now = now
        self._ids = IdSource(now)
        self._waiting: deque[_Waiting] = deque()
        self._pump: asyncio.Task[None] | None = None
        self.conflicts = 0

    async def create(self, workspace_id: int, created_by: int | None, draft: LinkDraft) -> Created:
        """One link, durable when this returns. Raises a Refused that says what to change."""
        prepared = self._prepare(workspace_id, created_by, draft, await self._code_for(draft))
        if prepared.normalized is not None:
            return await self._create_for_reuse(prepared)
        return await self._enqueue(prepared)

    async def create_in(
        self, statements: Statements, ready: "ReadyDraft", workspace_id: int
    ) -> Created:
        """The same inside a transaction that the caller has opened; see `make_ready`."""
        created = await self._insert_in(statements, ready.prepared, ready.spare_codes, workspace_id)
        if ready.prepared.is_custom and not created.existing:
            link = created.link
            await statements_of.announce_changes(
                statements, [(link.domain_id, link.short_code, link.version)], link.created_at
            )
        return created

    async def make_ready(self, workspace_id: int, created_by: int | None, draft: LinkDraft) -> "ReadyDraft":
        """All that can be judged and fetched before a transaction opens, where nothing else may be awaited."""
        prepared = self._prepare(workspace_id, created_by, draft, await self._code_for(draft))
        return ReadyDraft(prepared, await self._spare_codes(prepared))

    async def create_many(
        self, workspace_id: int, created_by: int | None, drafts: Sequence[LinkDraft]
    ) -> list[Created | LaconicError]:
        """A result for each draft, in order; one that is refused spoils no other."""
        codes = iter(await self._codes.take(sum(draft.custom_code is None for draft in drafts)))
        results: list[Any] = []
        for draft in drafts:
            code = draft.custom_code if draft.custom_code is not None else next(codes)
            try:
                prepared = self._prepare(workspace_id, created_by, draft, code)
                if prepared.normalized is None:
                    results.append(self._enqueue(prepared))
                else:
                    results.append(await self._create_for_reuse(prepared))
            except LaconicError as error:
                results.append(error)
        return [await _settled(result) for result in results]

    def tell_cache(self, ready: "ReadyDraft") -> None:
        """After the transaction of `create_in` is committed."""
        self._tell_cache(ready.prepared.link, is_custom=ready.prepared.is_custom)

    # Judging.

    def _prepare(
        self, workspace_id: int, created_by: int | None, draft: LinkDraft, code: str
    ) -> _Prepared:
        target = self._targets.check(draft.original_url)
        if draft.custom_code is not None:
            self._custom_codes.check(draft.custom_code)
        check_texts(draft.title, draft.description)
        moment = self._now()
        status = self._redirect_status if draft.redirect_status is None else draft.redirect_status
        check_status(status)
        link = Link(
            id=self._ids.take(),
            workspace_id=workspace_id,
            domain_id=self._domain_id,
            short_code=code,
            original_url=target.original_url,
            target_url=None if target.location == target.original_url else target.location,
            title=draft.title,
            description=draft.description,
            metadata=metadata_text(draft.metadata) if draft.metadata else "{}",
            created_at=moment,
            updated_at=moment,
            expires_at=expiry_of(draft, moment),
            is_active=True,
            is_deleted=False,
            gone_reason=None,
            redirect_status=status,
            version=1,
        )
        reuse = draft.reuse and draft.custom_code is None
        return _Prepared(
            link, created_by, draft.custom_code is not None, normalize(target.location) if reuse else None
        )

    async def _code_for(self, draft: LinkDraft) -> str:
        return draft.custom_code if draft.custom_code is not None else (await self._codes.take())[0]

    # Plain creates: whoever waits together goes in together.

    def _enqueue(self, prepared: _Prepared) -> asyncio.Future[Created]:
        done: asyncio.Future[Created] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(prepared, done))
        if self._pump is None:
            self._pump = asyncio.create_task(self._insert_waiting())
        return done

    async def _insert_waiting(self) -> None:
        try:
            while self._waiting:
                count = min(len(self._waiting), _MOST_PER_INSERT)
                batch = [self._waiting.popleft() for _ in range(count)]
                by_workspace: dict[int, list[_Waiting]] = defaultdict(list)
                for waiting in batch:
                    by_workspace[waiting.prepared.link.workspace_id].append(waiting)
                for workspace_id, some in by_workspace.items():
                    await self._insert_batch(workspace_id, some)
        finally:
            self._pump = None

    async def _insert_batch(self, workspace_id: int, batch: list[_Waiting]) -> None:
        try:
            rows = [waiting.prepared.row() for waiting in batch]
            custom = {waiting.prepared.link.id for waiting in batch if waiting.prepared.is_custom}
            present = await self._store.insert_many(workspace_id, rows, announce=custom)
            for waiting in batch:
                if waiting.prepared.link.id in present:
                    self._succeed(waiting)
                else:
                    await self._try_again(waiting)
        except Exception as error:
            # Whatever it was, its codes are burnt and nobody waits for ever.
            for waiting in batch:
                if not waiting.done.done():
                    waiting.done.set_exception(error)

    def _succeed(self, waiting: _Waiting) -> None:
        self._tell_cache(waiting.prepared.link, is_custom=waiting.prepared.is_custom)
        if not waiting.done.done():
            waiting.done.set_result(Created(waiting.prepared.link))

    async def _try_again(self, waiting: _Waiting) -> None:
        """A unique index refused the row: its code is taken, or, once in a blue moon, its id."""
        self.conflicts += 1
        waiting.tries += 1
        prepared = waiting.prepared
        if prepared.is_custom and not await self._store.is_free(prepared.link.domain_id, prepared.link.short_code):
            waiting.done.set_exception(CodeTaken(prepared.link.short_code))
            return
        if waiting.tries >= _MOST_TRIES:
            waiting.done.set_exception(Unavailable("No free code was found."))
            return
        prepared.link.id = self._ids.take()
        if not prepared.is_custom:
            prepared.link.short_code = (await self._codes.take())[0]
        self._waiting.append(waiting)

    def _tell_cache(self, link: Link, *, is_custom: bool) -> None:
        """Somebody may have asked for the code before it existed, and been told that it is unknown."""
        if self._cache is None:
            return
        if is_custom:
            self._cache.changed(link.domain_id, link.short_code, link.version)
        else:
            self._cache.forget(link.domain_id, link.short_code)

    # Creates that need a transaction of their own.

    async def _spare_codes(self, prepared: _Prepared) -> Sequence[str]:
        """Codes for the case that the first is taken: inside a transaction no more can be leased."""
        return [] if prepared.is_custom else await self._codes.take(_SPARE_CODES)

    async def _create_for_reuse(self, prepared: _Prepared) -> Created:
        codes = await self._spare_codes(prepared)

        async def work(statements: Statements) -> Created:
            return await self._insert_in(statements, prepared, codes, prepared.link.workspace_id)

        return await self._database.transaction(work)

    async def _insert_in(
        self, statements: Statements, prepared: _Prepared, spare_codes: Sequence[str], workspace_id: int
    ) -> Created:
        for code in (prepared.link.short_code, *spare_codes):
            existing = await self._reusable(statements, prepared, workspace_id)
            if existing is not None:
                return Created(existing, existing=True)
            prepared.link.short_code = code
            if await statements_of.insert_one(statements, workspace_id, prepared.row()):
                return Created(prepared.link)
            self.conflicts += 1
        if prepared.is_custom:
            raise CodeTaken(prepared.link.short_code)
        raise Unavailable("No free code was found.")

    async def _reusable(self, statements: Statements, prepared: _Prepared, workspace_id: int) -> Link | None:
        if prepared.normalized is None:
            return None
        found = await statements_of.find_reusable(
            statements, workspace_id, digest(prepared.normalized), prepared.normalized
        )
        if found is None or found.is_live(prepared.link.created_at):
            return found
        # It has expired and only the reaper has not come yet: it no longer stands for its URL.
        await statements_of.release_from_reuse(statements, workspace_id, found.id)
        return None

    async def close(self) -> None:
        """Waits for what is under way."""
        if self._pump is not None:
            await asyncio.gather(self._pump, return_exceptions=True)


@dataclass(frozen=True, slots=True)
class ReadyDraft:
    """A judged draft with codes to try, for `create_in`."""

    prepared: _Prepared
    spare_codes: Sequence[str]


async def _settled(result: Created | LaconicError | asyncio.Future[Created]) -> Created | LaconicError:
    if not isinstance(result, asyncio.Future):
        return result
    try:
        return await result
    except LaconicError as error:
        return error
