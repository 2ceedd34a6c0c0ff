"""Reading links by page."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, get_args

import pytest

from laconic.clock import SECOND
from laconic.errors import ChoiceRefused
from laconic.links.browse import LinkBrowser, Page, Query, State
from laconic.links.model import LinkDraft
from laconic.links.orders import Sort
from laconic.links.search.store import SearchStore
from laconic.storage.engines import open_database
from laconic.storage.sqlite import SqliteDatabase
from tests.links.desk import WORKSPACE, Desk


async def page(desk: Desk, workspace_id: int = WORKSPACE, **query: Any) -> Page:
    return await desk.browser.page(workspace_id, Query(**query))


async def codes(desk: Desk, **query: Any) -> list[str]:
    return [link.short_code for link in (await page(desk, **query)).links]


async def walk(desk: Desk, **query: Any) -> list[str]:
    """The codes of all pages."""
    found: list[str] = []
    while True:
        some = await page(desk, **query)
        found += [link.short_code for link in some.links]
        assert len(found) < 1_000, "the walk does not end"
        if some.next_cursor is None:
            return found
        query["cursor"] = some.next_cursor


@pytest.mark.parametrize("limit", [1, 3, 7])
@pytest.mark.parametrize(
    "sort", ["-created_at", "created_at", "-updated_at", "updated_at", "-clicks", "clicks"]
)
async def test_pages_add_up_to_the_whole(desk: Desk, sort: str, limit: int) -> None:
    """Each link once, also those made or changed in the same microsecond."""
    made = []
    for number in range(7):
        made.append((await desk.make(f"https://example.com/{number}")).short_code)
        desk.clock.moment += SECOND * (number % 2)
    found = await walk(desk, sort=sort, limit=limit)
    assert sorted(found) == sorted(made)
    if sort == "created_at":
        assert found == made
    if sort == "-created_at":
        assert found == made[::-1]


async def test_exact_page_has_no_next(desk: Desk) -> None:
    """A cursor is given only when something lies behind it."""
    for _ in range(4):
        await desk.make()
    assert (await page(desk, limit=4)).next_cursor is None
    assert (await page(desk, limit=3)).next_cursor is not None
    assert (await page(desk, workspace_id=WORKSPACE + 1)).links == []


async def test_sorts_by_clicks(desk: Desk) -> None:
    """Links without clicks count as zero; equals by age."""
    made = [(await desk.make()).short_code for _ in range(3)]
    assert await codes(desk, sort="-clicks") == made[::-1]
    assert await codes(desk, sort="clicks") == made


async def test_sorts_by_change(desk: Desk) -> None:
    """The one edited last comes first."""
    made = [(await desk.make()).short_code for _ in range(3)]
    desk.clock.moment += SECOND
    await desk.edit(made[1], title="x")
    assert await codes(desk, sort="-updated_at", limit=1) == [made[1]]


async def put_totals(database_url: str, totals: Mapping[int, int]) -> None:
    """As ingest would: by link, how often it was followed."""
    rows = [(link_id, WORKSPACE, clicks) for link_id, clicks in totals.items()]
    database = await open_database(database_url, writes="clicks")
    await database.execute_many(
        "INSERT INTO link_total (link_id, workspace_id, clicks) VALUES ($1, $2, $3)", rows
    )
    await database.close()


async def test_every_order_is_paged_whole(desk: Desk, migrated_url: str) -> None:
    """Followed or not, changed or not, with equals: page by page comes what one page shows, each link once."""
    made = [await desk.make(f"https://example.com/{number}") for number in range(11)]
    totals = {1: 5, 2: 1, 4: 1, 5: 9, 7: 1, 8: 0}
    await put_totals(migrated_url, {made[at].id: clicks for at, clicks in totals.items()})
    for at in (3, 0, 7):
        desk.clock.moment += SECOND
        await desk.edit(made[at].short_code, title="Changed")
    for sort in get_args(Sort):
        whole = (await page(desk, sort=sort)).links
        key = sort.removeprefix("-")
        values = [link.click_count if key == "clicks" else getattr(link, key) for link in whole]
        assert values == sorted(values, reverse=sort.startswith("-")), sort
        in_order = [link.short_code for link in whole]
        assert len(set(in_order)) == len(made)
        for narrowed in ({}, {"search": "example.com"}, {"created_from": 0}, {"state": "active"}):
            for limit in (1, 2, 5):
                assert await walk(desk, sort=sort, limit=limit, **narrowed) == in_order, (sort, narrowed)


async def test_clicks_order_what_a_filter_leaves(desk: Desk, migrated_url: str) -> None:
    """Few or many, followed or not: the same links as in any other order."""
    made = [await desk.make() for _ in range(6)]
    await put_totals(migrated_url, {made[1].id: 3, made[2].id: 7, made[4].id: 1})
    for at in (1, 2, 3, 5):
        await desk.edit(made[at].short_code, is_active=False)
    wanted = [made[at].short_code for at in (2, 1, 5, 3)]
    for browser in (desk.browser, LinkBrowser(desk.store, SearchStore(desk.database, most_found=2))):
        orders: tuple[tuple[Sort, list[str]], ...] = (("-clicks", wanted), ("clicks", wanted[::-1]))
        for sort, expected in orders:
            found = await browser.page(WORKSPACE, Query(state="disabled", sort=sort))
            assert [link.short_code for link in found.links] == expected
    assert await codes(desk, state="expired", sort="-clicks") == []


async def test_deleted_links_are_not_listed(desk: Desk) -> None:
    """In no state."""
    link = await desk.make()
    await desk.delete(link.short_code)
    for state in ("all", "active", "expired", "disabled"):
        assert await codes(desk, state=state) == []


async def test_states_part_the_list(desk: Desk) -> None:
    """Active, disabled, expired before the reaper and after it: each in its own."""
    live = (await desk.make()).short_code
    later = (await desk.make(expires_in_hours=1)).short_code
    disabled = (await desk.make()).short_code
    await desk.edit(disabled, is_active=False)
    desk.clock.moment -= 10 * SECOND
    expired = (await desk.make(expires_in_seconds=5)).short_code
    retired = await desk.make(expires_in_seconds=5)
    await desk.database.execute(
        "UPDATE short_link SET is_active = FALSE, gone_reason = 'expired' WHERE id = $1", retired.id
    )
    assert set(await codes(desk, state="active")) == {live, later}
    assert set(await codes(desk, state="disabled")) == {disabled}
    assert set(await codes(desk, state="expired")) == {expired, retired.short_code}
    assert len(await codes(desk)) == 5
    # However many there are, in every order, with a search beside: the same.
    walking = LinkBrowser(desk.store, SearchStore(desk.database, most_found=0))
    for sort in get_args(Sort):
        for search in (None, "example.com"):
            off = await walking.page(WORKSPACE, Query(state="disabled", sort=sort, search=search))
            gone = await walking.page(WORKSPACE, Query(state="expired", sort=sort, search=search))
            assert [link.short_code for link in off.links] == [disabled]
            assert {link.short_code for link in gone.links} == {expired, retired.short_code}


@pytest.mark.parametrize("state", ["expired", "disabled"])
async def test_a_rare_state_is_not_looked_for_in_the_whole_list(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, state: State
) -> None:
    """Statistics from a sample find every index of a workspace equally good: SQLite is told which one to take."""
    if not isinstance(desk.database, SqliteDatabase):
        pytest.skip("the other engine's planner knows the sizes of its indexes")
    asked: list[tuple[str, Any]] = []
    fetch_all = desk.database.fetch_all

    async def note(sql: str, *arguments: Any) -> Any:
        asked.append((sql, arguments))
        return await fetch_all(sql, *arguments)

    monkeypatch.setattr(desk.database, "fetch_all", note)
    for most_found in (0, 10):
        browser = LinkBrowser(desk.store, SearchStore(desk.database, most_found=most_found))
        await browser.page(WORKSPACE, Query(state=state))
    assert asked
    for sql, arguments in asked:
        plan = "\n".join(str(row) for row in await fetch_all(f"EXPLAIN QUERY PLAN {sql}", *arguments))
        assert f"short_link_{'dated' if state == 'expired' else 'off'}_idx" in plan, plan


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("spring", True),
        ("SPRING", True),
        ("spr", True),
        ("sale spring", True),
        ("größe", True),
        ("日本", True),
        ("مرحبا", True),
        ("shop.example", True),
        ("Shop.Example/Path", True),
        ("path?x=50%_y", True),
        ("ring", False),
        ("50%y", False),
        ("x_50", False),
        ("spring winter", False),
        ("& | ! ( ) : * ' \" \\ <->", False),
        ("NOT spring", False),
        ("spring OR winter", False),
        ("", True),
        ("   ", True),
    ],
)
async def test_search_means_what_it_says(desk: Desk, search: str, found: bool) -> None:
    """The same on every engine: beginnings of words, parts of the URL, no operators."""
    link = await desk.make(
        "https://shop.example/path?x=50%_y", title="Spring sale", description="Volle Größe, 日本, مرحبا"
    )
    await desk.make("https://other.example/", title="Autumn")
    # The newest links are looked through; in any other order the indexes are asked.
    for sort in ("-created_at", "created_at"):
        assert (link.short_code in await codes(desk, search=search, sort=sort)) is found, sort


async def test_search_follows_edits(desk: Desk) -> None:
    """The old words no longer find it, the new ones do; no title finds nothing."""
    code = (await desk.make(title="Before")).short_code
    await desk.edit(code, title="After")
    assert await codes(desk, search="before") == []
    assert await codes(desk, search="after") == [code]
    await desk.edit(code, title=None)
    assert await codes(desk, search="after") == []


async def test_search_with_nul_is_refused(desk: Desk) -> None:
    """As in every text."""
    with pytest.raises(ChoiceRefused):
        await page(desk, search="a\0b")


async def test_times_are_a_half_open_range(desk: Desk) -> None:
    """From this moment on, up to but without that one."""
    start = desk.clock.moment
    made = []
    for _ in range(4):
        made.append((await desk.make()).short_code)
        desk.clock.moment += SECOND
    found = await codes(desk, created_from=start + SECOND, created_to=start + 3 * SECOND, sort="created_at")
    assert found == made[1:3]


async def test_cursor_of_another_order_is_refused(desk: Desk) -> None:
    """It would skip or repeat links without a word."""
    await desk.creator.create_many(WORKSPACE, None, [LinkDraft("https://example.com/")] * 3)
    cursor = (await page(desk, limit=1)).next_cursor
    with pytest.raises(ChoiceRefused):
        await page(desk, limit=1, cursor=cursor, sort="clicks")


async def test_ids_grow_with_time(desk: Desk) -> None:
    """So that equals in a list stand in the order in which they were made."""
    links = [await desk.make() for _ in range(20)]
    assert all(first.id < second.id for first, second in pairwise(links))


@pytest.mark.parametrize("search", ["den.example", "GARDEN.example/ro", "en.e", "ses", "garden"])
async def test_search_finds_a_url_before_and_after_it_is_indexed(desk: Desk, search: str) -> None:
    """An index that follows behind the writers changes nothing in what is found."""
    link = await desk.make("https://garden.example/roses")
    await desk.make("https://other.example/")
    assert await codes(desk, search=search, sort="created_at") == [link.short_code]
    # What upkeep does about once a second, for links that are some seconds old.
    await desk.database.execute("UPDATE short_link SET id = id - 1000000000000000 WHERE id = $1", link.id)
    await desk.database.tidy()
    assert await codes(desk, search=search, sort="created_at") == [link.short_code]
    await desk.edit(link.short_code, original_url="https://meadow.example/daisies")
    assert await codes(desk, search=search, sort="created_at") == []
    assert await codes(desk, search="meadow.ex", sort="created_at") == [link.short_code]


async def test_search_meets_every_one_of_many(desk: Desk) -> None:
    """Past the number of candidates that are named, the list itself is walked: the same answer."""
    made = [(await desk.make(f"https://garden.example/{number}")).short_code for number in range(3)]
    await desk.make("https://other.example/")
    walking = LinkBrowser(desk.store, SearchStore(desk.database, most_found=2))
    found = await walking.page(WORKSPACE, Query(search="garden.example", sort="created_at"))
    assert [link.short_code for link in found.links] == made
