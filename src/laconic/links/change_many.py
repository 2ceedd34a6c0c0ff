"""The same change for many links at once: one transaction, and one bad link spoils no other."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from laconic.errors import ChoiceRefused, LinkGone, LinkUnknown
from laconic.links.change import LinkChanger
from laconic.links.model import Link, LinkEdit
from laconic.links.store import LinkStore
from laconic.storage.database import Database, Statements
from laconic.workspaces.model import Actor

Place = tuple[int, str]
"""A domain's id and a code."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The links as they are now, and why others stayed as they were."""

    changed: list[Link] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


class ManyChanger:
    """`is_taken_down` says of a link's id whether the operator has taken it down."""

    def __init__(
        self,
        database: Database,
        store: LinkStore,
        changer: LinkChanger,
        is_taken_down: Callable[[int], Awaitable[bool]],
    ) -> None:
        self._database = database
        self._store = store
        self._changer = changer
        self._is_taken_down = is_taken_down

    async def edit(
        self, workspace_id: int, places: Sequence[Place], edit: LinkEdit, actor: Actor | None = None
    ) -> Outcome:
        async def one(statements: Statements, domain_id: int, code: str) -> Link:
            return await self._changer.edit_in(statements, workspace_id, domain_id, code, edit, actor)

        return await self._each(workspace_id, places, one)

    async def put_expiries_back(
        self, workspace_id: int, expiries: Mapping[Place, int | None], actor: Actor | None = None
    ) -> Outcome:
        """Takes a change of the expiry back: each link gets the one that it had."""

        async def one(statements: Statements, domain_id: int, code: str) -> Link:
            expires_at = expiries[domain_id, code]
            return await self._changer.put_expiry_back_in(
                statements, workspace_id, domain_id, code, expires_at, actor
            )

        return await self._each(workspace_id, list(expiries), one)

    async def delete(self, workspace_id: int, places: Sequence[Place], actor: Actor | None = None) -> Outcome:
        async def one(statements: Statements, domain_id: int, code: str) -> Link:
            return await self._changer.delete_in(statements, workspace_id, domain_id, code, actor)

        return await self._each(workspace_id, places, one)

    async def restore(
        self, workspace_id: int, places: Sequence[Place], *, is_active: bool, actor: Actor | None = None
    ) -> Outcome:
        """Takes a delete back. What was taken down before it was deleted stays where it is."""

        async def one(statements: Statements, domain_id: int, code: str) -> Link:
            return await self._changer.restore_in(
                statements, workspace_id, domain_id, code, is_active=is_active, actor=actor
            )

        # Nobody can take down a link that is deleted, so what is found here holds for the transaction, too.
        found = {place: await self._store.find(workspace_id, *place) for place in set(places)}
        down = {place for place, link in found.items() if link and await self._is_taken_down(link.id)}
        outcome = await self._each(workspace_id, [place for place in found if place not in down], one)
        outcome.refused.extend((code, "The operator has taken this link down.") for _, code in sorted(down))
        return outcome

    async def _each(
        self,
        workspace_id: int,
        places: Sequence[Place],
        one: Callable[[Statements, int, str], Awaitable[Link]],
    ) -> Outcome:
        async def work(statements: Statements) -> Outcome:
            # A transaction that is run again begins anew.
            outcome = Outcome()
            # In one order, so that two who change the same links wait for each other instead of for ever.
            for domain_id, code in sorted(set(places)):
                try:
                    outcome.changed.append(await one(statements, domain_id, code))
                except (LinkUnknown, LinkGone, ChoiceRefused) as error:
                    outcome.refused.append((code, str(error)))
            return outcome

        outcome = await self._database.for_workspace(workspace_id).transaction(work)
        for link in outcome.changed:
            self._changer.tell_cache(link)
        return outcome
