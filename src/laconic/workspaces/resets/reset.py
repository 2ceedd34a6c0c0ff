"""Links by which a user chooses a new password: once, for a day. An admin or the operator makes them."""

from collections.abc import Callable
from dataclasses import dataclass

from laconic import clock
from laconic.clock import DAY
from laconic.errors import InvitationOver
from laconic.ids import IdSource
from laconic.storage.database import Database, Statements, Transact, plainly
from laconic.workspaces.audit.record import Event, record
from laconic.workspaces.model import Actor, User, check_password
from laconic.workspaces.passwords import Passwords
from laconic.workspaces.people.store import end_sessions, update_user
from laconic.workspaces.people.tokens import new_token, token_hash
from laconic.workspaces.people.users import Users
from laconic.workspaces.resets import store as statements_of
from laconic.workspaces.resets.store import ResetStore

LIFETIME = DAY


@dataclass(frozen=True, slots=True)
class Reset:
    """A link that was made, with its token, for this once."""

    token: str
    user: User
    expires_at: int


class PasswordResets:
    def __init__(
        self,
        database: Database,
        users: Users,
        passwords: Passwords,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._store = ResetStore(database)
        self._users = users
        self._passwords = passwords
        self._now = now
        self._ids = IdSource()

    async def make(
        self, actor: Actor, workspace_id: int, user_id: int, *, transact: Transact = plainly
    ) -> Reset:
        """A new link takes the place of one that was made before. The old password works until the link is used."""
        token, moment = new_token(), self._now()

        async def work(statements: Statements) -> Reset:
            user = await self._users.read_touchable(statements, actor, workspace_id, user_id)
            await statements_of.end_resets(statements, workspace_id, user_id, moment)
            row = (
                self._ids.take(moment),
                workspace_id,
                user_id,
                token_hash(token),
                moment,
                moment + LIFETIME,
            )
            await statements_of.insert_reset(statements, workspace_id, row)
            event = Event("user.reset_link", user.id, user.email)
            await record(statements, workspace_id, actor, event, moment)
            return Reset(token, user, moment + LIFETIME)

        return await transact(self._database.for_workspace(workspace_id), work)

    async def look(self, token: str) -> User:
        """Whose link it is. Raises InvitationOver."""
        found = await self._store.find_reset(token_hash(token), self._now())
        if found is None:
            raise InvitationOver
        return found

    async def use(self, token: str, password: str, address: str | None) -> User:
        """Sets the password, ends the person's sessions and uses the link up, in one transaction."""
        user = await self.look(token)
        password_hash = await self._passwords.hash(check_password(password))
        actor = Actor(user.workspace_id, user.scopes, user_id=user.id, kind="user", address=address)

        async def work(statements: Statements) -> User:
            moment = self._now()
            used = await statements_of.use_reset(statements, user.workspace_id, token_hash(token), moment)
            if not used:
                raise InvitationOver
            changes = {"password_hash": password_hash}
            await update_user(statements, user.workspace_id, user.id, changes, moment)
            await end_sessions(statements, user.workspace_id, user.id)
            event = Event(
                "user.change", user.id, user.email, after={"password_changed": True, "by": "reset link"}
            )
            await record(statements, user.workspace_id, actor, event, moment)
            return user

        return await self._database.for_workspace(user.workspace_id).transaction(work)
