"""Workspaces and their choices, and API keys."""

import asyncio
from pathlib import Path

import pytest

from laconic.clock import DAY, HOUR, now
from laconic.errors import ChoiceRefused, LinkGone, NameTaken, NotAuthenticated, RecordUnknown, ScopeMissing
from laconic.links.model import LinkDraft
from laconic.links.retire import delete_links_of
from laconic.settings import Settings
from laconic.upkeep.sweeps import Sweeps
from laconic.wiring import open_services
from laconic.workspaces.model import Actor, WorkspaceSettings, command_actor
from laconic.workspaces.tenants import WorkspaceEdit
from tests.workspaces.desk import OPERATOR, Desk


@pytest.mark.parametrize(
    "slug", ["", "a", "-ab", "ab-", "Ab", "a_b", "a.b", "ä" * 3, "x" * 64, "www", "admin"]
)
async def test_a_slug_is_a_dns_label_and_no_reserved_word(desk: Desk, slug: str) -> None:
    with pytest.raises(ChoiceRefused):
        await desk.tenants.create(OPERATOR, "Name", slug)


async def test_a_slug_is_never_given_twice(desk: Desk) -> None:
    """Not even after its workspace was deleted: an old address must not come to belong to somebody else."""
    made = await desk.tenants.create(OPERATOR, "Acme", "acme")
    await desk.tenants.delete(OPERATOR, made.id)
    with pytest.raises(NameTaken):
        await desk.tenants.create(OPERATOR, "Acme", "acme")
    with pytest.raises(RecordUnknown):
        await desk.tenants.get(made.id)
    with pytest.raises(ChoiceRefused):
        await desk.tenants.delete(OPERATOR, 1)


async def test_choices_are_kept_and_taken_back(desk: Desk) -> None:
    made = await desk.tenants.create(OPERATOR, "Acme", "acme", WorkspaceSettings(deterministic=True))
    edit = WorkspaceEdit(settings={"redirect_status": 301, "privacy": "none", "deterministic": False})
    after = await desk.tenants.change(OPERATOR, made.id, edit)
    assert after.settings == WorkspaceSettings(redirect_status=301, privacy="none")
    after = await desk.tenants.change(OPERATOR, made.id, WorkspaceEdit("New name", {"privacy": None}))
    assert (after.name, after.settings) == ("New name", WorkspaceSettings(redirect_status=301))
    assert await desk.tenants.get(made.id) == after
    assert [event.action for event in await desk.events(made.id)] == [
        *("workspace.create", "workspace.change", "workspace.change")
    ]


async def test_choices_are_in_effect_where_links_are_made(migrated_url: str, tmp_path: Path) -> None:
    """For links that do not say otherwise, one by one and in bulk."""
    settings = Settings(data=str(tmp_path), database_url=migrated_url, base_url="http://localhost:8000")
    async with open_services(settings) as services:
        chosen = WorkspaceSettings(deterministic=True, redirect_status=307, expires_in_hours=24)
        acme = await services.tenants.create(OPERATOR, "Acme", "acme", chosen)
        first = await services.creator.create(acme.id, None, LinkDraft("https://example.com/"))
        second = await services.creator.create(acme.id, None, LinkDraft("https://example.com/"))
        assert second.existing
        assert first.link.redirect_status == 307
        assert first.link.expires_at == first.link.created_at + 24 * HOUR
        said = LinkDraft("https://example.com/", redirect_status=301, reuse=False, expires_in_hours=1)
        own = await services.creator.create(acme.id, None, said)
        assert (own.existing, own.link.redirect_status) == (False, 301)
        assert own.link.expires_at == own.link.created_at + HOUR
        (many,) = await services.creator.create_many(acme.id, None, [LinkDraft("https://example.com/")])
        assert many.existing  # type: ignore[union-attr]
        elsewhere = await services.creator.create(1, None, LinkDraft("https://example.com/"))
        assert (elsewhere.link.redirect_status, elsewhere.link.expires_at) == (302, None)


async def test_links_of_a_deleted_workspace_are_gone(migrated_url: str, tmp_path: Path) -> None:
    """Within the sweep at the latest; links of others stay."""
    settings = Settings(data=str(tmp_path), database_url=migrated_url, base_url="http://localhost:8000")
    async with open_services(settings) as services:
        acme = await services.tenants.create(OPERATOR, "Acme", "acme")
        theirs = (await services.creator.create(acme.id, None, LinkDraft("https://example.com/"))).link
        mine = (await services.creator.create(1, None, LinkDraft("https://example.com/"))).link
        await services.tenants.delete(OPERATOR, acme.id)
        await Sweeps(services.database).run()
        with pytest.raises(LinkGone):
            await services.browser.get(acme.id, 1, theirs.short_code)
        assert (await services.browser.get(1, 1, mine.short_code)).is_active
        assert await delete_links_of(services.database, acme.id) == 0


async def test_a_key_is_rotated_with_an_overlap(desk: Desk) -> None:
    """Both work for a while; then the new one alone. A second time there is nothing to rotate."""
    old_secret, old = await desk.keys.create(1, "website", frozenset({"links:read"}))
    new_secret, new = await desk.keys.rotate(OPERATOR, old.id, 3600)
    assert (new.name, new.scopes) == (old.name, old.scopes)
    for secret in (old_secret, new_secret):
        await desk.keys.authenticate(secret)
    kept = await desk.keys.get(OPERATOR, old.id)
    assert kept.replaced_by == new.id
    assert kept.expires_at is not None
    assert kept.expires_at <= now() + HOUR
    with pytest.raises(ChoiceRefused):
        await desk.keys.rotate(OPERATOR, old.id, 3600)
    last_secret, _ = await desk.keys.rotate(OPERATOR, new.id, 0)
    with pytest.raises(NotAuthenticated):
        await desk.keys.authenticate(new_secret)
    await desk.keys.authenticate(last_secret)


async def test_last_use_is_noted_now_and_then(desk: Desk) -> None:
    """Once for many requests of the same minute."""
    secret, key = await desk.keys.create(1, "website")
    for _ in range(50):
        await desk.keys.authenticate(secret)
    await desk.keys.close()
    noted = (await desk.keys.get(OPERATOR, key.id)).last_used_at
    assert noted is not None
    assert abs(noted - now()) < HOUR


async def test_first_uses_of_many_keys_are_noted_together(desk: Desk) -> None:
    """Each key its own date, also those that were used while others were written down."""
    made = [await desk.keys.create(1, f"site {number}") for number in range(20)]
    await asyncio.gather(*(desk.keys.authenticate(secret) for secret, _ in made))
    await desk.keys.close()
    assert all(key.last_used_at is not None for key in await desk.keys.list(OPERATOR))


async def test_members_see_their_own_keys_only(desk: Desk) -> None:
    """And give none more than they may do themselves."""
    ann, bob = await desk.user("ann@example.com", "member"), await desk.user("bob@example.com", "member")
    actor = Actor(1, ann.scopes, user_id=ann.id, kind="user")
    _, hers = await desk.keys.create(1, "hers", created_by=ann.id, actor=actor)
    _, his = await desk.keys.create(1, "his", created_by=bob.id)
    assert [key.id for key in await desk.keys.list(actor)] == [hers.id]
    for verb in (desk.keys.get, desk.keys.revoke):
        with pytest.raises(RecordUnknown):
            await verb(actor, his.id)
    with pytest.raises(RecordUnknown):
        await desk.keys.rotate(actor, his.id, 0)
    with pytest.raises(ScopeMissing):
        await desk.keys.create(1, "more", frozenset({"admin"}), actor=actor)
    with pytest.raises(ChoiceRefused):
        await desk.keys.create(1, "none", frozenset(), actor=actor)
    with pytest.raises(ChoiceRefused):
        await desk.keys.create(1, "over", expires_at=now() - DAY)


async def test_a_deleted_workspace_lets_nobody_in(desk: Desk) -> None:
    acme = await desk.tenants.create(OPERATOR, "Acme", "acme")
    secret, _ = await desk.keys.create(acme.id, "key", actor=command_actor(acme.id))
    await desk.tenants.delete(OPERATOR, acme.id)
    with pytest.raises(NotAuthenticated):
        await desk.keys.authenticate(secret)
