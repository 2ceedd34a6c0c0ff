"""Secrets of programs: `lac_live_` and 32 random characters, shown once, kept as a hash."""

import hashlib
import secrets
from collections import OrderedDict

from laconic import clock
from laconic.codes.alphabet import ALPHABET
from laconic.errors import NotAuthenticated, Unavailable
from laconic.ids import IdSource
from laconic.redirect.model import is_expired
from laconic.workspaces.model import LINKS_READ, LINKS_WRITE, Actor, ApiKey
from laconic.workspaces.store import WorkspaceStore

_PREFIX = "lac_live_"
_SECRET_LENGTH = 32
_VISIBLE_LENGTH = len(_PREFIX) + 6
# A revoked key works this much longer at most; in return most requests need no query.
_REMEMBER_SECONDS = 5.0
_MOST_REMEMBERED = 10_000
DEFAULT_SCOPES = frozenset({LINKS_READ, LINKS_WRITE})


class ApiKeys:
    """Makes keys, and tells whose a key is."""

    def __init__(self, store: WorkspaceStore) -> None:
        self._store = store
        self._ids = IdSource()
        self._known: OrderedDict[bytes, tuple[float, ApiKey | None]] = OrderedDict()

    async def create(
        self,
        workspace_id: int,
        name: str,
        scopes: frozenset[str] = DEFAULT_SCOPES,
        *,
        created_by: int | None = None,
        expires_at: int | None = None,
    ) -> tuple[str, ApiKey]:
        """The secret, for this once, and its record."""
        for _ in range(5):
            secret = _PREFIX + "".join(secrets.choice(ALPHABET) for _ in range(_SECRET_LENGTH))
            key = ApiKey(
                id=self._ids.take(clock.now()),
                workspace_id=workspace_id,
                name=name,
                key_prefix=secret[:_VISIBLE_LENGTH],
                scopes=scopes,
                created_by=created_by,
                created_at=clock.now(),
                expires_at=expires_at,
                is_active=True,
            )
            if await self._store.insert_key(workspace_id, key, _hash(secret)):
                return secret, key
        raise Unavailable("No free key prefix was found.")

    async def authenticate(self, secret: str) -> Actor:
        """Whom a program with this key acts for. The hash is what is compared, so time tells nothing of the secret."""
        key = await self._find(_hash(secret))
        if key is None or not key.is_active or is_expired(key.expires_at, clock.now()):
            raise NotAuthenticated("This API key is unknown, revoked or expired.")
        return Actor(key.workspace_id, key.scopes, user_id=key.created_by, api_key_id=key.id)

    async def _find(self, key_hash: bytes) -> ApiKey | None:
        known = self._known.get(key_hash)
        if known is not None and clock.monotonic() < known[0]:
            return known[1]
        key = await self._store.find_key(key_hash)
        self._known[key_hash] = (clock.monotonic() + _REMEMBER_SECONDS, key)
        self._known.move_to_end(key_hash)
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return key


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()
