"""Making, changing and deleting workspaces; what a workspace has chosen."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from laconic import clock
from laconic.codes.rules import is_reserved
from laconic.errors import ChoiceRefused, NameTaken, RecordUnknown
from laconic.ids import IdSource
from laconic.storage.database import Database, Statements, Transact, plainly
from laconic.workspaces import store as statements_of
from laconic.workspaces.audit.record import Event, changed, place_of, record_by_any, record_oversight
from laconic.workspaces.model import (
    DEFAULT_WORKSPACE_ID,
    Actor,
    Workspace,
    WorkspaceSettings,
    check_name,
    check_slug,
)
from laconic.workspaces.people.store import end_all_sessions
from laconic.workspaces.store import WorkspaceStore

# A change is in effect everywhere this much later; in return creates need no query for it.
_REMEMBER_SECONDS = 0.9
_MOST_REMEMBERED = 10_000
_PLAIN = WorkspaceSettings()


@dataclass(frozen=True, slots=True)
class WorkspaceEdit:
    """New values; a setting that is not named in `settings` stays as it is, None takes it back."""

    name: str | None = None
    settings: dict[str, Any] | None = None


class Workspaces:
    def __init__(self, database: Database, store: WorkspaceStore, now: Callable[[], int] = clock.now) -> None:
        self._database = database
        self._store = store
        self._now = now
        self._ids = IdSource()
        self._known: dict[int, tuple[float, WorkspaceSettings]] = {}

    async def settings_of(self, workspace_id: int) -> WorkspaceSettings:
        """For every create: from memory, at most a second old."""
        known = self._known.get(workspace_id)
        if known is not None and clock.monotonic() < known[0]:
            return known[1]
        workspace = await self._store.find_workspace(workspace_id)
        settings = _PLAIN if workspace is None else workspace.settings
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[workspace_id] = (clock.monotonic() + _REMEMBER_SECONDS, settings)
        return settings

    async def get(self, workspace_id: int) -> Workspace:
        workspace = await self._store.find_workspace(workspace_id)
        if workspace is None:
            raise RecordUnknown("workspace")
        return workspace

    async def find(self, slug: str) -> Workspace:
        workspace = await self._store.find_slug(slug)
        if workspace is None:
            raise RecordUnknown("workspace")
        return workspace

    async def page(self, past: int, limit: int) -> list[Workspace]:
        """For the operator."""
        return await self._store.list_workspaces(past, limit)

    async def create(
        self,
        actor: Actor,
        name: str,
        slug: str,
        settings: WorkspaceSettings = _PLAIN,
        *,
        transact: Transact = plainly,
    ) -> Workspace:
        if is_reserved(check_slug(slug)):
            raise ChoiceRefused("slug", f"The word {slug!r} is reserved.")
        moment = self._now()
        made = Workspace(self._ids.take(moment), check_name(name), slug, moment, moment, settings)

        async def work(statements: Statements) -> Workspace:
            if not await statements_of.insert_workspace(statements, made.id, made):
                raise NameTaken("slug", slug)
            event = Event("workspace.create", made.id, slug, after=_shown(made))
            await record_oversight(statements, made.id, actor, event, moment)
            return made

        return await transact(self._database, work)

    async def change(self, actor: Actor, workspace_id: int, edit: WorkspaceEdit) -> Workspace:
        name = None if edit.name is None else check_name(edit.name)

        async def work(statements: Statements) -> Workspace:
            moment = self._now()
            before = await self._lock(statements, workspace_id)
            settings = WorkspaceSettings(**(asdict(before.settings) | (edit.settings or {})))
            after = replace(before, name=name or before.name, settings=settings, updated_at=moment)
            fields = changed(_shown(before), _shown(after))
            if fields[1]:
                await statements_of.update_workspace(
                    statements, workspace_id, after.name, after.settings, moment
                )
                event = Event("workspace.change", workspace_id, before.slug, *fields)
                await record_by_any(statements, workspace_id, actor, event, moment)
            return after

        after = await place_of(self._database, workspace_id, actor).transaction(work)
        self._known.pop(workspace_id, None)
        return after

    async def delete(self, actor: Actor, workspace_id: int) -> None:
        """Nobody gets in any more from this moment on. The row stays, and with it the slug."""
        if workspace_id == DEFAULT_WORKSPACE_ID:
            raise ChoiceRefused("id", "The default workspace cannot be deleted.")

        async def work(statements: Statements) -> None:
            moment = self._now()
            before = await self._lock(statements, workspace_id)
            await statements_of.mark_workspace_deleted(statements, workspace_id, moment)
            await statements_of.revoke_all_keys(statements, workspace_id)
            await end_all_sessions(statements, workspace_id)
            event = Event("workspace.delete", workspace_id, before.slug, before=_shown(before))
            await record_by_any(statements, workspace_id, actor, event, moment)

        await place_of(self._database, workspace_id, actor).transaction(work)

    async def _lock(self, statements: Statements, workspace_id: int) -> Workspace:
        found = await statements_of.lock_workspace(statements, workspace_id)
        if found is None:
            raise RecordUnknown("workspace")
        return found


def _shown(workspace: Workspace) -> dict[str, Any]:
    return {"name": workspace.name, **asdict(workspace.settings)}
