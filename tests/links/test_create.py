"""Making links: codes that meet taken ones, reuse, many at once."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from laconic.clock import HOUR, SECOND
from laconic.codes.maker import CodeMaker
from laconic.codes.store import CodeStore
from laconic.errors import (
    ChoiceRefused,
    CodeRefused,
    CodeTaken,
    LaconicError,
    TargetRefused,
    TargetTooLong,
    Unavailable,
)
from laconic.links.browse import Query
from laconic.links.model import Created, LinkDraft
from laconic.storage.database import Database
from laconic.storage.engines import open_database
from laconic.workspaces.audit.store import AuditQuery, AuditStore
from laconic.workspaces.model import Actor
from tests.links.desk import DOMAIN, WORKSPACE, Desk

URL = "https://example.com/page"


async def coming_codes(database: Database, count: int) -> list[str]:
    """The codes that the next allocator will hand out first."""
    store = CodeStore(database)
    start = (await store.lease("default", 7, 0)).counters.start
    maker = CodeMaker(await store.permutation_secret(), 7)
    return maker.make(range(start, start + 2 * count))[:count]


async def test_link_is_there_when_create_returns(desk: Desk) -> None:
    """With all that was asked for, as a new look at the database sees it."""
    link = await desk.make(
        URL, title="Title", description="Text", metadata={"a": [1]}, redirect_status=301, expires_in_hours=2
    )
    found = await desk.get(link.short_code)
    assert replace(found, metadata=link.metadata) == link
    assert (found.original_url, found.target_url, found.version) == (URL, None, 1)
    assert (found.title, found.description, json.loads(found.metadata)) == ("Title", "Text", {"a": [1]})
    assert found.expires_at == desk.clock.moment + 2 * HOUR
    assert (found.created_at, found.updated_at) == (desk.clock.moment, desk.clock.moment)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"url": "nonsense"}, TargetRefused),
        ({"url": "https://a.com/" + "x" * 2048}, TargetTooLong),
        ({"custom_code": "no"}, CodeRefused),
        ({"custom_code": "admin"}, CodeRefused),
        ({"title": "x" * 501}, ChoiceRefused),
        ({"redirect_status": 200}, ChoiceRefused),
        ({"expires_at": 1}, ChoiceRefused),
        ({"expires_in_hours": 1, "expires_in_seconds": 1}, ChoiceRefused),
    ],
)
async def test_refused_draft_leaves_nothing_behind(
    desk: Desk, fields: dict[str, Any], error: type[Exception]
) -> None:
    """No row, no matter which rule refused it."""
    with pytest.raises(error):
        await desk.create(**fields)
    assert await desk.count() == 0


async def test_p2_generated_codes_step_aside_for_custom_ones(desk: Desk) -> None:
    """A custom code that was asked for first stands in the way of a generated one; nobody but a counter notices."""
    coming = await coming_codes(desk.database, 30)
    for code in coming[:20:2]:
        await desk.make("https://example.com/custom", custom_code=code)
    links = [await desk.make(f"https://example.com/{number}") for number in range(15)]
    assert not {link.short_code for link in links} & set(coming[:20:2])
    assert len({link.short_code for link in links}) == 15
    assert desk.creator.conflicts >= 5
    for code in coming[:20:2]:
        assert (await desk.get(code)).original_url == "https://example.com/custom"


async def test_p2_batch_steps_aside_too(desk: Desk) -> None:
    """One conflict spoils no other: the rest of the batch keeps its codes and its order."""
    coming = await coming_codes(desk.database, 60)
    for code in coming[5:45:4]:
        await desk.make("https://example.com/custom", custom_code=code)
    drafts = [LinkDraft(f"https://example.com/{number}") for number in range(40)]
    outcomes = await desk.creator.create_many(WORKSPACE, None, drafts)
    links = [outcome.link for outcome in outcomes if isinstance(outcome, Created)]
    assert [link.original_url for link in links] == [draft.original_url for draft in drafts]
    assert len({link.short_code for link in links}) == 40
    for link in links:
        assert (await desk.get(link.short_code)).original_url == link.original_url


@pytest.mark.parametrize("reuse", [True, False])
async def test_p2_steps_aside_inside_a_transaction(desk: Desk, reuse: bool) -> None:
    """Reuse and Idempotency-Key take spare codes along, because inside a transaction none can be leased."""
    coming = await coming_codes(desk.database, 3)
    for code in coming:
        await desk.make("https://example.com/custom", custom_code=code)
    draft = LinkDraft(URL, reuse=reuse)
    ready = await desk.creator.make_ready(WORKSPACE, None, draft)
    created = await desk.database.transaction(
        lambda statements: desk.creator.create_in(statements, ready, WORKSPACE)
    )
    assert created.link.short_code not in coming
    assert (await desk.get(created.link.short_code)).original_url == URL


async def test_hundred_conflicts_in_a_row_are_survived_or_told(desk: Desk) -> None:
    """So many taken codes are no accident: the caller is told, nothing hangs, and the next create goes on."""
    coming = await coming_codes(desk.database, 60)
    for code in coming[:50]:
        await desk.make("https://example.com/custom", custom_code=code)
    outcomes = [await attempt(desk) for _ in range(4)]
    assert isinstance(outcomes[-1], Created)
    assert all(isinstance(outcome, Created | Unavailable) for outcome in outcomes)


async def attempt(desk: Desk, **fields: Any) -> Created | LaconicError:
    try:
        return await desk.create(**fields)
    except LaconicError as error:
        return error


async def test_custom_code_goes_to_one_of_many(desk: Desk) -> None:
    """Twenty at once: one link, nineteen refusals."""
    outcomes = await asyncio.gather(
        *(attempt(desk, url=f"https://example.com/{number}", custom_code="Wanted") for number in range(20))
    )
    winners = [outcome for outcome in outcomes if isinstance(outcome, Created)]
    assert len(winners) == 1
    assert sum(isinstance(outcome, CodeTaken) for outcome in outcomes) == 19
    assert (await desk.get("Wanted")).original_url == winners[0].link.original_url


async def test_p2_custom_code_of_a_deleted_link_stays_taken(desk: Desk) -> None:
    """Nobody gets a code that stood for something else before."""
    await desk.make(custom_code="Mine")
    await desk.delete("Mine")
    with pytest.raises(CodeTaken):
        await desk.create(custom_code="Mine")


@pytest.mark.parametrize(
    "again",
    [
        "https://example.com/a/?b=2&a=1",
        "HTTPS://EXAMPLE.com:443/a?a=1&b=2",
        "https://example.com/a?utm_source=x&a=1&fbclid=7&b=2",
        "  https://example.com/a?a=1&b=2  ",
    ],
)
async def test_reuse_finds_the_same_normalised_url(desk: Desk, again: str) -> None:
    """However it was written; the first one decides where visitors go."""
    first = await desk.make("https://example.com/a?a=1&b=2", reuse=True)
    second = await desk.create(again, reuse=True)
    assert second.existing
    assert second.link == first
    assert await desk.count() == 1


@pytest.mark.parametrize(
    "other",
    [
        "http://example.com/a?a=1",
        "https://example.com/a?a=2",
        "https://example.com/A?a=1",
        "https://example.com/a?a=1#top",
        "https://www.example.com/a?a=1",
    ],
)
async def test_reuse_keeps_different_urls_apart(desk: Desk, other: str) -> None:
    """http and https, fragments, the letter case of a path."""
    await desk.make("https://example.com/a?a=1", reuse=True)
    assert not (await desk.create(other, reuse=True)).existing


async def test_links_not_made_for_reuse_are_not_reused(desk: Desk) -> None:
    """Their owners did not offer them; custom codes neither."""
    await desk.make(URL)
    await desk.make(URL, custom_code="Mine", reuse=True)
    assert not (await desk.create(URL, reuse=True)).existing
    assert (await desk.create(URL, reuse=True)).existing


async def test_expired_link_is_not_reused(desk: Desk) -> None:
    """From the moment of its expiry, whether or not the reaper has come."""
    first = await desk.make(URL, reuse=True, expires_in_seconds=10)
    desk.clock.moment += 10 * SECOND - 1
    assert (await desk.create(URL, reuse=True)).link == first
    desk.clock.moment += 1
    second = await desk.make(URL, reuse=True)
    assert second.short_code != first.short_code
    assert (await desk.create(URL, reuse=True)).link == second


@pytest.mark.parametrize("fate", ["disabled", "deleted", "edited"])
async def test_link_that_is_not_what_it_was_is_not_reused(desk: Desk, fate: str) -> None:
    """Only live links that still lead there are."""
    first = await desk.make(URL, reuse=True)
    if fate == "disabled":
        await desk.edit(first.short_code, is_active=False)
    elif fate == "deleted":
        await desk.delete(first.short_code)
    else:
        await desk.edit(first.short_code, original_url="https://example.com/elsewhere")
    second = await desk.make(URL, reuse=True)
    assert second.short_code != first.short_code
    if fate == "disabled":
        # Enabled again it is a link as before, and the newer one stands for the URL.
        await desk.edit(first.short_code, is_active=True)
        assert (await desk.create(URL, reuse=True)).link.short_code == second.short_code


async def test_reuse_by_twenty_at_once_makes_one_link(desk: Desk) -> None:
    """One create, nineteen finds, one row."""
    created = await asyncio.gather(*(desk.create(URL, reuse=True) for _ in range(20)))
    assert len({one.link.short_code for one in created}) == 1
    assert sorted(one.existing for one in created) == [False] + [True] * 19
    assert await desk.count() == 1


async def test_p2_two_workers_at_once_make_no_code_twice(desk: Desk, migrated_url: str) -> None:
    """Two processes' worth of allocators, ids and connections on one database."""
    other_database = await open_database(migrated_url)
    other = await Desk.open(other_database, desk.clock)
    try:
        links = await asyncio.gather(*(one.make() for _ in range(150) for one in (desk, other)))
        assert len({link.short_code for link in links}) == len({link.id for link in links}) == 300
        assert await desk.count() == 300
    finally:
        await other.close()
        await other_database.close()


async def test_tenants_at_once_get_their_own_links_and_events(desk: Desk) -> None:
    """One INSERT may hold the rows of several: a code that is taken is one caller's affair, each event its tenant's."""
    await desk.make(custom_code="Taken")
    tenants = (WORKSPACE, 20, 21, 22)
    await desk.database.execute_many(
        "INSERT INTO workspace (id, name, slug, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)",
        [(tenant, "Tenant", f"tenant-{tenant}", desk.clock.moment) for tenant in tenants[1:]],
    )
    drafts = [(tenant, LinkDraft(f"{URL}/{tenant}", custom_code=f"Made{tenant}")) for tenant in tenants]
    drafts.insert(2, (20, LinkDraft(URL, custom_code="Taken")))
    drafts += [(tenant, LinkDraft(f"{URL}/{tenant}")) for tenant in tenants]
    created = await asyncio.gather(
        *(
            desk.creator.create(
                tenant, None, draft, Actor(tenant, frozenset(), api_key_id=tenant, kind="api_key")
            )
            for tenant, draft in drafts
        ),
        return_exceptions=True,
    )
    assert isinstance(created.pop(2), CodeTaken)
    trail = AuditStore(desk.database)
    for place, tenant in enumerate(tenants):
        own = (created[place], created[place + len(tenants)])
        codes = {one.link.short_code for one in own if isinstance(one, Created)}
        listed = (await desk.browser.page(tenant, Query())).links
        assert {link.short_code for link in listed} - {"Taken"} == codes
        assert {link.original_url for link in listed if link.short_code in codes} == {f"{URL}/{tenant}"}
        events = await trail.page(tenant, AuditQuery(), 10)
        assert {event.subject for event in events} == codes
        assert {event.actor_id for event in events} == {tenant}


async def test_create_many_gives_each_its_outcome(desk: Desk) -> None:
    """In order, refusals in their places."""
    drafts = [
        LinkDraft(URL),
        LinkDraft("nonsense"),
        LinkDraft(URL, custom_code="Many"),
        LinkDraft(URL, custom_code="Many"),
        LinkDraft(URL, reuse=True),
        LinkDraft(URL, reuse=True),
        LinkDraft(URL, title="a\0b"),
        LinkDraft(URL),
    ]
    outcomes = await desk.creator.create_many(WORKSPACE, None, drafts)
    assert [type(outcome).__name__ for outcome in outcomes] == [
        *(
            "Created",
            "TargetRefused",
            "Created",
            "CodeTaken",
            "Created",
            "Created",
            "ChoiceRefused",
            "Created",
        )
    ]
    assert isinstance(outcomes[5], Created)
    assert outcomes[5].existing
    assert await desk.count() == 4


async def test_inserts_side_by_side_give_each_its_outcome(desk: Desk, database: Database) -> None:
    """Two callers want the same codes in opposite orders: each code goes to one of them, and nothing is lost or doubled."""
    importing = await Desk.open(database, desk.clock, most_per_insert=8, inserts_at_once=2)
    codes = [f"Side{number}" for number in range(20)]
    drafts = [LinkDraft(URL, custom_code=code) for code in codes] + [LinkDraft(URL)] * 20
    there, back = await asyncio.gather(
        importing.creator.create_many(WORKSPACE, None, drafts),
        importing.creator.create_many(WORKSPACE, None, drafts[::-1]),
    )
    await importing.close()
    for one, other in zip(there[:20], back[::-1], strict=False):
        assert {type(one), type(other)} == {Created, CodeTaken}
    assert {type(outcome) for outcome in (*there[20:], *back[:20])} == {Created}
    assert await desk.count() == 60


async def test_whoever_comes_just_as_an_insert_ends_is_served(desk: Desk) -> None:
    """However many turns of the loop lie between the answer before and this caller."""
    async with asyncio.timeout(60):
        for turns in range(20):
            await desk.make()
            for _ in range(turns):
                await asyncio.sleep(0)
            await desk.make()
    assert await desk.count() == 40


async def test_cancelled_caller_does_not_spoil_the_others(desk: Desk) -> None:
    """Those who wait for the same commit get their links."""
    tasks = [asyncio.create_task(desk.make(f"https://example.com/{number}")) for number in range(20)]
    await asyncio.sleep(0)
    for task in tasks[::4]:
        task.cancel()
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    links = [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
    assert len(links) == 15
    for link in links:
        assert (await desk.store.find(WORKSPACE, DOMAIN, link.short_code)) == link


async def test_codes_that_have_run_out_are_told(desk: Desk) -> None:
    """Unavailable, never a code that was given before; a custom one is still to be had."""
    await CodeStore(desk.database).lease("default", 7, 62**7)
    for _ in range(2):
        with pytest.raises(Unavailable, match="LACONIC_CODE_LENGTH"):
            await desk.create()
    drafts = [LinkDraft(URL), LinkDraft(URL, custom_code="Other"), LinkDraft(URL, reuse=True)]
    outcomes = await desk.creator.create_many(WORKSPACE, None, drafts)
    assert [type(outcome).__name__ for outcome in outcomes] == ["Unavailable", "Created", "Unavailable"]
    assert (await desk.make(custom_code="Still")).short_code == "Still"
