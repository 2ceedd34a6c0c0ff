"""Every page, for everybody: whoever sees badly, uses no mouse, has a phone or a slow line."""

from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import OpenWindow
from tests.browser.slow_line import SlowLine
from tests.browser.window import Size, call_api, open_window
from tests.flows.server import LaconicServer

PUBLIC = (
    *("/", "/everyb1+", "/nothere1", "/goneby1", "/goneby1+", "/everyb2", "/everyb3", "/not!a!code"),
    "/docs",
)
# Whoever is signed in is sent on from the one, and sees another page at the other.
STRANGERS = ("/dashboard/sign-in", "/")
DASHBOARD = (
    "/dashboard",
    "/dashboard/account",
    "/dashboard/links",
    "/dashboard/links?search=nothing-like-it",
    "/dashboard/links/everyb1",
    "/dashboard/new-link",
    "/dashboard/links/everyb1/edit",
    "/dashboard/links/everyb1/duplicate",
    "/dashboard/links/everyb1/qr",
)
MOST_PUBLIC_BYTES = 100_000
MOST_DASHBOARD_BYTES = 300_000
MOST_SHIFT = 0.001


@pytest.fixture(scope="module")
def links(chromium: Browser, laconic: LaconicServer, ann: Any) -> None:
    """One that lives, and one that is gone for each of three reasons."""
    window = open_window(chromium, laconic.base_url, state=ann)
    window.goto("/dashboard/account")
    for code in ("everyb1", "goneby1", "everyb2", "everyb3"):
        body = {
            "original_url": "https://example.com/" + "long/" * 60,
            "custom_code": code,
            "title": "A title",
        }
        call_api(window, "POST", "/api/v1/urls", body)
    call_api(window, "DELETE", "/api/v1/urls/goneby1")
    call_api(window, "PATCH", "/api/v1/urls/everyb2", {"is_active": False})
    call_api(window, "POST", "/api/admin/links/everyb3/takedown", {"reason": "It asked for passwords."})
    window.close()


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_pages_are_for_everybody(window: OpenWindow, ann: Any, size: Size) -> None:
    """Nothing that axe-core calls serious or critical in light or in dark, no scrolling sideways, nothing that jumps."""
    wrong: list[str] = []
    one = window(size, state=ann)
    for path in (*PUBLIC, *DASHBOARD):
        # What axe-core finds hangs on size and colours; Swagger UI at /docs is not ours to mend.
        if path == "/docs":
            continue
        one.goto(path)
        wrong += [f"{path}: {finding}" for finding in one.grave_findings_in_all_colours()]
        if one.has_sideways_scroll():
            wrong.append(f"{path}: scrolls sideways")
        # Of the whole window; 0.1 is called good.
        if one.layout_shift() > MOST_SHIFT:
            wrong.append(f"{path}: its layout shifts by {one.layout_shift():.4f}: {one.shifted()}")
        wrong += [f"{path}: {violation}" for violation in one.violations()]
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_pages_of_strangers_are_for_everybody(window: OpenWindow, size: Size) -> None:
    """The same for whoever is not signed in."""
    one = window(size)
    for path in STRANGERS:
        assert one.goto(path) in (200, 401), path
        assert one.page.url == one.base_url + path
        assert not one.grave_findings_in_all_colours(), path
        assert not one.has_sideways_scroll(), path
        assert one.layout_shift() <= MOST_SHIFT, f"{path}: {one.shifted()}"


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_pages_on_a_slow_line_do_not_jump(
    chromium: Browser, laconic: LaconicServer, ann: Any, size: Size
) -> None:
    """What is painted already stays where it is when the rest comes, and when the page's script has run."""
    wrong: list[str] = []
    with SlowLine(laconic.base_url) as line:
        one = open_window(chromium, line.base_url, size, state=ann)
        for path in ("/dashboard", "/dashboard/links", "/dashboard/members", "/everyb1+"):
            one.goto(path)
            if one.layout_shift() > MOST_SHIFT:
                wrong.append(f"{path}: its layout shifts by {one.layout_shift():.4f}: {one.shifted()}")
        one.close()
    assert not wrong, "\n".join(wrong)


@pytest.mark.usefixtures("links")
def test_too_fast_is_said_where_it_is_seen(window: OpenWindow) -> None:
    """A report too many: the refusal stands above all that has to be scrolled, on a phone too, and for everybody."""
    one = window("phone", "dark")
    for _ in range(20):
        one.goto("/everyb1+")
        one.page.get_by_text("Report this link").click()
        one.page.get_by_label("What is wrong").select_option("spam")
        with one.page.expect_navigation() as sent:
            one.page.get_by_role("button", name="Send report").click()
        if sent.value.status == 429:
            break
        expect(one.page.get_by_role("status").filter(has_text="Thank you")).to_be_in_viewport()
    expect(one.page.get_by_role("alert")).to_contain_text("not sent")
    expect(one.page.get_by_role("alert")).to_be_in_viewport()
    assert not one.grave_findings()
    assert not one.has_sideways_scroll()


@pytest.mark.usefixtures("links")
def test_pages_are_light(window: OpenWindow, ann: Any) -> None:
    """All that a first visit loads, over the wire: public pages 100 kB at most, the dashboard 300 kB."""
    for paths, most in ((PUBLIC[:-1], MOST_PUBLIC_BYTES), (DASHBOARD, MOST_DASHBOARD_BYTES)):
        for path in paths:
            one = window(state=ann)
            session = one.context.new_cdp_session(one.page)
            session.send("Network.enable")
            received: list[float] = []
            session.on(
                "Network.loadingFinished",
                lambda event, received=received: received.append(event["encodedDataLength"]),
            )
            one.goto(path)
            assert 0 < sum(received) <= most, f"{path}: {sum(received):.0f} bytes"
            print(f"{path}: {sum(received):,.0f} bytes")


@pytest.mark.usefixtures("links")
def test_keyboard_alone_is_enough(window: OpenWindow, ann: Any) -> None:
    """The first stop leads past the navigation; every stop can be seen."""
    one = window(state=ann)
    one.goto("/dashboard/links")
    one.page.keyboard.press("Tab")
    assert one.page.evaluate("document.activeElement.textContent") == "To the content"
    one.page.keyboard.press("Enter")
    for _ in range(12):
        one.page.keyboard.press("Tab")
        outlined = "getComputedStyle(document.activeElement).outlineStyle !== 'none'"
        assert one.page.evaluate(outlined), one.page.evaluate("document.activeElement.outerHTML")
