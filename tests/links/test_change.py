"""Editing and deleting links."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from laconic.clock import HOUR, SECOND
from laconic.errors import ChoiceRefused, LinkGone, LinkUnknown, TargetRefused
from laconic.links.change import LinkChanger
from laconic.links.model import Link, LinkEdit
from laconic.links.targets import TargetRules
from laconic.redirect.cache import RedirectCache
from laconic.redirect.lookup import Lookup
from laconic.redirect.model import Redirect, Tombstone
from tests.links.desk import DOMAIN, WORKSPACE, Desk


async def changes(desk: Desk) -> list[tuple[str, int]]:
    rows = await desk.database.fetch_all("SELECT short_code, version FROM link_change ORDER BY seq")
    return [(code, version) for code, version in rows]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"title": "New"}, {"title": "New"}),
        ({"title": None, "description": None}, {"title": None, "description": None}),
        ({"metadata": {"b": 1}}, {}),
        ({"redirect_status": 308}, {"redirect_status": 308}),
        ({"is_active": False}, {"is_active": False, "gone_reason": "disabled"}),
        (
            {"original_url": "https://example.com/ü"},
            {"original_url": "https://example.com/ü", "target_url": "https://example.com/%C3%BC"},
        ),
        (
            {"original_url": "https://example.com/new"},
            {"original_url": "https://example.com/new", "target_url": None},
        ),
    ],
)
async def test_edit_writes_what_is_named(
    desk: Desk, fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    """A new version, a new date, a row for the caches, and all the rest as before."""
    before = await desk.make(
        "https://example.com/two words", title="Old", description="Old", metadata={"a": 1}
    )
    desk.clock.moment += SECOND
    after = await desk.edit(before.short_code, **fields)
    stored = await desk.get(before.short_code)
    assert json.loads(after.metadata) == json.loads(stored.metadata) == fields.get("metadata", {"a": 1})
    assert replace(stored, metadata=after.metadata) == after
    assert (after.version, after.updated_at) == (2, desk.clock.moment)
    assert await changes(desk) == [(before.short_code, 2)]
    changed = {name for name in Link.__slots__ if getattr(after, name) != getattr(before, name)}
    assert changed - {"version", "updated_at", "metadata"} <= set(expected)
    assert {name: getattr(after, name) for name in expected} == expected


async def test_edit_without_fields_changes_nothing(desk: Desk) -> None:
    """No version, no date, no news for the caches."""
    before = await desk.make()
    desk.clock.moment += SECOND
    assert await desk.edit(before.short_code) == before
    assert await changes(desk) == []


async def test_refused_edit_changes_nothing(desk: Desk) -> None:
    """Not even the fields that were fine."""
    before = await desk.make(title="Old")
    for fields, error in (
        ({"title": "New", "original_url": "http://10.0.0.1/"}, TargetRefused),
        ({"title": "New", "redirect_status": 303}, ChoiceRefused),
        ({"title": "New", "expires_at": desk.clock.moment}, ChoiceRefused),
        ({"title": "New", "original_url": None}, ChoiceRefused),
        ({"description": "New", "title": "a\0b"}, ChoiceRefused),
    ):
        with pytest.raises(error):
            await desk.edit(before.short_code, **fields)
    assert await desk.get(before.short_code) == before


async def test_deleted_link_is_gone_for_every_verb(desk: Desk) -> None:
    """Its row stays, so that its code does."""
    link = await desk.make(custom_code="Gone")
    deleted = await desk.delete("Gone")
    assert (deleted.is_deleted, deleted.is_active, deleted.gone_reason) == (True, False, "deleted")
    for verb in (desk.get("Gone"), desk.edit("Gone", title="x"), desk.delete("Gone")):
        with pytest.raises(LinkGone):
            await verb
    assert await desk.count() == 1
    assert await changes(desk) == [("Gone", link.version), ("Gone", 2)]


async def test_unknown_link_is_unknown(desk: Desk) -> None:
    """And so is a link of another workspace, or of another domain."""
    code = (await desk.make()).short_code
    for verb in (
        desk.get("nothere"),
        desk.edit("nothere"),
        desk.delete("nothere"),
        desk.changer.delete(WORKSPACE + 1, DOMAIN, code),
        desk.changer.delete(WORKSPACE, DOMAIN + 1, code),
    ):
        with pytest.raises(LinkUnknown):
            await verb
    assert (await desk.get(code)).is_active


async def test_edits_at_once_are_made_one_after_another(desk: Desk) -> None:
    """None is lost and none refused: each has a version of its own, and the last one is what stays."""
    code = (await desk.make()).short_code
    edited = await asyncio.gather(*(desk.edit(code, title=f"title {number}") for number in range(24)))
    assert sorted(link.version for link in edited) == list(range(2, 26))
    last = max(edited, key=lambda link: link.version)
    assert await desk.get(code) == last
    assert sorted(await changes(desk)) == [(code, version) for version in range(2, 26)]


async def test_different_fields_at_once_are_all_kept(desk: Desk) -> None:
    """An edit never writes back what it did not name."""
    code = (await desk.make()).short_code
    await asyncio.gather(
        *(desk.edit(code, title="Title") for _ in range(5)),
        *(desk.edit(code, description="Text") for _ in range(5)),
        *(desk.edit(code, redirect_status=308) for _ in range(5)),
    )
    link = await desk.get(code)
    assert (link.title, link.description, link.redirect_status) == ("Title", "Text", 308)


async def test_delete_at_once_succeeds_once(desk: Desk) -> None:
    """The others are told that it is gone."""
    code = (await desk.make()).short_code
    outcomes = await asyncio.gather(*(desk.delete(code) for _ in range(10)), return_exceptions=True)
    assert sum(isinstance(outcome, Link) for outcome in outcomes) == 1
    assert sum(isinstance(outcome, LinkGone) for outcome in outcomes) == 9


async def test_disabled_link_is_enabled_again(desk: Desk) -> None:
    """With no trace of the reason."""
    code = (await desk.make()).short_code
    await desk.edit(code, is_active=False)
    link = await desk.edit(code, is_active=True)
    assert (link.is_active, link.gone_reason) == (True, None)


async def test_expired_link_needs_a_new_expiry(desk: Desk) -> None:
    """To be enabled is not enough; more time, or no end at all, is."""
    code = (await desk.make(expires_in_seconds=5)).short_code
    desk.clock.moment += 6 * SECOND
    with pytest.raises(ChoiceRefused):
        await desk.edit(code, is_active=True)
    assert (await desk.edit(code, expires_at=desk.clock.moment + HOUR)).is_live(desk.clock.moment)
    assert (await desk.edit(code, expires_at=None)).expires_at is None


async def test_retired_link_lives_again_with_a_new_expiry(desk: Desk) -> None:
    """Also when the reaper has been there."""
    link = await desk.make(expires_in_seconds=5, reuse=True)
    await desk.database.execute(
        "UPDATE short_link SET is_active = FALSE, gone_reason = 'expired' WHERE id = $1", link.id
    )
    desk.clock.moment += 6 * SECOND
    revived = await desk.edit(link.short_code, expires_at=desk.clock.moment + HOUR)
    assert (revived.is_active, revived.gone_reason) == (True, None)


async def test_link_taken_down_by_the_operator_stays_down(desk: Desk) -> None:
    """Its owner can neither enable it nor hide the reason."""
    link = await desk.make()
    await desk.database.execute(
        "UPDATE short_link SET is_active = FALSE, gone_reason = 'taken_down' WHERE id = $1", link.id
    )
    with pytest.raises(ChoiceRefused):
        await desk.edit(link.short_code, is_active=True)
    assert (await desk.edit(link.short_code, is_active=False)).gone_reason == "taken_down"
    assert (await desk.edit(link.short_code, expires_at=desk.clock.moment + HOUR)).is_active in (False, 0)


async def test_cache_of_this_process_hears_of_every_change(desk: Desk) -> None:
    """Before the verb returns: what was remembered is not used again."""
    cache = RedirectCache(Lookup(desk.database))
    changer = LinkChanger(desk.database, TargetRules(own_hosts=()), cache=cache)
    code = (await desk.make("https://example.com/0")).short_code
    for number in range(1, 20):
        assert isinstance(await cache.find(DOMAIN, code), Redirect)
        edit = LinkEdit(frozenset({"original_url"}), original_url=f"https://example.com/{number}")
        await changer.edit(WORKSPACE, DOMAIN, code, edit)
        entry = await cache.find(DOMAIN, code)
        assert isinstance(entry, Redirect)
        assert (b"location", b"https://example.com/%d" % number) in entry.headers()
    await changer.delete(WORKSPACE, DOMAIN, code)
    entry = await cache.find(DOMAIN, code)
    assert isinstance(entry, Tombstone)
    assert entry.reason == "deleted"
