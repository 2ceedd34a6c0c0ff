"""The SQL of users, invitations, sessions and wrong sign-ins."""

from typing import Any

from laconic.storage.database import Database, Row, Statements
from laconic.workspaces.model import Invitation, Session, User

USER_COLUMNS = "id, workspace_id, email, full_name, role, is_operator, created_at, updated_at, last_login_at, password_hash"
_SESSION_COLUMNS = (
    "id, workspace_id, user_id, created_at, expires_at, last_seen_at, rotated_at, address, user_agent"
)
_INVITATION_COLUMNS = "id, workspace_id, email, role, is_setup, created_by, created_at, expires_at, used_at"
_USER_EDITABLE = frozenset(
    {"full_name", "role", "password_hash", "is_operator", "is_deleted", "oidc_subject"}
)


def user_from_row(row: Row) -> User:
    (
        user_id,
        workspace_id,
        email,
        full_name,
        role,
        is_operator,
        created_at,
        updated_at,
        last_login_at,
        kept,
    ) = row
    return User(
        *(user_id, workspace_id, email, full_name, role, bool(is_operator)),
        *(created_at, updated_at, last_login_at, kept),
    )


def _invitation_from_row(row: Row) -> Invitation:
    invitation_id, workspace_id, email, role, is_setup, created_by, created_at, expires_at, used_at = row
    return Invitation(
        *(invitation_id, workspace_id, email, role, bool(is_setup)),
        *(created_by, created_at, expires_at, used_at),
    )


# Table, key and the column that says when its time is over.
_ENDING = (
    ("session", "id", "expires_at"),
    ("invitation", "id", "expires_at"),
    ("password_reset", "id", "expires_at"),
    ("sign_in_failure", "key_hash", "updated_at"),
)


class PeopleStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_user(self, workspace_id: int, user_id: int) -> User | None:
        row = await self._database.for_workspace(workspace_id).fetch_one(
            f"SELECT {USER_COLUMNS} FROM users WHERE workspace_id = $1 AND id = $2 AND NOT is_deleted",
            workspace_id,
            user_id,
        )
        return user_from_row(row) if row else None

    async def list_users(self, workspace_id: int) -> list[User]:
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT {USER_COLUMNS} FROM users WHERE workspace_id = $1 AND NOT is_deleted"
            " ORDER BY created_at, id",
            workspace_id,
        )
        return [user_from_row(row) for row in rows]

    async def find_by_email(self, email: str, slug: str | None, limit: int) -> list[User]:
        """Takes no workspace_id: whoever signs in knows an e-mail, and which workspaces it is in is the question."""
        condition = "" if slug is None else " AND workspace.slug = $3"
        rows = await self._database.fetch_all(
            f"SELECT {prefixed(USER_COLUMNS)} FROM users JOIN workspace ON workspace.id = users.workspace_id"
            " WHERE lower(users.email) = lower($1) AND NOT users.is_deleted AND NOT workspace.is_deleted"
            f"{condition} ORDER BY users.created_at LIMIT $2",
            email,
            limit,
            *(() if slug is None else (slug,)),
        )
        return [user_from_row(row) for row in rows]

    async def find_by_subject(self, oidc_subject: str) -> list[User]:
        """Takes no workspace_id: the identity provider's subject is what tells the workspaces."""
        rows = await self._database.fetch_all(
            f"SELECT {prefixed(USER_COLUMNS)} FROM users JOIN workspace ON workspace.id = users.workspace_id"
            " WHERE users.oidc_subject = $1 AND NOT users.is_deleted AND NOT workspace.is_deleted"
            " ORDER BY users.created_at",
            oidc_subject,
        )
        return [user_from_row(row) for row in rows]

    async def unbound_by_email(self, email: str) -> list[User]:
        """Takes no workspace_id, as above: those with this e-mail who never came through the identity provider."""
        rows = await self._database.fetch_all(
            f"SELECT {prefixed(USER_COLUMNS)} FROM users JOIN workspace ON workspace.id = users.workspace_id"
            " WHERE lower(users.email) = lower($1) AND users.oidc_subject IS NULL AND NOT users.is_deleted"
            " AND NOT workspace.is_deleted ORDER BY users.created_at",
            email,
        )
        return [user_from_row(row) for row in rows]

    # Sessions.

    async def find_session(self, token_hash: bytes, previous_since: int) -> tuple[Session, User] | None:
        """By the hash alone: the token says whose it is. One that was rotated away works until `previous_since`."""
        session = prefixed(_SESSION_COLUMNS, "session")
        row = await self._database.fetch_one(
            f"SELECT {session}, {prefixed(USER_COLUMNS)} FROM session"
            " JOIN users ON users.id = session.user_id JOIN workspace ON workspace.id = session.workspace_id"
            " WHERE (session.token_hash = $1 OR (session.previous_hash = $1 AND session.rotated_at > $2))"
            " AND NOT users.is_deleted AND NOT workspace.is_deleted",
            token_hash,
            previous_since,
        )
        return (Session(*row[:9]), user_from_row(row[9:])) if row else None

    async def list_sessions(self, workspace_id: int, user_id: int, moment: int) -> list[Session]:
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT {_SESSION_COLUMNS} FROM session WHERE workspace_id = $1 AND user_id = $2 AND expires_at > $3"
            " ORDER BY created_at DESC, id DESC",
            workspace_id,
            user_id,
            moment,
        )
        return [Session(*row) for row in rows]

    async def rotate_session(
        self,
        workspace_id: int,
        session_id: int,
        old_hash: bytes,
        new_hash: bytes,
        moment: int,
        expires_at: int,
    ) -> bool:
        """False when another request of the same browser was first; it keeps what that one has made."""
        changed = await self._database.for_workspace(workspace_id).execute(
            "UPDATE session SET token_hash = $4, previous_hash = $3, rotated_at = $5, last_seen_at = $5,"
            " expires_at = $6 WHERE workspace_id = $1 AND id = $2 AND token_hash = $3",
            workspace_id,
            session_id,
            old_hash,
            new_hash,
            moment,
            expires_at,
        )
        return changed > 0

    async def drop_old_sessions(self, before: int, limit: int) -> int:
        """Some sessions, invitations and failures whose time is over; of all workspaces."""
        dropped = 0
        for table, key, column in _ENDING:
            dropped += await self._database.execute(
                f"DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {column} < $1 LIMIT $2)",
                before,
                limit,
            )
        return dropped

    async def count_old_sessions(self, before: int) -> int:
        counted = 0
        for table, _, column in _ENDING:
            row = await self._database.fetch_one(f"SELECT count(*) FROM {table} WHERE {column} < $1", before)
            counted += int(row[0]) if row else 0
        return counted

    # Invitations.

    async def list_invitations(self, workspace_id: int, moment: int) -> list[Invitation]:
        """Those that still work."""
        rows = await self._database.for_workspace(workspace_id).fetch_all(
            f"SELECT {_INVITATION_COLUMNS} FROM invitation WHERE workspace_id = $1 AND used_at IS NULL"
            " AND expires_at > $2 AND NOT is_setup ORDER BY created_at, id",
            workspace_id,
            moment,
        )
        return [_invitation_from_row(row) for row in rows]

    async def find_invitation(self, token_hash: bytes, moment: int) -> Invitation | None:
        """By the token's hash alone: the link says where it leads."""
        row = await self._database.fetch_one(
            f"SELECT {prefixed(_INVITATION_COLUMNS, 'invitation')} FROM invitation"
            " JOIN workspace ON workspace.id = invitation.workspace_id"
            " WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 AND NOT workspace.is_deleted",
            token_hash,
            moment,
        )
        return _invitation_from_row(row) if row else None

    async def insert_setup(self, row: tuple[Any, ...]) -> None:
        """A set-up link of the installation, beside those of its other servers."""
        await insert_invitation(self._database, int(row[1]), row)

    # Wrong sign-ins: of the installation, for nobody knows yet whose account it is.

    async def blocked_until(self, key_hash: bytes) -> int | None:
        row = await self._database.fetch_one(
            "SELECT blocked_until FROM sign_in_failure WHERE key_hash = $1", key_hash
        )
        return None if row is None else int(row[0])

    async def forgive(self, key_hash: bytes) -> None:
        await self._database.execute("DELETE FROM sign_in_failure WHERE key_hash = $1", key_hash)


# Statements of a transaction that a verb has opened.


async def insert_user(statements: Statements, workspace_id: int, row: tuple[Any, ...]) -> bool:
    """False when the e-mail is taken in this workspace. A user who was deleted gives theirs back."""
    if row[1] != workspace_id:
        raise ValueError("the row belongs to another workspace")
    await statements.execute(
        "UPDATE users SET email = 'deleted-' || id || '@invalid', oidc_subject = NULL"
        " WHERE workspace_id = $1 AND lower(email) = lower($2) AND is_deleted",
        workspace_id,
        row[2],
    )
    inserted = await statements.execute(
        "INSERT INTO users (id, workspace_id, email, full_name, role, is_operator, created_at, updated_at,"
        " password_hash, oidc_subject) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING",
        *row,
    )
    return inserted == 1


async def update_user(
    statements: Statements, workspace_id: int, user_id: int, changes: dict[str, Any], moment: int
) -> bool:
    unknown = changes.keys() - _USER_EDITABLE
    if unknown:
        raise ValueError(f"not editable: {unknown}")
    names = sorted(changes)
    sets = "".join(f"{name} = ${number}, " for number, name in enumerate(names, start=4))
    changed = await statements.execute(
        f"UPDATE users SET {sets}updated_at = $3 WHERE workspace_id = $1 AND id = $2 AND NOT is_deleted",
        workspace_id,
        user_id,
        moment,
        *(changes[name] for name in names),
    )
    return changed > 0


async def lock_people(statements: Statements, workspace_id: int) -> None:
    """Whoever else would change the workspace's users waits, in turn, for the end of this transaction."""
    await statements.execute("UPDATE workspace SET updated_at = updated_at WHERE id = $1", workspace_id)


async def read_user(statements: Statements, workspace_id: int, user_id: int) -> User | None:
    row = await statements.fetch_one(
        f"SELECT {USER_COLUMNS} FROM users WHERE workspace_id = $1 AND id = $2 AND NOT is_deleted",
        workspace_id,
        user_id,
    )
    return user_from_row(row) if row else None


async def has_other_admin(statements: Statements, workspace_id: int, user_id: int) -> bool:
    row = await statements.fetch_one(
        "SELECT 1 FROM users WHERE workspace_id = $1 AND id <> $2 AND role = 'admin' AND NOT is_deleted LIMIT 1",
        workspace_id,
        user_id,
    )
    return row is not None


async def has_any_user(statements: Statements) -> bool:
    """Of the whole installation: the set-up link makes its first user only."""
    return await statements.fetch_one("SELECT 1 FROM users WHERE NOT is_deleted LIMIT 1") is not None


async def note_login(statements: Statements, workspace_id: int, user_id: int, moment: int) -> None:
    await statements.execute(
        "UPDATE users SET last_login_at = $3 WHERE workspace_id = $1 AND id = $2",
        workspace_id,
        user_id,
        moment,
    )


async def insert_session(statements: Statements, workspace_id: int, row: tuple[Any, ...]) -> None:
    if row[1] != workspace_id:
        raise ValueError("the row belongs to another workspace")
    await statements.execute(
        "INSERT INTO session (id, workspace_id, user_id, token_hash, created_at, expires_at, last_seen_at,"
        " rotated_at, address, user_agent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        *row,
    )


async def end_sessions(
    statements: Statements,
    workspace_id: int,
    user_id: int,
    *,
    only: int | None = None,
    but: int | None = None,
) -> int:
    """All of a user's, or one of them, or all but one."""
    condition, values = "", []
    for operator, session_id in (("=", only), ("<>", but)):
        if session_id is not None:
            values.append(session_id)
            condition += f" AND id {operator} ${len(values) + 2}"
    return await statements.execute(
        f"DELETE FROM session WHERE workspace_id = $1 AND user_id = $2{condition}",
        workspace_id,
        user_id,
        *values,
    )


async def end_all_sessions(statements: Statements, workspace_id: int) -> None:
    await statements.execute("DELETE FROM session WHERE workspace_id = $1", workspace_id)


async def insert_invitation(statements: Statements, workspace_id: int, row: tuple[Any, ...]) -> None:
    if row[1] != workspace_id:
        raise ValueError("the row belongs to another workspace")
    await statements.execute(
        "INSERT INTO invitation (id, workspace_id, token_hash, email, role, is_setup, created_by, created_at,"
        " expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        *row,
    )


async def use_invitation(
    statements: Statements, workspace_id: int, invitation_id: int, moment: int
) -> Invitation | None:
    """None when somebody else was first: the WHERE clause picks the winner."""
    row = await statements.fetch_one(
        "UPDATE invitation SET used_at = $3 WHERE workspace_id = $1 AND id = $2 AND used_at IS NULL"
        f" AND expires_at > $3 RETURNING {_INVITATION_COLUMNS}",
        workspace_id,
        invitation_id,
        moment,
    )
    return _invitation_from_row(row) if row else None


async def lock_failures(statements: Statements, key_hash: bytes, moment: int) -> tuple[int, int, int]:
    """(failures, blocked_until, updated_at), locked until the transaction ends."""
    row = await statements.fetch_one(
        "INSERT INTO sign_in_failure AS kept (key_hash, failures, blocked_until, updated_at)"
        " VALUES ($1, 0, $2, $2) ON CONFLICT (key_hash) DO UPDATE SET failures = kept.failures"
        " RETURNING failures, blocked_until, updated_at",
        key_hash,
        moment,
    )
    return (0, moment, moment) if row is None else (int(row[0]), int(row[1]), int(row[2]))


async def save_failures(
    statements: Statements, key_hash: bytes, failures: int, blocked_until: int, moment: int
) -> None:
    await statements.execute(
        "UPDATE sign_in_failure SET failures = $2, blocked_until = $3, updated_at = $4 WHERE key_hash = $1",
        key_hash,
        failures,
        blocked_until,
        moment,
    )


def prefixed(columns: str, table: str = "users") -> str:
    return ", ".join(f"{table}.{column.strip()}" for column in columns.split(","))
