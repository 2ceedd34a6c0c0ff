"""Editing, disabling and deleting links.

When a verb returns, no worker redirects to what the link was before later than a second, and this process not
at all: the change, its row in `link_change` and the new version are one transaction.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from laconic import clock
from laconic.errors import ChoiceRefused, LinkGone, LinkUnknown
from laconic.links import store as statements_of
from laconic.links.fields import check_status, check_texts, metadata_text
from laconic.links.model import Link, LinkEdit, check_expiry
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.redirect.model import GoneReason, is_expired
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import Event, changed, record
from laconic.workspaces.model import Actor


class LinkChanger:
    """The verbs "edit" and "delete"."""

    def __init__(
        self,
        database: Database,
        targets: TargetRules,
        *,
        cache: RedirectCache | None = None,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._targets = targets
        self._cache = cache
        self._now = now

    async def edit(
        self, workspace_id: int, domain_id: int, code: str, edit: LinkEdit, actor: Actor | None = None
    ) -> Link:
        """The link as it is after the edit."""

        async def work(statements: Statements) -> Link:
            return await self.edit_in(statements, workspace_id, domain_id, code, edit, actor)

        return await self._change(workspace_id, work)

    async def delete(self, workspace_id: int, domain_id: int, code: str, actor: Actor | None = None) -> Link:
        """The row stays for ever, and with it the code: nobody else will get it."""

        async def work(statements: Statements) -> Link:
            return await self.delete_in(statements, workspace_id, domain_id, code, actor)

        return await self._change(workspace_id, work)

    async def edit_in(
        self,
        statements: Statements,
        workspace_id: int,
        domain_id: int,
        code: str,
        edit: LinkEdit,
        actor: Actor | None = None,
    ) -> Link:
        link = await self._find(statements, workspace_id, domain_id, code)
        changes = self._judge(link, edit)
        return await self._write(statements, link, changes, "link.change", actor) if changes else link

    async def put_expiry_back_in(
        self,
        statements: Statements,
        workspace_id: int,
        domain_id: int,
        code: str,
        expires_at: int | None,
        actor: Actor | None = None,
    ) -> Link:
        """Takes a change of the expiry back. Unlike an edit it may say that the link has expired: so it was before."""
        link = await self._find(statements, workspace_id, domain_id, code)
        changes: dict[str, Any] = {"expires_at": expires_at}
        if link.gone_reason == "expired" and not is_expired(expires_at, self._now()):
            changes |= _REVIVED
        return await self._write(statements, link, changes, "link.change", actor)

    async def delete_in(
        self,
        statements: Statements,
        workspace_id: int,
        domain_id: int,
        code: str,
        actor: Actor | None = None,
    ) -> Link:
        link = await self._find(statements, workspace_id, domain_id, code)
        changes = {"is_deleted": True, "is_active": False, "gone_reason": "deleted"}
        return await self._write(statements, link, changes, "link.delete", actor)

    async def restore_in(
        self,
        statements: Statements,
        workspace_id: int,
        domain_id: int,
        code: str,
        *,
        is_active: bool,
        actor: Actor | None = None,
    ) -> Link:
        """Takes a delete back, as long as it is known where the link led. `is_active`: whether it was on before.

        Whoever calls has seen to it that the operator has not taken the link down.
        """
        link = await statements_of.find_for_change(statements, workspace_id, domain_id, code)
        if link is None:
            raise LinkUnknown(code)
        if not link.is_deleted:
            return link
        if link.is_blanked:
            raise LinkGone(code)
        was = "expired" if is_expired(link.expires_at, self._now()) else "disabled"
        state = _REVIVED if is_active else {"gone_reason": was}
        return await self._write(statements, link, {"is_deleted": False, **state}, "link.restore", actor)

    async def _change(self, workspace_id: int, work: Callable[[Statements], Awaitable[Link]]) -> Link:
        link = await self._database.for_workspace(workspace_id).transaction(work)
        self.tell_cache(link)
        return link

    def tell_cache(self, link: Link) -> None:
        """This process sees the change at once, before the answer goes out."""
        if self._cache is not None:
            self._cache.changed(link.domain_id, link.short_code, link.version)
            self._cache.wrote(link.domain_id, link.short_code, link.row())

    async def _find(self, statements: Statements, workspace_id: int, domain_id: int, code: str) -> Link:
        link = await statements_of.find_for_change(statements, workspace_id, domain_id, code)
        if link is None:
            raise LinkUnknown(code)
        if link.is_deleted or link.is_blanked:
            raise LinkGone(code)
        return link

    async def _write(
        self, statements: Statements, link: Link, changes: dict[str, Any], action: str, actor: Actor | None
    ) -> Link:
        moment = self._now()
        version = await statements_of.update(statements, link.workspace_id, link, changes, moment)
        await statements_of.announce_changes(statements, [(link.domain_id, link.short_code, version)], moment)
        shown = {name: value for name, value in changes.items() if not name.startswith("normalized")}
        after = replace(link, **shown, version=version, updated_at=moment)
        if actor is not None:
            fields = changed({name: getattr(link, name) for name in shown}, shown)
            event = Event(action, link.id, link.short_code, *fields)
            await record(statements, link.workspace_id, actor, event, moment)
        return after

    def _judge(self, link: Link, edit: LinkEdit) -> dict[str, Any]:
        """The columns to write. Nothing here reads the database."""
        changes: dict[str, Any] = {}
        if "original_url" in edit.fields:
            changes |= self._new_target(edit)
        if "title" in edit.fields or "description" in edit.fields:
            check_texts(edit.title, edit.description)
            changes |= {name: getattr(edit, name) for name in ("title", "description") if name in edit.fields}
        if "metadata" in edit.fields:
            changes["metadata"] = metadata_text(edit.metadata or {})
        if "redirect_status" in edit.fields:
            if edit.redirect_status is None:
                raise ChoiceRefused("redirect_status", "A redirect has a status.")
            check_status(edit.redirect_status)
            changes["redirect_status"] = edit.redirect_status
        return changes | self._new_state(link, edit)

    def _new_target(self, edit: LinkEdit) -> dict[str, Any]:
        if edit.original_url is None:
            raise ChoiceRefused("original_url", "A link has a URL.")
        target = self._targets.check(edit.original_url)
        return {
            "original_url": target.original_url,
            "target_url": None if target.location == target.original_url else target.location,
            # It no longer stands for the URL it was made for.
            "normalized_url": None,
            "normalized_digest": None,
        }

    def _new_state(self, link: Link, edit: LinkEdit) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        moment = self._now()
        expires_at = link.expires_at
        if "expires_at" in edit.fields:
            if edit.expires_at is not None:
                check_expiry(edit.expires_at, moment)
            expires_at = changes["expires_at"] = edit.expires_at
            if link.gone_reason == "expired":
                changes |= _REVIVED
        if "is_active" not in edit.fields or edit.is_active is None:
            return changes
        if not edit.is_active:
            return changes | {"is_active": False, "gone_reason": _reason_to_disable(link, expires_at, moment)}
        if link.gone_reason == "taken_down":
            raise ChoiceRefused("is_active", "The operator has taken this link down.")
        if is_expired(expires_at, moment):
            raise ChoiceRefused("is_active", "The link has expired; give it a new expires_at.")
        return changes if link.is_active else changes | _REVIVED


def _reason_to_disable(link: Link, expires_at: int | None, moment: int) -> GoneReason:
    """What was expired and is no more is disabled: nothing but its owner keeps it from redirecting."""
    if link.gone_reason == "expired" and not is_expired(expires_at, moment):
        return "disabled"
    return link.gone_reason or "disabled"


# Another link may have been made for the same URL meanwhile, so this one gives up standing for it.
_REVIVED: dict[str, Any] = {"is_active": True, "gone_reason": None, "normalized_digest": None}
