"""Erasing raw clicks because somebody asks for it, with a note of who did so."""

from collections.abc import Callable

from laconic import clock
from laconic.clicks.events.erase import Eraser, visitor_digest
from laconic.links.model import Link
from laconic.storage.database import Database
from laconic.workspaces.audit.record import Event, note
from laconic.workspaces.model import Actor


class Forgetter:
    """The verb "erase". Raw clicks go in steps and lie in files of their own on one engine, so no transaction holds the
    erasing and its audit event: the event is written before the first click goes."""

    def __init__(self, database: Database, eraser: Eraser, *, now: Callable[[], int] = clock.now) -> None:
        self._database = database
        self._eraser = eraser
        self._now = now

    async def link(self, actor: Actor, link: Link) -> int:
        """All raw clicks of one link; says how many there were."""
        await note(self._database, actor, Event("clicks.erase", link.id, link.short_code), self._now())
        return await self._eraser.link(actor.workspace_id, link.id)

    async def visitor(self, actor: Actor, visitor: str) -> int:
        """All raw clicks of one visitor; says how many there were. The event does not say whose: it must be forgotten."""
        digest = visitor_digest(visitor)
        await note(self._database, actor, Event("clicks.erase", None, "a visitor"), self._now())
        return await self._eraser.visitor(actor.workspace_id, digest)
