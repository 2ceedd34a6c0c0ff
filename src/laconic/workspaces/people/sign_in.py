"""Signing in: who is it, and is it really them?

Whether an e-mail is known at all is not told, neither in words nor by the time it takes.
"""

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from laconic import clock
from laconic.errors import SignInFailed, WorkspaceNeeded
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import Event, record
from laconic.workspaces.model import Actor, User
from laconic.workspaces.passwords import Passwords
from laconic.workspaces.people import store as statements_of
from laconic.workspaces.people.backoff import Backoff
from laconic.workspaces.people.store import PeopleStore

# Each is a hash to compute: more workspaces than this have to be told apart by their slug.
_MOST_TRIED = 4


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a person has typed, and where from. `device` is the mark of a browser that has signed in before."""

    email: str
    password: str
    slug: str | None = None
    address: str = ""
    device: str | None = None


class SignIn:
    """`load_secret` gives what all processes of the installation share; it is asked once."""

    def __init__(
        self,
        database: Database,
        store: PeopleStore,
        passwords: Passwords,
        load_secret: Callable[[], Awaitable[bytes]],
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._now = now
        self._database = database
        self._store = store
        self._passwords = passwords
        self._load_secret = load_secret
        self._key: bytes | None = None
        self._nobodys_hash: str | None = None
        self._backoff: Backoff | None = None

    async def with_password(self, attempt: Attempt) -> User:
        """Raises SignInFailed, WorkspaceNeeded or TooManyRequests."""
        email = attempt.email.strip().lower()
        secret = await self._secret()
        if self._backoff is None:
            # After the await: all who came at once share one, or none would wait for another.
            self._backoff = Backoff(self._database, self._store, secret, self._now)
        backoff = self._backoff
        counted = await backoff.attempt(email, attempt.address, await self._device(email, attempt.device))
        users: list[User] = []
        if "\0" not in email + (attempt.slug or ""):  # which nobody's name holds, and not every engine takes
            users = await self._store.find_by_email(email, attempt.slug, _MOST_TRIED)
        known = [user for user in users if user.password_hash is not None]
        right = [
            user
            for user in known
            if user.password_hash and await self._passwords.is_right(user.password_hash, attempt.password)
        ]
        if not known:
            await self._pretend(attempt.password)
        if not right:
            await self._note_refusal(users, attempt.address)
            raise SignInFailed
        await backoff.succeeded(counted)
        if len(right) > 1:
            raise WorkspaceNeeded
        return right[0]

    async def with_subject(self, subject: str, email: str | None, slug: str | None) -> User:
        """Somebody whom the identity provider knows. `email` only when the provider has verified it."""
        users = await self._store.find_by_subject(subject)
        if not users and email is not None:
            users = await self._store.unbound_by_email(email)
            for user in users:
                await self._bind(user, subject)
        chosen = [user for user in users if slug is None or await self._slug_is(user, slug)]
        if not chosen:
            raise SignInFailed("Nobody has invited you to this site yet.")
        if len(chosen) > 1:
            raise WorkspaceNeeded
        return chosen[0]

    async def new_device(self, email: str) -> str:
        """A mark for a browser that has just signed in; it proves nothing but that."""
        number = secrets.token_hex(16)
        return f"{number}.{await self._mark(email.strip().lower(), number)}"

    async def _device(self, email: str, mark: str | None) -> str | None:
        """The device's number, when the mark is ours and was given for this account."""
        number, _, given = (mark or "").partition(".")
        expected = await self._mark(email, number)
        is_ours = hmac.compare_digest(expected.encode(), given.encode("utf-8", "replace"))
        return number if number and is_ours else None

    async def _mark(self, email: str, number: str) -> str:
        text = f"device\0{email}\0{number}".encode("utf-8", "replace")
        return hmac.new(await self._secret(), text, hashlib.sha256).hexdigest()

    async def _secret(self) -> bytes:
        if self._key is None:
            self._key = hashlib.blake2b(await self._load_secret(), person=b"laconic sign-in").digest()
        return self._key

    async def _pretend(self, password: str) -> None:
        """As long as a real check takes."""
        if self._nobodys_hash is None:
            self._nobodys_hash = await self._passwords.hash(secrets.token_hex(16))
        await self._passwords.is_right(self._nobodys_hash, password)

    async def _note_refusal(self, users: Sequence[User], address: str) -> None:
        """The back-off keeps these few, however often somebody tries."""
        for user in users:
            actor = Actor(user.workspace_id, frozenset(), kind="anyone", address=address or None)

            async def work(statements: Statements, user: User = user, actor: Actor = actor) -> None:
                event = Event("session.refuse", user.id, user.email)
                await record(statements, user.workspace_id, actor, event, self._now())

            await self._database.for_workspace(user.workspace_id).transaction(work)

    async def _bind(self, user: User, subject: str) -> None:
        actor = Actor(user.workspace_id, user.scopes, user_id=user.id, kind="user")

        async def work(statements: Statements) -> None:
            moment = self._now()
            changes = {"oidc_subject": subject}
            await statements_of.update_user(statements, user.workspace_id, user.id, changes, moment)
            event = Event("user.change", user.id, user.email, after={"identity_provider": True})
            await record(statements, user.workspace_id, actor, event, moment)

        await self._database.for_workspace(user.workspace_id).transaction(work)

    async def _slug_is(self, user: User, slug: str) -> bool:
        if "\0" in slug:
            return False
        found = await self._store.find_by_email(user.email, slug, _MOST_TRIED)
        return any(one.id == user.id for one in found)
