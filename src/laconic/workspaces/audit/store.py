"""The SQL of the audit trail."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from laconic.storage.database import Database, Statements

COLUMNS = (
    "id",
    "workspace_id",
    "actor_id",
    "actor_kind",
    "action",
    "subject_kind",
    "subject_id",
    "subject",
    "before",
    "after",
    "address",
    "created_at",
)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    id: int
    workspace_id: int | None
    actor_id: int | None
    actor_kind: str
    action: str
    subject_kind: str
    subject_id: int | None
    subject: str | None
    before: str | None
    after: str | None
    address: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Which events. `past` is (created_at, id) of the last one of the page before."""

    action: str | None = None
    subject_kind: str | None = None
    subject_id: int | None = None
    actor_id: int | None = None
    created_from: int | None = None
    created_to: int | None = None
    past: tuple[int, int] | None = None


async def insert_events(
    statements: Statements, workspace_id: int | None, rows: Sequence[Sequence[Any]]
) -> None:
    await insert_events_of({workspace_id}, statements, rows)


async def insert_events_of(
    workspace_ids: Set[int | None], statements: Statements, rows: Sequence[Sequence[Any]]
) -> None:
    """Of several workspaces, where the database does not part them."""
    if any(row[1] not in workspace_ids for row in rows):
        raise ValueError("an event belongs to another workspace")
    await statements.insert_many("audit_event", COLUMNS, rows)


class AuditStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, workspace_id: int | None, query: AuditQuery, limit: int) -> list[AuditEvent]:
        """Newest first. None: what concerns the installation as a whole, for the operator."""
        values: list[Any] = [] if workspace_id is None else [workspace_id]
        place = self._database if workspace_id is None else self._database.for_workspace(workspace_id)
        whose = "workspace_id IS NULL" if workspace_id is None else "workspace_id = $1"
        conditions = _conditions(query, values)
        rows = await place.fetch_all(
            f"SELECT {', '.join(COLUMNS)} FROM audit_event WHERE {whose}{conditions}"
            f" ORDER BY created_at DESC, id DESC LIMIT {limit:d}",
            *values,
        )
        return [AuditEvent(*row) for row in rows]


def _conditions(query: AuditQuery, values: list[Any]) -> str:
    """Adds its values to those that are there."""
    text = ""
    for column, operator, value in (
        ("action", "=", query.action),
        ("subject_kind", "=", query.subject_kind),
        ("subject_id", "=", query.subject_id),
        ("actor_id", "=", query.actor_id),
        ("created_at", ">=", query.created_from),
        ("created_at", "<", query.created_to),
    ):
        if value is not None:
            values.append(value)
            text += f" AND {column} {operator} ${len(values)}"
    if query.past is not None:
        values.extend(query.past)
        text += f" AND (created_at, id) < (${len(values) - 1}, ${len(values)})"
    return text
