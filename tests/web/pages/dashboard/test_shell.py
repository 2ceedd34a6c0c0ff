"""What every page of the dashboard does: asks who is there, carries tokens, says once what was done."""

import re

import pytest

from tests.web.api.opened import Api
from tests.web.pages.dashboard.conftest import ANN
from tests.web.people import PASSWORD, Browser, browser, make_user
from tests.web.site import Site, form_token

LINKS = "/dashboard/links"


async def test_whoever_is_not_signed_in_comes_back_to_the_page(api: Api) -> None:
    """The sign-in page knows where somebody wanted to go, and goes there."""
    await make_user(api, ANN, "admin")
    one = browser(api)
    async with one.client:
        sent = await one.client.get(f"{LINKS}?search=a+b&state=active")
        assert sent.status_code == 303
        page = await one.client.get(sent.headers["location"])
        back = re.search(r'name="next" value="([^"]*)"', page.text)
        assert back
        wanted = back[1].replace("&amp;", "&")
        assert wanted == f"{LINKS}?search=a+b&state=active"
        fields = {"token": form_token(page.text), "email": ANN, "password": PASSWORD, "next": wanted}
        done = await one.client.post("/dashboard/sign-in", data=fields)
        assert done.headers["location"] == wanted


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/dashboard",
        "//evil.example",
        "/dashboard\\@evil.example",
        "/dashboardx",
        "/dashboard/\r\nset-cookie: a=b",
        "/dashboard.evil.example",
        "",
    ],
)
async def test_signing_in_leads_to_no_other_site(api: Api, elsewhere: str) -> None:
    """Whatever the address says, the way goes to a page of the dashboard."""
    await make_user(api, ANN, "admin")
    one = browser(api)
    async with one.client:
        done = await one.sign_in(ANN, next=elsewhere)
        assert (done.status_code, done.headers["location"]) == (303, "/dashboard")


async def test_navigation_shows_what_one_may_open(api: Api, ann: Browser, vera: Browser) -> None:
    """An admin sees the members, a viewer does not; the operator's part is the operator's."""
    admin, viewer = (await ann.client.get(LINKS)).text, (await vera.client.get(LINKS)).text
    assert "/dashboard/members" in admin
    assert "/dashboard/members" not in viewer
    assert "/dashboard/operator" not in admin
    await make_user(api, "op@example.com", "admin", is_operator=True)
    operator = browser(api, "198.51.100.8")
    async with operator.client:
        await operator.sign_in("op@example.com")
        assert "/dashboard/operator" in (await operator.client.get(LINKS)).text


async def test_open_mode_needs_no_account_and_offers_one(site: Site) -> None:
    """The first minute: the dashboard is open to this machine, and one button makes the first account."""
    page = await site.client.get(LINKS, headers={"accept": "text/html"})
    assert page.status_code == 200
    assert "Create the first account" in page.text
    done = await site.client.post("/dashboard/set-up", data={"token": form_token(page.text)})
    assert done.status_code == 303
    assert done.headers["location"].startswith("/dashboard/set-up/")
    assert (await site.client.get(done.headers["location"])).status_code == 200


async def test_nobody_makes_the_first_account_from_outside(api: Api) -> None:
    """Where others reach the server, the link that makes the operator is printed and never served."""
    one = browser(api)
    async with one.client:
        token = form_token((await one.client.get("/dashboard/sign-in")).text)
        done = await one.client.post("/dashboard/set-up", data={"token": token})
        assert done.headers["location"] == "/dashboard/sign-in"


async def test_a_sentence_is_shown_once_and_only_if_it_is_ours(api: Api, ann: Browser) -> None:
    """What was done stands on the next page, not on the one after; words that somebody else wrote never."""
    token = form_token((await ann.client.get("/dashboard/new-link")).text)
    made = await ann.client.post(
        "/dashboard/new-link",
        data={"token": token, "url": "https://example.com/", "status": "302"},
    )
    assert made.status_code == 303
    assert "The link is made." in (await ann.client.get(LINKS)).text
    assert "The link is made." not in (await ann.client.get(LINKS)).text
    kept = next(text for text in made.headers.get_list("set-cookie") if text.startswith("laconic_flash="))
    forged = kept.partition("=")[2].partition(";")[0].strip('"')
    body, _, mark = forged.partition(".")
    for value in (f"{body}x.{mark}", f"{body}.{'0' * 64}", "nonsense", "."):
        page = await ann.client.get(LINKS, headers={"cookie": _cookies(ann, laconic_flash=value)})
        assert page.status_code == 200
        assert "The link is made." not in page.text
    again = await ann.client.get(LINKS, headers={"cookie": _cookies(ann, laconic_flash=forged)})
    assert "The link is made." in again.text


def _cookies(one: Browser, **more: str) -> str:
    kept = {cookie.name: cookie.value for cookie in one.client.cookies.jar} | more
    return "; ".join(f"{name}={value}" for name, value in kept.items())
