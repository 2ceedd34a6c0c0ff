"""Hosts that no link may lead to.

New links there are refused. Links that are there already answer 410 while the host is blocked: that is judged when a
link is looked up, so a block holds for a billion links at once and nothing is written to any of them (decision 0038).
"""

import re
from collections.abc import Callable
from typing import Any

from laconic import clock
from laconic.errors import ChoiceRefused, EntryUnknown
from laconic.links.fields import check_text
from laconic.oversight import store as statements_of
from laconic.oversight.model import LONGEST_REASON, BlockedHost
from laconic.oversight.store import OversightStore
from laconic.oversight.takedown import checked_text
from laconic.storage.database import Database, Statements
from laconic.workspaces.audit.record import Event, record_oversight
from laconic.workspaces.domains.directory import Directory
from laconic.workspaces.model import Actor

_LONGEST_HOST = 255
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_ADDRESS = re.compile(r"\[[0-9a-f:.]+\]")
# What makes a text more than a host: the URL parser would read past it.
_BEYOND = re.compile(r"[/\\?#@%\x00-\x20]")


class Blocks:
    """`canonical` writes a host as the URL parser does."""

    def __init__(
        self,
        database: Database,
        directory: Directory,
        canonical: Callable[[str], str],
        *,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._database = database
        self._store = OversightStore(database)
        self._directory = directory
        self._canonical = canonical
        self._now = now

    async def page(self, after: str, limit: int) -> list[BlockedHost]:
        check_text("cursor", after)
        return await self._store.list_blocked(after, limit)

    async def block(
        self, host: str, actor: Actor, *, includes_subdomains: bool = True, reason: str = ""
    ) -> BlockedHost:
        """A host that is blocked already gets the new reason and reach."""
        blocked = BlockedHost(
            self._host(host),
            includes_subdomains,
            checked_text("reason", reason, LONGEST_REASON) or None,
            self._now(),
        )

        async def work(statements: Statements) -> None:
            before = await statements_of.find_block(statements, blocked.host)
            await statements_of.keep_block(statements, blocked, actor.user_id)
            event = Event("blocked_host.add", None, blocked.host, _shown(before), _shown(blocked))
            await record_oversight(statements, None, actor, event, blocked.created_at)

        await self._database.transaction(work)
        await self._directory.catch_up()
        return blocked

    async def unblock(self, host: str, actor: Actor) -> None:
        name = self._host(host)

        async def work(statements: Statements) -> None:
            before = await statements_of.find_block(statements, name)
            if not await statements_of.drop_block(statements, name):
                raise EntryUnknown(f"The host {name!r} is not blocked.")
            event = Event("blocked_host.remove", None, name, before=_shown(before))
            await record_oversight(statements, None, actor, event, self._now())

        await self._database.transaction(work)
        await self._directory.catch_up()

    def _host(self, text: str) -> str:
        """As targets are compared: ASCII, lower case. `*.example.com` is what people write for all below it."""
        text = text.strip().removeprefix("*.")
        host = "" if len(text) > _LONGEST_HOST or _BEYOND.search(text) else self._canonical(text)
        if len(host) > _LONGEST_HOST or not (_NAME.fullmatch(host) or _ADDRESS.fullmatch(host)):
            raise ChoiceRefused("host", "A host is a name such as example.com, or an address.")
        return host


def _shown(blocked: BlockedHost | None) -> dict[str, Any] | None:
    if blocked is None:
        return None
    return {"includes_subdomains": blocked.includes_subdomains, "reason": blocked.reason}
