"""Writing an audit event down, together with the change that it tells of."""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laconic.storage.database import Database, Statements, Tenant
from laconic.workspaces.audit.store import insert_events
from laconic.workspaces.model import Actor

# Never written down, whatever an event is made of.
_SECRETS = frozenset({"password", "password_hash", "secret", "token", "token_hash", "key_hash"})


@dataclass(frozen=True, slots=True)
class Event:
    """What was done to what. `before` and `after` hold the fields that changed."""

    action: str
    subject_id: int | None
    subject: str | None
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None

    @property
    def subject_kind(self) -> str:
        return self.action.partition(".")[0]


def event_row(workspace_id: int | None, actor: Actor, event: Event, moment: int) -> tuple[Any, ...]:
    """In the order of the store's columns. The id is random, and no secret: nobody loses an event to somebody who took
    the same."""
    return (
        random.getrandbits(63),
        workspace_id,
        actor.id,
        actor.kind,
        event.action,
        event.subject_kind,
        event.subject_id,
        event.subject,
        _text(event.before),
        _text(event.after),
        actor.address,
        moment,
    )


async def record(statements: Statements, workspace_id: int, actor: Actor, event: Event, moment: int) -> None:
    """In the transaction of the change: there is no change without its event, and no event without its change."""
    await insert_events(statements, workspace_id, [event_row(workspace_id, actor, event, moment)])


async def record_oversight(
    statements: Statements, workspace_id: int | None, actor: Actor, event: Event, moment: int
) -> None:
    """What the operator does, to a workspace or to the installation as a whole; in the transaction of the change.

    The installation's trail says who it was. The workspace's own says that it was the operator: another tenant's
    people, and where they sit, are none of its business. Needs statements that no tenant's policy binds.
    """
    await insert_events(statements, None, [event_row(None, actor, event, moment)])
    if workspace_id is not None:
        operator = Actor(workspace_id, actor.scopes, kind="operator")
        await record(statements, workspace_id, operator, event, moment)


async def record_by_any(
    statements: Statements, workspace_id: int, actor: Actor, event: Event, moment: int
) -> None:
    """By somebody of the workspace, or by the operator from outside it."""
    within = record if actor.workspace_id == workspace_id else record_oversight
    await within(statements, workspace_id, actor, event, moment)


def place_of(database: Database, workspace_id: int, actor: Actor) -> Tenant:
    """Where a change runs that somebody of the workspace or the operator makes: the operator's trail is no tenant's."""
    return database.for_workspace(workspace_id) if actor.workspace_id == workspace_id else database


async def note(database: Database, actor: Actor, event: Event, moment: int) -> None:
    """For changes that no transaction holds, such as erasing raw clicks: written down before they begin."""

    async def work(statements: Statements) -> None:
        await record(statements, actor.workspace_id, actor, event, moment)

    await database.for_workspace(actor.workspace_id).transaction(work)


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields that differ, as they were and as they are."""
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}


def _text(fields: Mapping[str, Any] | None) -> str | None:
    if fields is None:
        return None
    return json.dumps({name: value for name, value in fields.items() if name not in _SECRETS}, default=str)
