"""The links of the dashboard, as a browser without scripts uses them."""

import csv
import io
import re
from typing import Any

import httpx
import pytest

from laconic.clock import HOUR, now
from laconic.workspaces.model import DEFAULT_DOMAIN_ID, DEFAULT_WORKSPACE_ID, command_actor
from tests.web.api.opened import Api
from tests.web.people import Browser, browser, make_user, make_workspace
from tests.web.site import form_token

LINKS = "/dashboard/links"
NEW = "/dashboard/new-link"


async def make(one: Browser, **fields: Any) -> str:
    answer = await one.change("POST", "/api/v1/urls", json={"original_url": "https://example.com/", **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["short_code"])


async def send(one: Browser, path: str, _form: str = LINKS, **fields: Any) -> httpx.Response:
    """Sends a form with the token of the page that it stands on."""
    token = form_token((await one.client.get(_form)).text)
    return await one.client.post(path, data={"token": token, **fields})


def place(code: str) -> str:
    return f"{DEFAULT_DOMAIN_ID}.{code}"


def rows(page: str) -> list[str]:
    return re.findall(r'type="checkbox" name="link" value="\d+\.([^"]+)"', page)


async def status(one: Browser, code: str) -> int:
    return (await one.client.get(f"/{code}")).status_code


async def undo(one: Browser, page: str) -> str:
    """Presses the button beside what was done; the page that comes then."""
    form = page.partition('class="flash')[2].partition("</form>")[0]
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form):
        fields.setdefault(name, []).append(value)
    assert "link" in fields, page
    assert (await one.client.post(LINKS, data=fields)).status_code == 303
    return (await one.client.get(LINKS)).text


async def expiry(one: Browser, code: str) -> str | None:
    shown: str | None = (await one.client.get(f"/api/v1/urls/{code}")).json()["expires_at"]
    return shown


async def test_list_searches_filters_and_sorts(ann: Browser) -> None:
    """By the page's address alone, so that a view can be kept and passed on."""
    plain = await make(ann, original_url="https://garden.example/roses", title="Roses")
    other = await make(ann, original_url="https://shop.example/tulips")
    await ann.change("PATCH", f"/api/v1/urls/{other}", json={"is_active": False})
    for query, found in (
        ("", [other, plain]),
        ("?sort=created_at", [plain, other]),
        ("?search=rose", [plain]),
        ("?search=shop.example", [other]),
        (f"?search={plain}", [plain]),
        ("?state=active", [plain]),
        ("?state=disabled", [other]),
        ("?from=2020-01-01", [other, plain]),
        ("?to=2020-01-01", []),
        ("?state=nonsense&sort=nonsense&from=nonsense", [other, plain]),
    ):
        assert rows((await ann.client.get(LINKS + query)).text) == found, query
    part = await ann.client.get(f"{LINKS}?search=rose&part=rows")
    assert rows(part.text) == [plain]
    assert "<html" not in part.text


async def test_a_list_that_is_empty_says_what_to_do(ann: Browser) -> None:
    """Nothing yet: how to begin. Nothing found: how to look for it."""
    assert "No links yet" in (await ann.client.get(LINKS)).text
    assert "No link is like that" in (await ann.client.get(f"{LINKS}?search=nothing")).text


async def test_pages_follow_each_other(ann: Browser) -> None:
    """Every link once, fifty on a page."""
    lines = "\n".join(f'{{"original_url": "https://example.com/{number}"}}' for number in range(60))
    headers = {**(await ann.csrf()), "content-type": "application/x-ndjson"}
    await ann.client.post("/api/v1/urls/bulk", content=lines, headers=headers)
    first = (await ann.client.get(LINKS)).text
    following = re.search(r'href="([^"]+)" rel="next"', first)
    assert following
    second = (await ann.client.get(following[1].replace("&amp;", "&"))).text
    assert [len(rows(first)), len(rows(second))] == [50, 10]
    assert not set(rows(first)) & set(rows(second))


async def test_delete_many_and_undo(ann: Browser) -> None:
    """All gone at once; undone, each is as it was: what was off is off."""
    on, off = await make(ann), await make(ann)
    await ann.change("PATCH", f"/api/v1/urls/{off}", json={"is_active": False})
    done = await send(ann, LINKS, action="delete", link=[place(on), place(off)])
    assert done.status_code == 303
    assert [await status(ann, on), await status(ann, off)] == [410, 410]
    page = (await ann.client.get(LINKS)).text
    assert "2 links deleted." in page
    assert rows(page) == []
    await undo(ann, page)
    assert [await status(ann, on), await status(ann, off)] == [302, 410]
    assert "switched off" in (await ann.client.get(f"/{off}")).text


async def test_what_was_taken_down_is_not_brought_back(api: Api, ann: Browser) -> None:
    """Deleting and undoing is no way around the operator."""
    code = await make(ann)
    await api.services.takedowns.take_down(DEFAULT_DOMAIN_ID, code, "phishing", command_actor(1))
    await send(ann, LINKS, action="delete", link=place(code))
    await send(ann, LINKS, action="restore", link=place(code))
    assert "The operator has taken this link down" in (await ann.client.get(LINKS)).text
    assert await status(ann, code) == 410


async def test_switch_and_expire_many(ann: Browser) -> None:
    """Off and on again; an expiry for all of them, and none."""
    codes = [await make(ann), await make(ann)]
    boxes = [place(code) for code in codes]
    await send(ann, LINKS, action="disable", link=boxes)
    assert [await status(ann, code) for code in codes] == [410, 410]
    await send(ann, LINKS, action="enable", link=boxes)
    assert [await status(ann, code) for code in codes] == [302, 302]
    for when, has_expiry in (("week", True), ("never", False)):
        await send(ann, LINKS, action="expire", when=when, link=boxes)
        shown = (await ann.client.get(f"/api/v1/urls/{codes[0]}")).json()
        assert (shown["expires_at"] is not None) is has_expiry


async def test_expiring_many_is_undone(ann: Browser) -> None:
    """Each link gets the expiry back that it had: none, or its own."""
    plain, dated = await make(ann), await make(ann, expires_at="2099-01-01T00:00:00.123456Z")
    before = [await expiry(ann, code) for code in (plain, dated)]
    for when in ("now", "week", "never"):
        await send(ann, LINKS, action="expire", when=when, link=[place(plain), place(dated)])
        assert await expiry(ann, dated) != before[1]
        page = await undo(ann, (await ann.client.get(LINKS)).text)
        assert "2 links expire as before." in page
        assert [await expiry(ann, code) for code in (plain, dated)] == before
    assert await status(ann, plain) == 302


async def test_undo_brings_back_what_had_expired(api: Api, ann: Browser) -> None:
    """A link that had been over and retired is over again, also when it was revived in between."""
    over = await make(ann)
    await api.services.database.execute(
        "UPDATE short_link SET expires_at = $1, is_active = FALSE, gone_reason = 'expired'", now() - HOUR
    )
    await send(ann, LINKS, action="expire", when="never", link=[place(over)])
    assert await status(ann, over) == 302
    page = await undo(ann, (await ann.client.get(LINKS)).text)
    assert f"/{over} expires as before." in page
    assert await status(ann, over) == 410
    await send(ann, LINKS, action="delete", link=[place(over)])
    await undo(ann, (await ann.client.get(LINKS)).text)
    assert rows((await ann.client.get(f"{LINKS}?state=expired")).text) == [over]


async def test_undo_of_a_whole_page_fits(ann: Browser) -> None:
    """Fifty links, each with an expiry of its own: the way back is offered and right."""
    codes = [await make(ann, expires_in_seconds=100_000 + number) for number in range(50)]
    before = [await expiry(ann, code) for code in codes]
    await send(ann, LINKS, action="expire", when="never", link=[place(code) for code in codes])
    await undo(ann, (await ann.client.get(LINKS)).text)
    assert [await expiry(ann, code) for code in codes] == before


async def test_undo_of_a_switch_leaves_what_was_so_before(ann: Browser) -> None:
    """Two switched off, of which one was off: undone, that one is still off."""
    on, off = await make(ann), await make(ann)
    await send(ann, LINKS, action="disable", link=place(off))
    await send(ann, LINKS, action="disable", link=[place(on), place(off)])
    await undo(ann, (await ann.client.get(LINKS)).text)
    assert [await status(ann, on), await status(ann, off)] == [302, 410]


async def test_an_undo_that_nobody_was_offered_does_no_harm(ann: Browser) -> None:
    """Nonsense in its fields is as if it were not there."""
    code = await make(ann)
    for wrong in (
        "",
        "1",
        f"{place(code)}.",
        f"{place(code)}.-5",
        f"{place(code)}.9999999999999999999",
        "x.y.z",
    ):
        done = await send(ann, LINKS, action="unexpire", link=place(code), before=wrong)
        assert (done.status_code, await expiry(ann, code)) == (303, None), wrong


async def test_export_of_the_selected(ann: Browser) -> None:
    """A file with those links, in which nothing is a formula."""
    code = await make(ann, title="=HYPERLINK(1)")
    await make(ann)
    answer = await send(ann, LINKS, action="export", link=place(code))
    assert "attachment" in answer.headers["content-disposition"]
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    assert [(line["short_url"].rpartition("/")[2], line["title"]) for line in lines] == [
        (code, "'=HYPERLINK(1)")
    ]


@pytest.mark.parametrize("action", ["delete", "disable", "expire", "export", "restore", "unexpire"])
async def test_links_of_others_are_not_there(api: Api, ann: Browser, action: str) -> None:
    """P8: whatever a form names, only the workspace's own links are changed or shown."""
    acme = await make_workspace(api, "acme")
    await make_user(api, "bob@example.com", "admin", acme)
    bob = browser(api, "198.51.100.9")
    async with bob.client:
        await bob.sign_in("bob@example.com")
        theirs = await make(bob, title="Secret plan")
        answer = await send(ann, LINKS, action=action, link=place(theirs), when="now")
        assert "Secret plan" not in answer.text
        assert await status(bob, theirs) == 302
        for path in (f"{LINKS}/{theirs}/edit", f"{LINKS}/{theirs}/qr", f"{LINKS}/{theirs}/duplicate"):
            assert (await ann.client.get(path)).status_code == 404
        for path in (f"{LINKS}/{theirs}/edit", f"{LINKS}/{theirs}/delete"):
            assert (await send(ann, path, url="https://evil.example/")).status_code == 404
        assert (await bob.client.get(f"/{theirs}")).headers["location"] == "https://example.com/"


async def test_a_viewer_reads_and_changes_nothing(ann: Browser, vera: Browser) -> None:
    """403 for every change; the export is theirs."""
    code = await make(ann)
    for path, fields in (
        (LINKS, {"action": "delete", "link": place(code)}),
        (NEW, {"url": "https://example.com/"}),
        (f"{LINKS}/{code}/edit", {"url": "https://evil.example/"}),
        (f"{LINKS}/{code}/delete", {}),
    ):
        token = form_token((await vera.client.get("/dashboard/account")).text)
        assert (await vera.client.post(path, data={"token": token, **fields})).status_code == 403, path
    assert await status(ann, code) == 302
    exported = await send(vera, LINKS, action="export", link=place(code))
    assert code in exported.text


async def test_forms_from_elsewhere_change_nothing(ann: Browser) -> None:
    """Cross-site request forgery: 403 without the page's token."""
    code = await make(ann)
    for path in (LINKS, NEW, f"{LINKS}/{code}/edit", f"{LINKS}/{code}/delete", "/dashboard/set-up"):
        for token in ("", "0" * 64):
            fields = {"token": token, "url": "https://evil.example/", "action": "delete", "link": place(code)}
            assert (await ann.client.post(path, data=fields)).status_code == 403, path
    assert await status(ann, code) == 302


async def test_create_says_what_is_wrong_beside_the_field(ann: Browser) -> None:
    """Everything that was filled in stays, with the status that the API would give."""
    await make(ann, custom_code="taken1")
    for fields, wanted, words in (
        ({"url": "http://127.0.0.1/"}, 400, "url-error"),
        ({"url": "https://example.com/", "code": "taken1"}, 409, "code-error"),
        ({"url": "https://example.com/", "code": "login"}, 422, "code-error"),
        ({"url": "https://example.com/", "expires": "yesterday"}, 422, "expires-error"),
        ({"url": "https://example.com/", "expires": "2020-01-01T00:00"}, 422, "expires-error"),
        ({"url": "https://example.com/", "status": "999"}, 422, "status-error"),
        ({"url": "https://example.com/", "title": "x" * 501}, 422, "title-error"),
        ({"url": "https://example.com/", "domain": "nowhere.example"}, 422, "domain"),
    ):
        answer = await send(ann, NEW, NEW, **{"status": "302", "title": "Kept", **fields})
        assert answer.status_code == wanted, fields
        if words != "domain":
            told = re.search(rf'id="{words}" role="alert">([^<]+)<', answer.text)
            assert told, fields
        assert f'value="{fields["url"]}"' in answer.text


async def test_create_edit_duplicate_and_delete(ann: Browser) -> None:
    """A link's whole life by forms."""
    made = await send(
        ann, NEW, NEW, url="https://example.com/a", code="mine1", title="First", status="302", expires=""
    )
    assert (made.status_code, made.headers["location"]) == (303, f"{LINKS}/mine1")
    edited = await send(
        ann,
        f"{LINKS}/mine1/edit",
        f"{LINKS}/mine1/edit",
        url="https://example.com/b",
        title="Second",
        status="307",
        expires="2099-01-01T12:00",
        active="on",
    )
    assert edited.status_code == 303
    followed = await ann.client.get("/mine1")
    assert (followed.status_code, followed.headers["location"]) == (307, "https://example.com/b")
    copy = (await ann.client.get(f"{LINKS}/mine1/duplicate")).text
    assert 'value="https://example.com/b"' in copy
    assert 'value="Second"' in copy
    assert 'value="mine1"' not in copy
    gone = await send(ann, f"{LINKS}/mine1/delete", f"{LINKS}/mine1/edit")
    assert gone.headers["location"] == LINKS
    assert await status(ann, "mine1") == 410
    assert (await ann.client.get(f"{LINKS}/mine1/edit")).status_code == 410


async def test_checks_while_typing(ann: Browser) -> None:
    """Is the code free, where does the URL lead, why is it refused: as the create would judge."""
    await make(ann, custom_code="taken1")

    async def check(**asked: str) -> Any:
        return (await ann.client.get("/dashboard/check", params=asked)).json()

    told = await check(url="http://EXAMPLE.com/a", code="free12")
    assert told["url"] == {
        "ok": True,
        "text": "Leads to example.com. The way there is not encrypted (http).",
        "host": "example.com",
    }
    assert told["code"] == {"ok": True, "text": "This code is free."}
    assert (await check(code="taken1"))["code"]["ok"] is False
    assert (await check(code="login"))["code"]["ok"] is False
    assert (await check(url="http://10.0.0.1/"))["url"]["reason"] == "private_address"
    assert await check() == {}


async def test_qr_editor_draws_what_was_chosen(ann: Browser) -> None:
    """Colours and size in the picture's address; what makes no picture is left out."""
    code = await make(ann)
    page = (await ann.client.get(f"{LINKS}/{code}/qr?dark=%230b6b5d&light=%23fafafa&size=300&error=q")).text
    picture = re.search(r'id="svg" href="([^"]+)"', page)
    assert picture
    drawn = await ann.client.get(picture[1].replace("&amp;", "&"))
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert b"#0b6b5d" in drawn.content
    for query in ("dark=red&size=x&margin=-1&error=z", "dark=%23ffffff&light=%23ffffff", "size=99999"):
        again = (await ann.client.get(f"{LINKS}/{code}/qr?{query}")).text
        found = re.search(r'id="png" href="([^"]+)"', again)
        assert found
        assert (await ann.client.get(found[1].replace("&amp;", "&"))).status_code == 200, query


async def test_workspace_of_the_visitor_alone_counts(api: Api, ann: Browser) -> None:
    """The list shows one workspace, whoever else is on the server."""
    acme = await make_workspace(api, "acme")
    await make_user(api, "bob@example.com", "admin", acme)
    mine = await make(ann)
    bob = browser(api, "198.51.100.9")
    async with bob.client:
        await bob.sign_in("bob@example.com")
        assert rows((await bob.client.get(LINKS)).text) == []
    assert rows((await ann.client.get(LINKS)).text) == [mine]
    assert acme != DEFAULT_WORKSPACE_ID
