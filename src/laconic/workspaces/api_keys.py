"""Secrets of programs: `lac_live_` and 32 random characters, shown once, kept as a hash."""

import asyncio
import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Sequence

from laconic import clock
from laconic.clock import MINUTE, SECOND
from laconic.codes.alphabet import ALPHABET
from laconic.errors import (
    ChoiceRefused,
    LaconicError,
    NotAuthenticated,
    RecordUnknown,
    ScopeMissing,
    Unavailable,
)
from laconic.ids import IdSource
from laconic.redirect.model import is_expired
from laconic.storage.database import Database, Statements, Transact, plainly
from laconic.workspaces import store as statements_of
from laconic.workspaces.audit.record import Event, record
from laconic.workspaces.model import (
    ADMIN,
    LINKS_READ,
    LINKS_WRITE,
    SCOPES,
    Actor,
    ApiKey,
    check_name,
    command_actor,
)
from laconic.workspaces.store import WorkspaceStore

_PREFIX = "lac_live_"
_SECRET_LENGTH = 32
_VISIBLE_LENGTH = len(_PREFIX) + 6
# A revoked key works this much longer at most; in return most requests need no query.
_REMEMBER_SECONDS = 0.9
_MOST_REMEMBERED = 10_000
# How exact "last used" is: a write for each request would cost more than the request.
_NOTE_USE_EVERY = MINUTE
DEFAULT_SCOPES = frozenset({LINKS_READ, LINKS_WRITE})
LONGEST_OVERLAP_SECONDS = 30 * 86_400


class ApiKeys:
    """Makes keys, and tells whose a key is."""

    def __init__(self, database: Database, store: WorkspaceStore) -> None:
        self._database = database
        self._store = store
        self._ids = IdSource()
        self._known: OrderedDict[bytes, tuple[float, ApiKey | None]] = OrderedDict()
        self._used: dict[int, tuple[int, int, int]] = {}
        self._noting: asyncio.Task[None] | None = None

    async def create(
        self,
        workspace_id: int,
        name: str,
        scopes: frozenset[str] = DEFAULT_SCOPES,
        *,
        created_by: int | None = None,
        expires_at: int | None = None,
        actor: Actor | None = None,
        transact: Transact = plainly,
    ) -> tuple[str, ApiKey]:
        """The secret, for this once, and its record. Nobody gives a key more than they may do themselves."""
        acting = actor or command_actor(workspace_id)
        _check(acting, scopes, expires_at)

        async def work(statements: Statements) -> tuple[str, ApiKey]:
            secret, key = await self._insert(
                statements, workspace_id, check_name(name), scopes, created_by, expires_at
            )
            event = Event("api_key.create", key.id, key.key_prefix, after=_shown(key))
            await record(statements, workspace_id, acting, event, key.created_at)
            return secret, key

        return await transact(self._database.for_workspace(workspace_id), work)

    async def list(self, actor: Actor) -> "list[ApiKey]":
        """Of the workspace for its admins, otherwise one's own."""
        return await self._store.list_keys(actor.workspace_id, _owner(actor))

    async def get(self, actor: Actor, key_id: int) -> ApiKey:
        for key in await self.list(actor):
            if key.id == key_id:
                return key
        raise RecordUnknown("API key")

    async def rotate(
        self, actor: Actor, key_id: int, overlap_seconds: int, *, transact: Transact = plainly
    ) -> tuple[str, ApiKey]:
        """A new secret with the same name and scopes; the old one works for the overlap, and then no more."""

        async def work(statements: Statements) -> tuple[str, ApiKey]:
            old = await self._lock(statements, actor, key_id)
            moment = clock.now()
            if is_expired(old.expires_at, moment) or not old.is_active or old.replaced_by is not None:
                raise ChoiceRefused("id", "This key is over, or was rotated before.")
            _check(actor, old.scopes, None)
            lifetime = None if old.expires_at is None else old.expires_at - old.created_at
            secret, new = await self._insert(
                *(statements, actor.workspace_id, old.name, old.scopes, old.created_by),
                None if lifetime is None else moment + lifetime,
            )
            end = min(moment + overlap_seconds * SECOND, old.expires_at or moment + overlap_seconds * SECOND)
            await statements_of.replace_key(statements, actor.workspace_id, key_id, new.id, end)
            event = Event("api_key.rotate", old.id, old.key_prefix, after={"replaced_by": new.key_prefix})
            await record(statements, actor.workspace_id, actor, event, moment)
            return secret, new

        made = await transact(self._database.for_workspace(actor.workspace_id), work)
        self._known.clear()
        return made

    async def revoke(self, actor: Actor, key_id: int) -> ApiKey:
        """Stops working everywhere within a second."""

        async def work(statements: Statements) -> ApiKey:
            key = await self._lock(statements, actor, key_id)
            if await statements_of.revoke_key(statements, actor.workspace_id, key_id):
                event = Event("api_key.revoke", key.id, key.key_prefix, before={"is_active": True})
                await record(statements, actor.workspace_id, actor, event, clock.now())
            return key

        key = await self._database.for_workspace(actor.workspace_id).transaction(work)
        self._known.clear()
        return key

    async def authenticate(self, secret: str, address: str | None = None) -> Actor:
        """Whom a program with this key acts for. The hash is what is compared, so time tells nothing of the secret."""
        key = await self._find(_hash(secret))
        if key is None or not key.is_active or is_expired(key.expires_at, clock.now()):
            raise NotAuthenticated("This API key is unknown, revoked or expired.")
        return Actor(key.workspace_id, key.scopes, key.created_by, key.id, "api_key", address)

    async def close(self) -> None:
        if self._noting is not None:
            await asyncio.gather(self._noting, return_exceptions=True)

    async def _find(self, key_hash: bytes) -> ApiKey | None:
        known = self._known.get(key_hash)
        if known is not None and clock.monotonic() < known[0]:
            return known[1]
        # Asked before the query: what changes while it is under way is not remembered for longer.
        until = clock.monotonic() + _REMEMBER_SECONDS
        key = await self._store.find_key(key_hash)
        self._known[key_hash] = (until, key)
        self._known.move_to_end(key_hash)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        if key is not None and key.is_active and (key.last_used_at or 0) < clock.now() - _NOTE_USE_EVERY:
            self._used[key.id] = (key.workspace_id, key.id, clock.now())
            if self._noting is None:
                self._noting = asyncio.create_task(self._note_uses())
        return key

    async def _note_uses(self) -> None:
        """Those that come meanwhile are written together: with thousands of keys every request may be a first use."""
        try:
            while self._used:
                used, self._used = self._used, {}
                await self._store.note_uses(list(used.values()))
        except LaconicError:
            pass  # a date that is a minute older is no reason to refuse anything
        finally:
            self._noting = None

    async def _lock(self, statements: Statements, actor: Actor, key_id: int) -> ApiKey:
        key = await statements_of.lock_key(statements, actor.workspace_id, key_id)
        owner = _owner(actor)
        if key is None or (owner is not None and key.created_by != owner):
            raise RecordUnknown("API key")
        return key

    async def _insert(
        self,
        statements: Statements,
        workspace_id: int,
        name: str,
        scopes: frozenset[str],
        created_by: int | None,
        expires_at: int | None,
    ) -> tuple[str, ApiKey]:
        for _ in range(5):
            secret = _PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(_SECRET_LENGTH))
            moment = clock.now()
            key = ApiKey(
                id=self._ids.take(moment),
                workspace_id=workspace_id,
                name=name,
                key_prefix=secret[:_VISIBLE_LENGTH],
                scopes=scopes,
                created_by=created_by,
                created_at=moment,
                expires_at=expires_at,
                is_active=True,
            )
            if await statements_of.insert_key(statements, workspace_id, key, _hash(secret)):
                return secret, key
        raise Unavailable("No free key prefix was found.")


def _owner(actor: Actor) -> int | None:
    """Whose keys the actor may touch; None: everybody's in the workspace."""
    return None if actor.may(ADMIN) else (actor.user_id or 0)


def _check(actor: Actor, scopes: frozenset[str], expires_at: int | None) -> None:
    unknown: Sequence[str] = sorted(scopes - SCOPES)
    if unknown or not scopes:
        raise ChoiceRefused("scopes", f"A key has at least one of {', '.join(sorted(SCOPES))}.")
    for scope in sorted(scopes):
        if not actor.may(scope):
            raise ScopeMissing(scope)
    if is_expired(expires_at, clock.now()):
        raise ChoiceRefused("expires_at", "The expiry must lie in the future.")


def _shown(key: ApiKey) -> dict[str, object]:
    return {"name": key.name, "scopes": sorted(key.scopes), "expires_at": key.expires_at}


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
