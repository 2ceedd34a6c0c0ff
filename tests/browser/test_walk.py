"""From the first start to a deleted link, as a person does it who has read nothing."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.window import PASSWORD, Scheme, Size, Window, set_up_admin


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        ("desktop", "light"),
        ("phone", "dark"),
        pytest.param("desktop", "dark", marks=pytest.mark.long),
        pytest.param("phone", "light", marks=pytest.mark.long),
    ],
)
def test_from_first_start_to_gone(fresh: OpenWindow, size: Size, scheme: Scheme) -> None:
    """First start, admin, create, follow, the click arrives, its chart, QR, edit, delete, undo, delete, 410."""
    window = fresh(size, scheme)
    page = window.page
    set_up_admin(window)
    _create(window)
    expect(page.locator('.live .pulse[data-state="on"]')).to_be_visible()
    _follow(window, "https://example.com/walk")
    expect(page.locator(".live ol > li")).to_have_count(1)
    page.reload()
    expect(page.get_by_role("heading", name="Clicks over time")).to_be_visible()
    expect(page.locator("[data-chart] svg").first).to_be_visible()
    window.goto("/dashboard/links/walk1/qr")
    expect(page.get_by_role("img", name="QR code of")).to_be_visible()
    assert page.get_by_role("img", name="QR code of").evaluate("image => image.naturalWidth > 0")
    _edit(window)
    _follow(window, "https://example.org/elsewhere")
    _delete_undo_delete(window)
    assert window.goto("/walk1") == 410
    expect(page.get_by_role("heading", name="This link was deleted")).to_be_visible()


def _create(window: Window) -> None:
    page = window.page
    window.goto("/dashboard/links")
    page.get_by_role("link", name="New link").first.click()
    page.get_by_label("Long link").fill("http://192.168.0.1/router")
    expect(page.locator("#url-error")).to_contain_text("private")
    page.get_by_label("Long link").fill("https://example.com/walk")
    expect(page.locator("#url-error")).to_have_text("Leads to example.com.")
    page.get_by_label("Code (optional)").fill("login")
    expect(page.locator("#code-error")).to_contain_text("reserved")
    page.get_by_label("Code (optional)").fill("walk1")
    expect(page.locator("#code-error")).to_have_text("This code is free.")
    page.get_by_label("Title (optional)").fill("A walk")
    page.get_by_role("button", name="Make link").click()
    page.wait_for_url("**/dashboard/links/walk1")


def _follow(window: Window, target: str) -> None:
    """As a visitor: the short link answers with the way to its target."""
    answer = window.context.request.get(f"{window.base_url}/walk1", max_redirects=0)
    assert (answer.status, answer.headers["location"]) == (302, target)


def _edit(window: Window) -> None:
    page = window.page
    window.goto("/dashboard/links/walk1/edit")
    page.get_by_label("Long link").fill("https://example.org/elsewhere")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/dashboard/links/walk1")


def _delete_undo_delete(window: Window) -> None:
    page = window.page
    window.goto("/dashboard/links")
    page.get_by_role("checkbox", name="Select localhost").check()
    page.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("status").filter(has_text="/walk1 deleted.")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").filter(has_text="/walk1 restored.")).to_be_visible()
    window.goto("/dashboard/links/walk1/edit")
    page.get_by_role("button", name="Delete this link").click()
    expect(page.get_by_text("No links yet")).to_be_visible()


def test_search_as_you_type(window: OpenWindow, ann: object) -> None:
    """The list follows the field, and so does the address, which can be kept."""
    one = window(state=ann)
    page = one.page
    for word in ("heron", "magpie"):
        one.goto(f"/dashboard/new-link?url=https://birds.example/{word}")
        page.get_by_label("Title (optional)").fill(f"About the {word}")
        page.get_by_role("button", name="Make link").click()
        page.wait_for_url("**/dashboard/links/*")
    one.goto("/dashboard/links")
    page.get_by_label("Search links").press_sequentially("heron")
    expect(page.locator("#many tbody tr")).to_have_count(1)
    expect(page.locator("#many tbody tr")).to_contain_text("About the heron")
    page.wait_for_url("**/dashboard/links?search=heron")
    page.get_by_label("Search links").fill("nothing like this")
    expect(page.get_by_text("No link is like that")).to_be_visible()


@pytest.mark.usefixtures("ann")
def test_public_page_without_and_with_scripts(window: OpenWindow) -> None:
    """Sign in, paste, shorten, QR on one screen without JavaScript; with it, without a page load, and copied."""
    first = window(script=False)
    _sign_in(first)
    state = first.context.storage_state()
    for size, scheme in (("desktop", "light"), ("phone", "dark"), ("desktop", "dark"), ("phone", "light")):
        for script in (False, True):
            one = window(size, scheme, script=script, state=state)
            one.goto("/")
            one.page.get_by_label("Long link").fill("https://example.com/a/long/way")
            one.page.get_by_role("button", name="Shorten").click()
            expect(one.page.get_by_role("heading", name="Your short link")).to_be_visible()
            picture = one.page.get_by_role("img", name="QR code of")
            expect(picture).to_be_in_viewport(ratio=0.9)
            expect(one.page.get_by_role("button", name="Copy")).to_have_count(1 if script else 0)
            one.page.get_by_label("Long link").fill("javascript:alert(1)")
            one.page.get_by_role("button", name="Shorten").click()
            expect(one.page.get_by_role("alert")).not_to_be_empty()


def _sign_in(window: Window) -> None:
    """The server has an account by now, so making links takes one."""
    window.goto("/dashboard/sign-in")
    window.page.get_by_label("E-mail").fill("ann@example.com")
    window.page.get_by_label("Password").fill(PASSWORD)
    window.page.get_by_role("button", name="Sign in").click()
    window.page.wait_for_url("**/dashboard")
