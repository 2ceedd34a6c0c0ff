"""Whoever waits together goes in together: one INSERT and one commit for all creates of the same moment.

The unique index is the referee: a generated code that is taken is replaced unseen, a custom one that is taken
is refused.
"""

import asyncio
import itertools
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from laconic.codes.allocator import CodeAllocator
from laconic.errors import CodeTaken, LaconicError, Unavailable
from laconic.links.model import Created, Link
from laconic.links.prepare import Prepared, Preparer
from laconic.links.store import LinkStore
from laconic.redirect.cache import RedirectCache
from laconic.workspaces.audit.record import Event, event_row

Outcome = Created | LaconicError

# Rows of one INSERT, and so of one commit: more would only make the others wait longer. Imports take more: on
# SQLite they share pages of the code index, which is a fifth of their time (measured).
FEW_PER_INSERT = 512
MANY_PER_INSERT = 2_048
_SLICE = 128
# Each takes a connection of PostgreSQL, and others want some too.
_MOST_TENANTS_AT_ONCE = 32
# Generated codes meet taken ones only where custom codes are as long: this many in a row is no accident.
_MOST_TRIES = 20


def creation_event(link: Link) -> Event:
    return Event("link.create", link.id, link.short_code, after={"original_url": link.original_url})


@dataclass(slots=True)
class _Order:
    """What one caller waits for."""

    prepared: Sequence[Prepared]
    outcomes: list[Outcome | None]
    missing: int
    done: asyncio.Future[None]
    tries: int = 0

    @property
    def workspace_id(self) -> int:
        return self.prepared[0].link.workspace_id

    def settle(self, indices: Sequence[int], outcomes: Iterable[Outcome]) -> None:
        for index, outcome in zip(indices, outcomes, strict=False):
            self.outcomes[index] = outcome
        self.missing -= len(indices)
        if self.missing == 0 and not self.done.done():
            self.done.set_result(None)


# Which of an order's links: all that are still in one piece go through together.
_Waiting = tuple[_Order, Sequence[int]]


class Inserter:
    """Belongs to one loop."""

    def __init__(
        self,
        store: LinkStore,
        codes: CodeAllocator,
        preparer: Preparer,
        cache: RedirectCache | None,
        most_per_insert: int = FEW_PER_INSERT,
        inserts_at_once: int = 1,
    ) -> None:
        self._store = store
        self._codes = codes
        self._preparer = preparer
        self._cache = cache
        self._most_per_insert = most_per_insert
        self._inserts_at_once = inserts_at_once
        self._waiting: deque[_Waiting] = deque()
        self._pumps: set[asyncio.Task[None]] = set()
        self._under_way = 0
        self.conflicts = 0

    async def insert(self, prepared: Sequence[Prepared]) -> list[Outcome]:
        """What became of each, in order; durable when this returns."""
        if not prepared:
            return []
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        order = _Order(prepared, [None] * len(prepared), len(prepared), done)
        self._waiting.append((order, range(len(prepared))))
        if self._under_way < self._inserts_at_once:
            self._under_way += 1
            pump = asyncio.create_task(self._insert_waiting())
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)
        # A caller that goes away takes nothing but its own future with it.
        await done
        return [outcome or Unavailable("The link was not made.") for outcome in order.outcomes]

    async def close(self) -> None:
        """Waits for what is under way."""
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def _insert_waiting(self) -> None:
        try:
            while self._waiting:
                batches = self._batches()
                while some := list(itertools.islice(batches, _MOST_TENANTS_AT_ONCE)):
                    await asyncio.gather(*(self._insert_batch(one) for one in some))
        finally:
            # Now, and not when the task is known to be done: whoever comes in between would wait for nobody.
            self._under_way -= 1

    def _batches(self) -> Iterator[list[_Waiting]]:
        """What goes into one INSERT: where the database parts tenants, each has a transaction of its own."""
        pieces = self._next_pieces()
        if not self._store.parts_tenants:
            return iter([list(pieces)])
        by_workspace: dict[int, list[_Waiting]] = defaultdict(list)
        for order, indices in pieces:
            by_workspace[order.workspace_id].append((order, indices))
        return iter(by_workspace.values())

    def _next_pieces(self) -> Iterator[_Waiting]:
        """As many of those that wait as go into one INSERT."""
        room = self._most_per_insert
        while self._waiting and room:
            order, indices = self._waiting.popleft()
            if len(indices) > room:
                self._waiting.appendleft((order, indices[room:]))
                indices = indices[:room]
            room -= len(indices)
            yield order, indices

    async def _insert_batch(self, batch: list[_Waiting]) -> None:
        try:
            prepared = [order.prepared[index] for order, indices in batch for index in indices]
            custom = {one.link.id for one in prepared if one.is_custom}
            events = {
                one.link.id: event_row(
                    one.link.workspace_id, one.told_of, creation_event(one.link), one.link.created_at
                )
                for one in prepared
                if one.told_of is not None
            }
            refused = await self._store.insert_many(
                batch[0][0].workspace_id, [one.row() for one in prepared], announce=custom, events=events
            )
        except LaconicError as error:
            # Their codes are burnt: whether a commit that failed has happened is not known.
            for order, indices in batch:
                order.settle(indices, itertools.repeat(error))
            return
        except BaseException as error:
            for order, _ in batch:
                if not order.done.done():
                    order.done.set_exception(error)
            raise
        settled = 0
        for order, indices in batch:
            settled += len(indices)
            if settled >= _SLICE:
                # Redirects are answered by the same loop: they shall not wait for the whole batch.
                settled = 0
                await asyncio.sleep(0)
            if refused:
                again = [index for index in indices if order.prepared[index].link.id in refused]
                indices = [index for index in indices if order.prepared[index].link.id not in refused]
                for index in again:
                    await self._try_again(order, index)
            made = [order.prepared[index] for index in indices]
            if self._cache is not None:
                for one in made:
                    self.tell_cache(one)
            order.settle(indices, [Created(one.link) for one in made])

    async def _try_again(self, order: _Order, index: int) -> None:
        """A unique index refused the row: its code is taken, or, once in a blue moon, its id."""
        self.conflicts += 1
        order.tries += 1
        prepared = order.prepared[index]
        try:
            if prepared.is_custom and not await self._is_free(prepared.link):
                order.settle([index], [CodeTaken(prepared.link.short_code)])
                return
            if order.tries >= _MOST_TRIES * len(order.prepared):
                order.settle([index], [Unavailable("No free code was found.")])
                return
            self._preparer.renew_id(prepared)
            if not prepared.is_custom:
                self._codes.refused()
                prepared.link.short_code = (await self._codes.replace())[0]
        except LaconicError as error:
            order.settle([index], [error])
            return
        self._waiting.append((order, [index]))

    async def _is_free(self, link: Link) -> bool:
        return await self._store.is_free(link.domain_id, link.short_code)

    def tell_cache(self, prepared: Prepared) -> None:
        """Somebody may have asked for the code before it existed, and been told that it is unknown."""
        if self._cache is None:
            return
        link = prepared.link
        if prepared.is_custom:
            self._cache.changed(link.domain_id, link.short_code, link.version)
        else:
            self._cache.forget(link.domain_id, link.short_code)
