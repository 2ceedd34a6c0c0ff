"""Proofs of domains, looked for again from time to time: a host that was sold must not stay with who had it for ever.

One whose proof is missing is marked and told in the workspace's list. It is served as before; only when the grace is over
may another workspace that proves the host take it over, or the operator end it (decision 0049).
"""

import asyncio
from collections.abc import Callable

import structlog

from laconic import clock
from laconic.clock import DAY
from laconic.errors import LaconicError, Unavailable
from laconic.storage.database import Database
from laconic.upkeep.lease import Lease
from laconic.workspaces.domains.change import Domains
from laconic.workspaces.domains.model import Domain
from laconic.workspaces.domains.store import DomainStore

log = structlog.get_logger(__name__)

JOB = "domain_proofs"
_EVERY_SECONDS = 900.0
# How old a look may be, and how many are taken in one round: name servers are asked, one after the other.
_AGAIN_AFTER = 7 * DAY
# While it is missing: it may have been a name server's bad day.
_MISSING_AGAIN_AFTER = DAY
_MOST = 50


class Proofs:
    def __init__(
        self, database: Database, domains: Domains, *, now: Callable[[], int] = clock.now, most: int = _MOST
    ) -> None:
        self._store = DomainStore(database)
        self._domains = domains
        self._lease = Lease(database, JOB)
        self._now = now
        self._most = most

    async def keep(self) -> None:
        """Every quarter of an hour, until cancelled."""
        while True:
            await self.run()
            await asyncio.sleep(_EVERY_SECONDS)

    async def run(self) -> int:
        """How many were looked at; 0 when another process is at it."""
        looked = 0
        try:
            if not await self._lease.hold():
                return 0
            moment = self._now()
            due = (moment - _AGAIN_AFTER, moment - _MISSING_AGAIN_AFTER)
            for domain in await self._store.due_proofs(*due, self._most):
                await self._look(domain)
                looked += 1
                if not await self._lease.hold():
                    break
        except Unavailable as error:
            log.warning("proofs of domains could not be looked for", error=str(error))
        finally:
            await self._lease.release()
        return looked

    async def _look(self, domain: Domain) -> None:
        try:
            problem = await self._domains.look_for_proof(domain)
            await self._domains.note_proof(domain, is_there=problem is None)
        except Unavailable:
            raise
        except LaconicError as error:
            # Given up by its workspace meanwhile: nothing is left to look at.
            log.info("a proof was not looked at", host=domain.host, error=str(error))
            return
        if problem is not None and domain.lapsed_at is None:
            log.warning("the proof of a domain is missing", host=domain.host, found=problem)
