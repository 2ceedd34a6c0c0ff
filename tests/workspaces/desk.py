"""The people's verbs on a bare database, with a clock that a test can move."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from laconic import clock
from laconic.codes.store import CodeStore
from laconic.storage.database import Database
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.audit.store import AuditEvent, AuditQuery, AuditStore
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, Role, User, command_actor
from laconic.workspaces.passwords import Passwords
from laconic.workspaces.people.invitations import Invitations
from laconic.workspaces.people.sessions import Sessions
from laconic.workspaces.people.sign_in import SignIn
from laconic.workspaces.people.store import PeopleStore
from laconic.workspaces.people.users import UserDraft, Users
from laconic.workspaces.store import WorkspaceStore
from laconic.workspaces.tenants import Workspaces

PASSWORD = "correct horse battery"
OPERATOR = command_actor(DEFAULT_WORKSPACE_ID)


class CountingPasswords(Passwords):
    """Says how many hashes were computed: the only costly thing in a sign-in."""

    def __init__(self) -> None:
        super().__init__()
        self.computed = 0

    def _verify(self, password_hash: str, password: str) -> bool:
        self.computed += 1
        return super()._verify(password_hash, password)


@dataclass
class Desk:
    database: Database
    passwords: CountingPasswords
    moved: int = 0
    started: int = field(default_factory=clock.now)
    _ticks: int = 0

    def __post_init__(self) -> None:
        store, workspaces = PeopleStore(self.database), WorkspaceStore(self.database)
        self.store = store
        self.users = Users(self.database, store, self.passwords, now=self.now)
        self.invitations = Invitations(self.database, store, self.users, now=self.now)
        self.sessions = Sessions(self.database, store, now=self.now)
        self.sign_in = SignIn(
            self.database, store, self.passwords, CodeStore(self.database).signing_secret, now=self.now
        )
        self.tenants = Workspaces(self.database, workspaces, now=self.now)
        self.keys = ApiKeys(self.database, workspaces)
        self.audit = AuditStore(self.database)

    def now(self) -> int:
        """Stands still but for what a test moves, and a microsecond a reading, so that events have an order."""
        self._ticks += 1
        return self.started + self.moved + self._ticks

    async def user(
        self, email: str = "ann@example.com", role: Role = "admin", password: str | None = None
    ) -> User:
        draft = UserDraft(email, role, None, password)
        return await self.users.create(OPERATOR, DEFAULT_WORKSPACE_ID, draft)

    async def events(self, workspace_id: int = DEFAULT_WORKSPACE_ID) -> list[AuditEvent]:
        """Oldest first."""
        return (await self.audit.page(workspace_id, AuditQuery(), 1_000))[::-1]


@asynccontextmanager
async def open_desk(database: Database) -> AsyncIterator[Desk]:
    passwords = CountingPasswords()
    desk = Desk(database, passwords)
    try:
        yield desk
    finally:
        await desk.keys.close()
        passwords.close()
