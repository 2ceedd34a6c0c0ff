"""A job that one process of the whole deployment does, whatever becomes of that process.

    if await lease.hold():
        await database.transaction(work)

where `work` begins with `await lease.fence(statements)`. The lease is a row with a time at which it ends, by the
database's clock, and a token that grows with every holder. A holder that is stopped past that time and wakes up
still believes that it has the job: its fence finds a higher token, and the transaction is undone.
"""

import os
import secrets
import socket

from laconic.clock import SECOND, monotonic
from laconic.errors import LeaseLost, Unavailable
from laconic.storage.database import Database, Statements
from laconic.upkeep.store import end_lease, extend_lease, take_lease

_DURATION = 30 * SECOND


class Lease:
    """Belongs to one loop. A job calls `hold` before each step, and far more often than the lease lasts."""

    def __init__(self, database: Database, job: str, *, duration: int = _DURATION) -> None:
        self.job = job
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.losses = 0
        self._database = database
        self._duration = duration
        self._token: int | None = None
        self._held_until = 0.0

    async def hold(self) -> bool:
        """Has this process the job now? It is taken if it is free; more than half a lease is left on return."""
        if self._token is not None and monotonic() < self._held_until - self._duration / SECOND / 2:
            return True
        asked_at = monotonic()
        token = self._token
        self._token = await self._database.transaction(self._extend_or_take)
        if self._token is None:
            return False
        if token not in (None, self._token):
            self.losses += 1
        self._held_until = asked_at + self._duration / SECOND
        return True

    @property
    def is_held(self) -> bool:
        """As far as this process knows, by a clock that goes no slower than the database's."""
        return self._token is not None and monotonic() < self._held_until

    async def fence(self, statements: Statements) -> None:
        """Inside the transaction that does the work: raises LeaseLost, so that nothing of it is done, unless the
        job is still ours; nobody else can take it before the transaction ends."""
        if self._token is None:
            raise LeaseLost(self.job)
        if not await extend_lease(statements, self.job, self._token, self._duration):
            self._token = None
            self.losses += 1
            raise LeaseLost(self.job)

    async def release(self) -> None:
        """At the end: another may begin at once. Should it fail, the lease ends by itself."""
        token, self._token = self._token, None
        if token is None:
            return
        try:
            await self._database.transaction(lambda statements: end_lease(statements, self.job, token))
        except Unavailable:
            pass

    async def _extend_or_take(self, statements: Statements) -> int | None:
        if self._token is not None and await extend_lease(statements, self.job, self._token, self._duration):
            return self._token
        return await take_lease(statements, self.job, self.holder, self._duration)
