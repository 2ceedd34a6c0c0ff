"""Links that make a user of whoever opens them: once, for a time. No mail server is needed to send them (`letters`).

The set-up link of a new installation is one of them: it makes the first user, admin of the default workspace and
operator, and dies as soon as there is any user.
"""

from collections.abc import Callable

from laconic import clock
from laconic.clock import DAY
from laconic.errors import ChoiceRefused, InvitationOver, RecordUnknown
from laconic.ids import IdSource
from laconic.storage.database import Database, Statements, Tenant, Transact, plainly
from laconic.workspaces.audit.record import Event, place_of, record, record_by_any
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, Actor, Invitation, Role, User, check_email
from laconic.workspaces.people import store as statements_of
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.people.tokens import new_token, token_hash
from laconic.workspaces.people.users import UserDraft, Users

LIFETIME = 7 * DAY
_SETUP_LIFETIME = DAY


class Invitations:
    def __init__(
        self, database: Database, store: PeopleStore, users: Users, now: Callable[[], int] = clock.now
    ) -> None:
        self._database = database
        self._store = store
        self._users = users
        self._now = now
        self._ids = IdSource()

    async def invite(
        self,
        actor: Actor,
        workspace_id: int,
        role: Role,
        email: str | None = None,
        lifetime: int = LIFETIME,
        *,
        transact: Transact = plainly,
    ) -> tuple[str, Invitation]:
        """The link's token, for this once, and its record. With an e-mail the link is for that person."""
        token = new_token()
        made = self._draft(workspace_id, role, None if email is None else check_email(email), lifetime, actor)

        async def work(statements: Statements) -> tuple[str, Invitation]:
            await statements_of.insert_invitation(statements, workspace_id, _row(made, token))
            event = Event("invitation.create", made.id, made.email, after={"role": role, "email": made.email})
            await record_by_any(statements, workspace_id, actor, event, made.created_at)
            return token, made

        return await transact(place_of(self._database, workspace_id, actor), work)

    async def set_up(self) -> str | None:
        """The token of a new set-up link; None when there are users already. Each server's start makes one."""
        if await statements_of.has_any_user(self._database):
            return None
        token = new_token()
        made = self._draft(DEFAULT_WORKSPACE_ID, "admin", None, _SETUP_LIFETIME, None, is_setup=True)
        await self._store.insert_setup(_row(made, token))
        return token

    async def list(self, workspace_id: int) -> "list[Invitation]":
        return await self._store.list_invitations(workspace_id, self._now())

    async def withdraw(self, actor: Actor, workspace_id: int, invitation_id: int) -> None:
        async def work(statements: Statements) -> None:
            moment = self._now()
            found = await statements_of.use_invitation(statements, workspace_id, invitation_id, moment)
            if found is None:
                raise RecordUnknown("invitation")
            event = Event("invitation.withdraw", found.id, found.email, before={"role": found.role})
            await record(statements, workspace_id, actor, event, moment)

        await self._database.for_workspace(workspace_id).transaction(work)

    async def look(self, token: str) -> Invitation:
        """What the link offers. Raises InvitationOver."""
        found = await self._store.find_invitation(token_hash(token), self._now())
        if found is None or (found.is_setup and await statements_of.has_any_user(self._database)):
            raise InvitationOver
        return found

    async def accept(self, token: str, draft: UserDraft, address: str | None) -> User:
        """Makes the user and uses the link up, in one transaction: two who open it at once make one user."""
        invitation = await self.look(token)
        if invitation.email is not None and draft.email.strip().lower() != invitation.email.lower():
            raise ChoiceRefused("email", f"This invitation is for {invitation.email}.")
        offered = UserDraft(
            *(draft.email, invitation.role, draft.full_name, draft.password, invitation.is_setup),
            draft.oidc_subject,
        )
        user = await self._users.make_ready(invitation.workspace_id, offered)
        actor = Actor(user.workspace_id, user.scopes, user_id=user.id, kind="user", address=address)

        async def work(statements: Statements) -> User:
            if invitation.is_setup and await statements_of.has_any_user(statements):
                raise InvitationOver
            used = await statements_of.use_invitation(
                statements, user.workspace_id, invitation.id, self._now()
            )
            if used is None:
                raise InvitationOver
            return await self._users.create_in(statements, actor, user, draft.oidc_subject)

        return await self._place(invitation).transaction(work)

    def _place(self, invitation: Invitation) -> Tenant:
        """The set-up link asks whether there is any user at all, which no single tenant may know."""
        return (
            self._database if invitation.is_setup else self._database.for_workspace(invitation.workspace_id)
        )

    def _draft(
        self,
        workspace_id: int,
        role: Role,
        email: str | None,
        lifetime: int,
        actor: Actor | None,
        *,
        is_setup: bool = False,
    ) -> Invitation:
        moment = self._now()
        made_by = actor.user_id if actor is not None and actor.workspace_id == workspace_id else None
        return Invitation(
            *(self._ids.take(moment), workspace_id, email, role, is_setup, made_by),
            *(moment, moment + lifetime, None),
        )


def _row(made: Invitation, token: str) -> "tuple[object, ...]":
    return (
        *(made.id, made.workspace_id, token_hash(token), made.email, made.role, made.is_setup),
        *(made.created_by, made.created_at, made.expires_at),
    )
