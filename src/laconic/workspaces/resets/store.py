"""The SQL of links for a new password."""

from typing import Any

from laconic.storage.database import Database, Statements
from laconic.workspaces.model import User
from laconic.workspaces.people.store import USER_COLUMNS, prefixed, user_from_row


class ResetStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def find_reset(self, token_hash: bytes, moment: int) -> User | None:
        """By the token's hash alone: whose password the link is for."""
        row = await self._database.fetch_one(
            f"SELECT {prefixed(USER_COLUMNS)} FROM password_reset JOIN users ON users.id = password_reset.user_id"
            " JOIN workspace ON workspace.id = users.workspace_id"
            " WHERE token_hash = $1 AND used_at IS NULL AND expires_at > $2 AND NOT users.is_deleted"
            " AND NOT workspace.is_deleted",
            token_hash,
            moment,
        )
        return user_from_row(row) if row else None


async def insert_reset(statements: Statements, workspace_id: int, row: tuple[Any, ...]) -> None:
    if row[1] != workspace_id:
        raise ValueError("a link of another workspace")
    await statements.execute(
        "INSERT INTO password_reset (id, workspace_id, user_id, token_hash, created_at, expires_at)"
        " VALUES ($1, $2, $3, $4, $5, $6)",
        *row,
    )


async def end_resets(statements: Statements, workspace_id: int, user_id: int, moment: int) -> None:
    """Links of a user that nobody has used."""
    await statements.execute(
        "UPDATE password_reset SET used_at = $3 WHERE workspace_id = $1 AND user_id = $2 AND used_at IS NULL",
        workspace_id,
        user_id,
        moment,
    )


async def use_reset(statements: Statements, workspace_id: int, token_hash: bytes, moment: int) -> bool:
    """False when somebody was quicker, or its time is over."""
    used = await statements.execute(
        "UPDATE password_reset SET used_at = $3 WHERE workspace_id = $1 AND token_hash = $2 AND used_at IS NULL"
        " AND expires_at > $3",
        workspace_id,
        token_hash,
        moment,
    )
    return used > 0
