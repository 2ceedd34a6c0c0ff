"""Taking in links that were made elsewhere, with the codes under which people know them.

A code is kept as it is, or the link is not taken in: what else it leads to here is told, and never overwritten unless
somebody asks for it. The rules for targets hold; those for custom codes, which are a matter of taste, do not.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from laconic import clock
from laconic.clock import LAST_MOMENT
from laconic.codes.ahead.allocations import Allocations
from laconic.codes.rules import OWN_PATHS, POSSIBLE_CODE
from laconic.errors import ChoiceRefused, CodeRefused, LaconicError, Refused
from laconic.ids import IdSource
from laconic.links.adopted.store import AdoptedStore, Key
from laconic.links.fields import check_status, check_texts, metadata_text
from laconic.links.model import Link
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.redirect.model import GoneReason
from laconic.storage.database import Database

LONGEST_CODE = 20

What = Literal["added", "present", "differs", "changed", "conflict", "refused"]


@dataclass(slots=True)
class Adoption:
    """A link as it was elsewhere. Without `original_url` it was blanked there, and only its code is taken."""

    domain_id: int
    short_code: str
    original_url: str | None
    created_at: int
    updated_at: int | None = None
    expires_at: int | None = None
    title: str | None = None
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    redirect_status: int | None = None
    is_active: bool = True
    is_deleted: bool = False
    gone_reason: GoneReason | None = None

    @property
    def key(self) -> Key:
        return self.domain_id, self.short_code

    @property
    def is_gone(self) -> bool:
        return self.is_deleted or not self.is_active


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of an adoption; `reason` is a stable word where it was not taken in."""

    what: What
    link_id: int | None = None
    reason: str = ""
    detail: str = ""
    fields: tuple[str, ...] = ()
    """Those in which the link that is here differs."""


@dataclass(slots=True)
class _Judged:
    adoption: Adoption
    row: tuple[Any, ...]

    @property
    def link_id(self) -> int:
        return int(self.row[0])

    def values(self) -> dict[str, Any]:
        """What an owner may see to be different."""
        one = self.adoption
        return {
            "original_url": self.row[4],
            "title": one.title,
            "description": one.description,
            "metadata": self.row[10],
            "expires_at": one.expires_at,
            "redirect_status": self.row[15],
            "is_active": one.is_active,
        }


class LinkAdopter:
    """The verb "adopt". Belongs to one loop."""

    def __init__(
        self,
        database: Database,
        targets: TargetRules,
        *,
        redirect_status: int = 302,
        allocations: Allocations | None = None,
        cache: RedirectCache | None = None,
        now: Callable[[], int] = clock.now,
    ) -> None:
        self._store = AdoptedStore(database)
        self._targets = targets
        self._redirect_status = redirect_status
        self._allocations = allocations
        self._cache = cache
        self._now = now
        self._ids = IdSource()

    async def find(self, workspace_id: int, keys: Sequence[Key]) -> dict[Key, int]:
        """The ids of links that are here."""
        found = await self._store.find(workspace_id, keys)
        return {key: link.id for key, link in found.items()}

    async def adopt(
        self,
        workspace_id: int,
        adoptions: Sequence[Adoption],
        *,
        overwrite: bool = False,
        dry_run: bool = False,
    ) -> list[Outcome]:
        """What became of each, in order; one that is refused spoils no other. Durable when this returns."""
        moment = self._now()
        judged = [self._judge(workspace_id, adoption, moment) for adoption in adoptions]
        sound = [one for one in judged if isinstance(one, _Judged)]
        known = await self._store.find(workspace_id, {one.adoption.key for one in sound})
        outcomes: dict[int, Outcome] = {}
        missing = []
        for one in sound:
            link = known.get(one.adoption.key)
            if link is None:
                missing.append(one)
            else:
                outcomes[one.link_id] = await self._compare(workspace_id, one, link, overwrite, dry_run)
        outcomes |= await self._insert(workspace_id, missing, moment, dry_run)
        return [outcomes[one.link_id] if isinstance(one, _Judged) else one for one in judged]

    def _judge(self, workspace_id: int, adoption: Adoption, moment: int) -> _Judged | Outcome:
        try:
            return self._prepare(workspace_id, adoption, moment)
        except Refused as error:
            return refusal_of(error)

    def _prepare(self, workspace_id: int, one: Adoption, moment: int) -> _Judged:
        check_code(one.short_code)
        check_texts(one.title, one.description)
        original, location = None, None
        if one.original_url is not None:
            target = self._targets.check(one.original_url)
            original, location = target.original_url, target.location
        elif not one.is_gone:
            raise ChoiceRefused("original_url", "A link that is not gone leads somewhere.")
        for name in ("created_at", "updated_at", "expires_at"):
            value = getattr(one, name)
            if value is not None and not 0 <= value <= LAST_MOMENT:
                raise ChoiceRefused(name, "The time lies outside what can be stored.")
        status = self._redirect_status if one.redirect_status is None else one.redirect_status
        check_status(status)
        row = (
            *(self._ids.take(moment), workspace_id, one.domain_id, one.short_code),
            *(original, None if location == original else location, None, None),
            *(one.title, one.description, metadata_text(one.metadata) if one.metadata else "{}", None),
            *(one.created_at, one.updated_at or one.created_at, one.expires_at, status),
            *(one.is_active, one.is_deleted, one.gone_reason),
        )
        return _Judged(one, row)

    async def _compare(
        self, workspace_id: int, one: _Judged, link: Link, overwrite: bool, dry_run: bool
    ) -> Outcome:
        wanted = one.values()
        differs = differences(one.adoption, wanted, link)
        if link.is_deleted and not one.adoption.is_deleted:
            return Outcome("conflict", link.id, "deleted_here", "The link was deleted here.", differs)
        if not differs or link.is_deleted:
            return Outcome("present", link.id)
        if overwrite:
            if not dry_run:
                await self._overwrite(workspace_id, one, differs)
            return Outcome("changed", link.id, fields=differs)
        if "original_url" in differs:
            detail = f"Here it leads to {link.original_url or 'nowhere any more'}."
            return Outcome("conflict", link.id, "other_target", detail, differs)
        return Outcome("differs", link.id, fields=differs)

    async def _overwrite(self, workspace_id: int, one: _Judged, fields: Sequence[str]) -> None:
        wanted = one.values()
        changes = {name: wanted[name] for name in fields}
        if "original_url" in changes:
            changes |= {"target_url": one.row[5], "normalized_url": None, "normalized_digest": None}
        if "is_active" in changes:
            changes["gone_reason"] = one.adoption.gone_reason
        link = await self._store.change(workspace_id, one.adoption.key, changes, self._now())
        if link is not None and self._cache is not None:
            self._cache.changed(*one.adoption.key, link.version + 1)

    async def _insert(
        self, workspace_id: int, missing: Sequence[_Judged], moment: int, dry_run: bool
    ) -> dict[int, Outcome]:
        held = await self._held([one.adoption.short_code for one in missing])
        outcomes: dict[int, Outcome] = {}
        free = []
        for one in missing:
            if one.adoption.short_code in held:
                outcomes[one.link_id] = _taken(one)
            else:
                free.append(one)
        if dry_run:
            foreign = await self._store.find_foreign(workspace_id, {one.adoption.key for one in free})
            added = {one.link_id for one in free if one.adoption.key not in foreign}
        else:
            added = (
                await self._store.insert(workspace_id, [one.row for one in free], moment) if free else set()
            )
        lost = [one for one in free if one.link_id not in added]
        # Twice in the source, or made by somebody else at this moment.
        known = await self._store.find(workspace_id, {one.adoption.key for one in lost}) if lost else {}
        for one in free:
            if one.link_id in added:
                outcomes[one.link_id] = Outcome("added", one.link_id)
                if self._cache is not None and not dry_run:
                    self._cache.changed(*one.adoption.key, 1)
            elif one.adoption.key in known:
                link = known[one.adoption.key]
                outcomes[one.link_id] = await self._compare(workspace_id, one, link, False, dry_run)
            else:
                outcomes[one.link_id] = _taken(one)
        return outcomes

    async def _held(self, codes: Sequence[str]) -> set[str]:
        """Codes that programs have taken ahead."""
        return set(await self._allocations.holders(codes)) if codes and self._allocations else set()


def check_code(code: str) -> None:
    """May a link with this code be taken in? It has to be one that a visitor can ask for."""
    if not POSSIBLE_CODE.fullmatch(code):
        raise CodeRefused("shape", "A code consists of letters, digits, _ and - only.")
    if len(code) > LONGEST_CODE:
        raise CodeRefused("length", f"A code has at most {LONGEST_CODE} characters.")
    if code.lower() in OWN_PATHS:
        raise CodeRefused("reserved", "A page of Laconic itself has this address.")


def refusal_of(error: LaconicError) -> Outcome:
    reason = getattr(error, "reason", None) or getattr(error, "field", None) or "too_long"
    kind = (
        "code"
        if isinstance(error, CodeRefused)
        else "value"
        if isinstance(error, ChoiceRefused)
        else "target"
    )
    return Outcome("refused", None, f"{kind}_{reason}", str(error))


def differences(adoption: Adoption, wanted: Mapping[str, Any], link: Link) -> tuple[str, ...]:
    """The fields in which a link that is here is another than the one that comes."""
    here: dict[str, Any] = {name: getattr(link, name) for name in wanted}
    # Text of JSON may be written in several ways.
    here["metadata"], there = (
        json.loads(link.metadata),
        {**wanted, "metadata": json.loads(wanted["metadata"])},
    )
    here["is_active"] = bool(link.is_active)
    if adoption.original_url is None or link.is_blanked:
        # Of one of them nobody knows any more where it led.
        both_gone = adoption.is_gone and (link.is_deleted or not link.is_active)
        return () if both_gone else ("original_url",)
    if adoption.redirect_status is None:
        there["redirect_status"] = here["redirect_status"]
    if link.gone_reason == "expired":
        # The reaper has been here.
        there["is_active"] = here["is_active"]
    return tuple(name for name in there if there[name] != here[name])


def _taken(one: _Judged) -> Outcome:
    return Outcome("conflict", None, "taken", f"The code {one.adoption.short_code!r} is taken.")
