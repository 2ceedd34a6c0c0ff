"""Taking a link down, whoever owns it, and putting it back.

As with an owner's edit: when a verb returns, this process follows at once and every other one within a second.
"""

from collections.abc import Callable
from typing import Any

from laconic import clock
from laconic.errors import ChoiceRefused, EntryUnknown, LinkGone, LinkUnknown
from laconic.links import store as links_of
from laconic.links.fields import check_text
from laconic.links.model import Link
from laconic.oversight import store as statements_of
from laconic.oversight.model import LONGEST_REASON, Takedown
from laconic.oversight.store import OversightStore
from laconic.redirect.cache import RedirectCache
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import Event, record_oversight
from laconic.workspaces.model import Actor

_BEFORE_ALL = (1 << 63) - 1


class Takedowns:
    def __init__(
        self,
        database: Database,
        *,
        cache: RedirectCache | None = None,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._store = OversightStore(database)
        self._cache = cache
        self._now = now

    async def page(self, before: int | None, limit: int) -> list[Takedown]:
        return await self._store.list_takedowns(_BEFORE_ALL if before is None else before, limit)

    async def covers(self, link_id: int) -> bool:
        """Is this link taken down?"""
        return await statements_of.find_takedown(self._database, link_id) is not None

    async def take_down(self, domain_id: int, code: str, reason: str, actor: Actor) -> Takedown:
        """Visitors read the reason. Reports on the link that nobody has looked at are upheld with it."""
        reason = checked_text("reason", reason, LONGEST_REASON)
        if not reason:
            raise ChoiceRefused("reason", "Say why: visitors and the link's owner will read it.")

        async def work(statements: Statements) -> tuple[Link, Takedown]:
            link = await _find(statements, domain_id, code)
            if link.is_deleted:
                raise LinkGone(code)
            moment = self._now()
            takedown = Takedown(
                link.id, link.workspace_id, domain_id, code, link.original_url, reason, moment
            )
            before = link.gone_reason or (None if link.is_active else "disabled")
            await statements_of.keep_takedown(statements, takedown, before, actor.user_id)
            upheld = await statements_of.uphold_reports(statements, link.id, actor.user_id, moment)
            event = Event(
                *("link.take_down", link.id, code, {"gone_reason": before}),
                {"gone_reason": "taken_down", "reason": reason, "reports_upheld": upheld},
            )
            await record_oversight(statements, link.workspace_id, actor, event, moment)
            gone = {"is_active": False, "gone_reason": "taken_down"}
            link.version = await self._write(statements, link, gone, moment)
            return link, takedown

        link, takedown = await self._database.transaction(work)
        self._tell_cache(link)
        return takedown

    async def put_back(self, domain_id: int, code: str, actor: Actor) -> None:
        """The link is again what it was: live, or disabled or expired."""

        async def work(statements: Statements) -> Link:
            link = await _find(statements, domain_id, code)
            found = await statements_of.find_takedown(statements, link.id)
            if found is None:
                raise EntryUnknown(f"The link {code!r} is not taken down.")
            if not link.is_deleted and not link.original_url:
                raise LinkGone(code)
            await statements_of.drop_takedown(statements, link.id)
            moment = self._now()
            event = Event(
                *("link.put_back", link.id, code),
                {"gone_reason": link.gone_reason, "reason": found[1]},
                {"gone_reason": "deleted" if link.is_deleted else found[0]},
            )
            await record_oversight(statements, link.workspace_id, actor, event, moment)
            if not link.is_deleted:
                link.version = await self._write(statements, link, _as_before(found[0]), moment)
            return link

        self._tell_cache(await self._database.transaction(work))

    async def _write(self, statements: Statements, link: Link, changes: dict[str, Any], moment: int) -> int:
        version = await links_of.update(statements, link.workspace_id, link, changes, moment)
        changed = [(link.domain_id, link.short_code, version)]
        await links_of.announce_changes(statements, changed, moment)
        return version

    def _tell_cache(self, link: Link) -> None:
        if self._cache is not None:
            self._cache.changed(link.domain_id, link.short_code, link.version)


async def _find(statements: Statements, domain_id: int, code: str) -> Link:
    link = await links_of.find_for_operator(statements, domain_id, code)
    if link is None:
        raise LinkUnknown(code)
    return link


def _as_before(previous_reason: str | None) -> dict[str, Any]:
    if previous_reason is not None:
        return {"is_active": False, "gone_reason": previous_reason}
    # Another link may have been made for the same URL meanwhile, so this one gives up standing for it.
    return {"is_active": True, "gone_reason": None, "normalized_digest": None}


def checked_text(field: str, text: str, longest: int) -> str:
    """Without outer white space; refused when it is too long or cannot be stored."""
    text = text.strip()
    check_text(field, text)
    if len(text) > longest:
        raise ChoiceRefused(field, f"At most {longest} characters are allowed.")
    return text
