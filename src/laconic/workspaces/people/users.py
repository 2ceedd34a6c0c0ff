"""Making, changing and removing users of a workspace."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from laconic import clock
from laconic.errors import LastAdmin, NameTaken, RecordUnknown, ScopeMissing, SignInFailed
from laconic.ids import IdSource
from laconic.storage.database import Database, Statements, Transact, plainly
from laconic.workspaces.audit.record import Event, changed, record
from laconic.workspaces.model import (
    OPERATOR,
    Actor,
    Role,
    User,
    check_email,
    check_name,
    check_password,
)
from laconic.workspaces.passwords import Passwords
from laconic.workspaces.people import store as statements_of
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.store import revoke_keys_of


@dataclass(frozen=True, slots=True)
class UserDraft:
    """Without a password the person signs in through the identity provider."""

    email: str
    role: Role = "member"
    full_name: str | None = None
    password: str | None = None
    is_operator: bool = False
    oidc_subject: str | None = None


@dataclass(frozen=True, slots=True)
class UserEdit:
    """New values; what is not named in `fields` stays as it is."""

    fields: frozenset[str]
    full_name: str | None = None
    role: Role | None = None
    password: str | None = None


class Users:
    def __init__(
        self,
        database: Database,
        store: PeopleStore,
        passwords: Passwords,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._store = store
        self._passwords = passwords
        self._now = now
        self._ids = IdSource()

    async def get(self, workspace_id: int, user_id: int) -> User:
        user = await self._store.find_user(workspace_id, user_id)
        if user is None:
            raise RecordUnknown("user")
        return user

    async def list(self, workspace_id: int) -> "list[User]":
        return await self._store.list_users(workspace_id)

    async def create(
        self, actor: Actor, workspace_id: int, draft: UserDraft, *, transact: Transact = plainly
    ) -> User:
        user = await self.make_ready(workspace_id, draft)

        async def work(statements: Statements) -> User:
            return await self.create_in(statements, actor, user, draft.oidc_subject)

        return await transact(self._database.for_workspace(workspace_id), work)

    async def make_ready(self, workspace_id: int, draft: UserDraft) -> User:
        """All that takes long, before a transaction opens."""
        email = check_email(draft.email)
        full_name = None if draft.full_name is None else check_name(draft.full_name, "full_name")
        password_hash = None
        if draft.password is not None:
            password_hash = await self._passwords.hash(check_password(draft.password))
        moment = self._now()
        user_id = self._ids.take(moment)
        return User(
            *(user_id, workspace_id, email, full_name, draft.role, draft.is_operator),
            *(moment, moment, None, password_hash),
        )

    async def create_in(
        self, statements: Statements, actor: Actor, user: User, oidc_subject: str | None = None
    ) -> User:
        row = (
            *(user.id, user.workspace_id, user.email, user.full_name, user.role, user.is_operator),
            *(user.created_at, user.updated_at, user.password_hash, oidc_subject),
        )
        if not await statements_of.insert_user(statements, user.workspace_id, row):
            raise NameTaken("email", user.email)
        after = {"email": user.email, "role": user.role, "is_operator": user.is_operator}
        event = Event("user.create", user.id, user.email, after=after)
        await record(statements, user.workspace_id, actor, event, user.created_at)
        return user

    async def change(self, actor: Actor, workspace_id: int, user_id: int, edit: UserEdit) -> User:
        """A new password ends the person's other sessions; a lower role, the keys that go beyond it."""
        changes = await self._judge(edit)

        async def work(statements: Statements) -> User:
            await statements_of.lock_people(statements, workspace_id)
            user = await self._read(statements, workspace_id, user_id)
            _check_may_touch(actor, user)
            if not changes:
                return user
            await self._keep_an_admin(statements, user, changes.get("role", user.role))
            return await self._write(statements, actor, user, changes)

        return await self._database.for_workspace(workspace_id).transaction(work)

    async def check_password(self, workspace_id: int, user_id: int, password: str) -> None:
        """Is it still the same person who sits there? Raises SignInFailed."""
        user = await self.get(workspace_id, user_id)
        if user.password_hash is None or not await self._passwords.is_right(user.password_hash, password):
            raise SignInFailed("This is not your password.")

    async def delete(self, actor: Actor, workspace_id: int, user_id: int) -> None:
        """The row stays, because links name it. Sessions and keys end with it."""

        async def work(statements: Statements) -> None:
            moment = self._now()
            await statements_of.lock_people(statements, workspace_id)
            user = await self._read(statements, workspace_id, user_id)
            _check_may_touch(actor, user)
            await self._keep_an_admin(statements, user, None)
            await statements_of.update_user(statements, workspace_id, user_id, {"is_deleted": True}, moment)
            await statements_of.end_sessions(statements, workspace_id, user_id)
            await revoke_keys_of(statements, workspace_id, user_id, frozenset())
            event = Event("user.delete", user.id, user.email, before={"role": user.role})
            await record(statements, workspace_id, actor, event, moment)

        await self._database.for_workspace(workspace_id).transaction(work)

    async def _judge(self, edit: UserEdit) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if "full_name" in edit.fields:
            changes["full_name"] = None if edit.full_name is None else check_name(edit.full_name, "full_name")
        if "role" in edit.fields and edit.role is not None:
            changes["role"] = edit.role
        if "password" in edit.fields and edit.password is not None:
            changes["password_hash"] = await self._passwords.hash(check_password(edit.password))
        return changes

    async def _write(self, statements: Statements, actor: Actor, user: User, changes: dict[str, Any]) -> User:
        moment = self._now()
        await statements_of.update_user(statements, user.workspace_id, user.id, changes, moment)
        after = replace(user, **changes, updated_at=moment)
        if "password_hash" in changes:
            # The browser that changed it stays; whoever else knew the old one is out.
            kept = actor.session_id if actor.user_id == user.id else None
            await statements_of.end_sessions(statements, user.workspace_id, user.id, but=kept)
        if after.role != user.role:
            await revoke_keys_of(statements, user.workspace_id, user.id, after.scopes)
        before_fields, after_fields = changed(_shown(user), _shown(after))
        if "password_hash" in changes:
            after_fields["password_changed"] = True
        event = Event("user.change", user.id, user.email, before_fields, after_fields)
        await record(statements, user.workspace_id, actor, event, moment)
        return after

    async def read_touchable(
        self, statements: Statements, actor: Actor, workspace_id: int, user_id: int
    ) -> User:
        """For a change of this user that another verb makes."""
        user = await self._read(statements, workspace_id, user_id)
        _check_may_touch(actor, user)
        return user

    async def _read(self, statements: Statements, workspace_id: int, user_id: int) -> User:
        user = await statements_of.read_user(statements, workspace_id, user_id)
        if user is None:
            raise RecordUnknown("user")
        return user

    async def _keep_an_admin(self, statements: Statements, user: User, role: Role | None) -> None:
        if user.role == "admin" and role != "admin":
            others = await statements_of.has_other_admin(statements, user.workspace_id, user.id)
            if not others:
                raise LastAdmin


def _check_may_touch(actor: Actor, user: User) -> None:
    """A tenant's admin who could give the operator a new password would be the operator."""
    if user.is_operator and not actor.may(OPERATOR) and actor.user_id != user.id:
        raise ScopeMissing(OPERATOR)


def _shown(user: User) -> dict[str, Any]:
    return {"full_name": user.full_name, "role": user.role, "is_operator": user.is_operator}
