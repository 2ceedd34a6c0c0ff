"""Signed-in browsers. The cookie holds a random token, the database its hash; nothing else is believed.

The token is renewed every hour of use, so one that was copied is of little use for long; the one before works for
another minute, for requests that were under way. A session ends after two weeks without use, and after ninety days
in any case.
"""

from collections.abc import Callable
from dataclasses import dataclass

from laconic import clock
from laconic.clock import DAY, HOUR, MINUTE
from laconic.errors import RecordUnknown
from laconic.ids import IdSource
from laconic.redirect.model import is_expired
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import Event, record
from laconic.workspaces.model import Actor, Session, User
from laconic.workspaces.people import store as statements_of
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.people.tokens import new_token, token_hash

_ROTATE_AFTER = HOUR
_PREVIOUS_WORKS = MINUTE
_IDLE = 14 * DAY
_LONGEST = 90 * DAY
_LONGEST_AGENT = 300


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A session that was found by its token, and whose it is."""

    session: Session
    user: User

    def actor(self, address: str | None) -> Actor:
        return Actor(
            self.user.workspace_id,
            self.user.scopes,
            user_id=self.user.id,
            kind="user",
            address=address,
            session_id=self.session.id,
        )


class Sessions:
    def __init__(self, database: Database, store: PeopleStore, now: Callable[[], int] = clock.now) -> None:
        self._database = database
        self._store = store
        self._now = now
        self._ids = IdSource()

    async def start(self, user: User, actor: Actor, user_agent: str | None) -> str:
        """The token of a new session. A token that the browser had before is never taken over."""
        token, moment = new_token(), self._now()
        row = (
            *(self._ids.take(moment), user.workspace_id, user.id, token_hash(token), moment, moment + _IDLE),
            *(moment, moment, actor.address, user_agent[:_LONGEST_AGENT] if user_agent else None),
        )

        async def work(statements: Statements) -> None:
            await statements_of.insert_session(statements, user.workspace_id, row)
            await statements_of.note_login(statements, user.workspace_id, user.id, moment)
            event = Event("session.start", row[0], user.email, after={"user_agent": row[9]})
            await record(statements, user.workspace_id, actor, event, moment)

        await self._database.for_workspace(user.workspace_id).transaction(work)
        return token

    async def find(self, token: str) -> SignedIn | None:
        moment = self._now()
        found = await self._store.find_session(token_hash(token), moment - _PREVIOUS_WORKS)
        if found is None or is_expired(found[0].expires_at, moment):
            return None
        return SignedIn(*found)

    async def renew(self, signed_in: SignedIn, token: str) -> str | None:
        """A new token when the old one has served its hour; None when it goes on."""
        session, moment = signed_in.session, self._now()
        if session.rotated_at > moment - _ROTATE_AFTER:
            return None
        renewed = new_token()
        expires_at = min(moment + _IDLE, session.created_at + _LONGEST)
        is_first = await self._store.rotate_session(
            session.workspace_id, session.id, token_hash(token), token_hash(renewed), moment, expires_at
        )
        return renewed if is_first else None

    async def list(self, workspace_id: int, user_id: int) -> "list[Session]":
        return await self._store.list_sessions(workspace_id, user_id, self._now())

    async def end(self, actor: Actor, user_id: int, session_id: int) -> None:
        """One of a user's sessions."""

        async def work(statements: Statements) -> None:
            ended = await statements_of.end_sessions(statements, actor.workspace_id, user_id, only=session_id)
            if not ended:
                raise RecordUnknown("session")
            event = Event("session.end", session_id, None)
            await record(statements, actor.workspace_id, actor, event, self._now())

        await self._database.for_workspace(actor.workspace_id).transaction(work)

    async def end_all(self, actor: Actor, user: User) -> int:
        """Signs a user out everywhere; says of how many browsers."""

        async def work(statements: Statements) -> int:
            ended = await statements_of.end_sessions(statements, user.workspace_id, user.id)
            event = Event("session.end_all", user.id, user.email, after={"ended": ended})
            await record(statements, user.workspace_id, actor, event, self._now())
            return ended

        return await self._database.for_workspace(user.workspace_id).transaction(work)
