"""Writing an audit event down, together with the change that it tells of."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from laconic.storage.database import Statements
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


def event_row(workspace_id: int, actor: Actor, event: Event, moment: int) -> tuple[Any, ...]:
    """In the order of the store's columns. The id is random: nobody loses an event to somebody who took the same."""
    return (
        secrets.randbits(63),
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


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields that differ, as they were and as they are."""
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}


def _text(fields: Mapping[str, Any] | None) -> str | None:
    if fields is None:
        return None
    return json.dumps({name: value for name, value in fields.items() if name not in _SECRETS}, default=str)
