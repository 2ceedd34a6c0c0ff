"""Wrong sign-ins cost the one who makes them time, and nobody else.

An attempt is counted before the password is looked at, under three names: the account at this address, the address,
and the account. A name with too many failures in a row has to wait, twice as long each time. A refused attempt costs
one small read and no hash, so a thousand of them do not keep the others waiting.

The account by itself waits for half a minute at most, so an owner is never locked out for good. A browser that has
signed in before shows its mark (OWASP calls it a device cookie): its failures are counted apart, so whoever guesses
from elsewhere cannot keep the owner's own browser out at all.
"""

import asyncio
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from laconic import clock
from laconic.clock import HOUR, MINUTE, SECOND
from laconic.errors import TooManyRequests
from laconic.storage.database import Database, Statements
from laconic.workspaces.people import store as statements_of
from laconic.workspaces.people.store import PeopleStore

_FORGET_AFTER = 12 * HOUR
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Rule:
    """After `free` failures in a row the wait is a second, then twice as long each time, up to `longest`."""

    name: str
    free: int
    longest: int

    def wait(self, failures: int) -> int:
        over = failures - self.free
        return 0 if over < 0 else min(SECOND << min(over, 20), self.longest)


_ACCOUNT_HERE = _Rule("account and address", 5, 15 * MINUTE)
_ADDRESS = _Rule("address", 20, 15 * MINUTE)
_ACCOUNT = _Rule("account", 10, 30 * SECOND)
_DEVICE = _Rule("device", 10, 5 * MINUTE)

Counted = list[tuple[_Rule, bytes]]


class Backoff:
    """`secret` keys the hashes, so that the table tells nobody who has tried to sign in."""

    def __init__(
        self, database: Database, store: PeopleStore, secret: bytes, now: Callable[[], int] = clock.now
    ) -> None:
        self._database = database
        self._store = store
        self._secret = secret
        self._now = now
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        # name: (blocked until, believed until). For a moment only: another worker may have forgiven it meanwhile.
        self._blocked: dict[bytes, tuple[int, int]] = {}

    async def attempt(self, account: str, address: str, device: str | None) -> Counted:
        """Counts an attempt, or raises TooManyRequests. Give the result to `succeeded` when it was a good one."""
        counted = self._names(account, address, device)
        # One at a time for each address and each account in this process: a thousand at once would all ask the
        # database before the first was counted, and take every connection. The address first, always: no ring.
        async with self._turn(f"address {address}"), self._turn(f"account {account}"):
            await self._refuse_blocked(counted)

            async def work(statements: Statements) -> None:
                for rule, name in counted:
                    await self._count(statements, rule, name)

            await self._database.transaction(work)
        return counted

    def _turn(self, name: str) -> asyncio.Lock:
        return self._turns.setdefault(name, asyncio.Lock())

    async def _refuse_blocked(self, counted: Counted) -> None:
        for _, name in counted:
            blocked_until, believed_until = self._blocked.get(name, (0, 0))
            if self._now() >= believed_until:
                blocked_until = await self._store.blocked_until(name) or 0
                self._remember(name, blocked_until)
            self._refuse_until(blocked_until)

    def _remember(self, name: bytes, blocked_until: int) -> None:
        if len(self._blocked) >= _MOST_REMEMBERED:
            self._blocked.clear()
        self._blocked[name] = (blocked_until, self._now() + SECOND)

    async def succeeded(self, counted: Counted) -> None:
        """What was counted against a person who is who they say is taken back; the address keeps its record."""
        for rule, name in counted:
            if rule is not _ADDRESS:
                await self._store.forgive(name)
                self._blocked.pop(name, None)

    def _names(self, account: str, address: str, device: str | None) -> Counted:
        """In an order that is the same for everybody, so that two attempts never wait for each other in a ring."""
        if device is not None:
            return [(_DEVICE, self._hash(_DEVICE, account, device))]
        rules = [
            (_ACCOUNT_HERE, (account, address)),
            (_ADDRESS, (address,)),
            (_ACCOUNT, (account,)),
        ]
        return sorted(((rule, self._hash(rule, *parts)) for rule, parts in rules), key=lambda one: one[1])

    def _hash(self, rule: _Rule, *parts: str) -> bytes:
        text = "\0".join((rule.name, *(part.lower() for part in parts)))
        return hmac.new(self._secret, text.encode("utf-8", "replace"), hashlib.sha256).digest()

    async def _count(self, statements: Statements, rule: _Rule, name: bytes) -> None:
        moment = self._now()
        failures, blocked_until, updated_at = await statements_of.lock_failures(statements, name, moment)
        self._refuse_until(blocked_until)
        failures = 1 if updated_at < moment - _FORGET_AFTER else failures + 1
        wait_until = moment + rule.wait(failures)
        await statements_of.save_failures(statements, name, failures, wait_until, moment)
        self._remember(name, wait_until)

    def _refuse_until(self, blocked_until: int) -> None:
        wait = blocked_until - self._now()
        if wait > 0:
            raise TooManyRequests(wait / SECOND)
