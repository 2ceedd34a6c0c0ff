"""The pages about people, keys, domains and the installation, in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenWindow
from tests.browser.window import Size, call_api, open_window

PAGES = (
    "members keys domains domains/go.example.com settings audit account transfer operator operator/codes"
    " operator/cleanup operator/takedowns operator/reports operator/blocked operator/workspaces"
    " operator/workspaces/1"
).split()


@pytest.fixture(scope="module")
def furnished(chromium: Any, laconic: Any, ann: Any) -> None:
    """Something on every page: what is empty hides most mistakes."""
    one = open_window(chromium, laconic.base_url, state=ann)
    one.goto("/dashboard/account")
    call_api(one, "POST", "/api/v1/urls", {"original_url": "https://example.com/", "custom_code": "rooms1"})
    call_api(one, "POST", "/api/v1/invitations", {"role": "viewer", "email": "bob@example.com"})
    call_api(one, "POST", "/api/v1/api-keys", {"name": "Newsletter"})
    call_api(one, "POST", "/api/v1/domains", {"host": "go.example.com"})
    call_api(one, "POST", "/api/admin/blocked-hosts", {"host": "evil.example", "reason": "Phishing"})
    call_api(one, "POST", "/api/admin/cleanup/run")
    one.goto("/rooms1+")
    one.page.get_by_text("Report this link").click()
    one.page.get_by_label("What is wrong").select_option("phishing")
    one.page.get_by_role("button", name="Report").click()
    one.goto("/dashboard/account")
    call_api(one, "POST", "/api/v1/urls", {"original_url": "https://bad.example/", "custom_code": "rooms2"})
    call_api(one, "POST", "/api/admin/links/rooms2/takedown", {"reason": "Malware"})
    one.close()


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_rooms_are_usable_by_everybody(window: OpenWindow, ann: Any, size: Size) -> None:
    """Nothing that axe-core calls serious, in light and in dark, and no scrolling sideways, on any of the pages."""
    one = window(size, state=ann)
    found = []
    for path in PAGES:
        assert one.goto(f"/dashboard/{path}") == 200, path
        found += [f"{path}: {finding}" for finding in one.grave_findings_in_all_colours()]
        if one.has_sideways_scroll():
            found.append(f"{path}: scrolls sideways")
    assert not found, "\n".join(found)


def test_a_key_is_shown_once_and_can_be_copied(window: OpenWindow, ann: Any) -> None:
    """The secret stands on the page that makes it, with a button; on the next page it is gone."""
    one = window(state=ann)
    one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    one.goto("/dashboard/keys")
    one.page.get_by_label("Name").fill("Copied")
    one.page.get_by_role("button", name="Make the key").click()
    secret = one.page.locator(".once code").first.inner_text()
    assert secret.startswith("lac_live_")
    one.page.get_by_role("button", name="Copy the key").click()
    one.page.get_by_role("button", name="Copied").wait_for()
    assert one.page.evaluate("navigator.clipboard.readText()") == secret
    assert not one.grave_findings()
    one.goto("/dashboard/keys")
    assert secret not in one.page.content()


def test_settings_are_checked_while_they_are_filled_in(window: OpenWindow, ann: Any) -> None:
    """What is wrong stands at its field before anything is sent, and goes when it is put right."""
    one = window(state=ann)
    one.goto("/dashboard/settings")
    for label, name, wrong, right in (
        ("Name", "name", "  ", "Example & Co"),
        ("Links expire after (hours)", "expires_in_hours", "9000", "48"),
        ("Single clicks are kept for (days)", "click_retention_days", "0", "30"),
    ):
        field, line = one.page.get_by_label(label), one.page.locator(f"#{name}-error")
        field.fill(wrong)
        expect(line).not_to_be_empty()
        expect(field).to_have_attribute("aria-invalid", "true")
        field.fill(right)
        expect(line).to_be_empty()
        assert field.get_attribute("aria-invalid") is None
    one.page.get_by_label("Of a visitor's address").select_option("none")
    one.page.get_by_role("button", name="Save").click()
    expect(one.page.get_by_role("status")).to_contain_text("Saved")
    expect(one.page.get_by_text("In effect: nothing.")).to_be_visible()


def test_an_import_tells_how_far_it_is(window: OpenWindow, ann: Any, tmp_path: Path) -> None:
    """With the script: a bar, then the report, without leaving the page; the export has what came in."""
    one = window(state=ann)
    rows = "".join(f"https://example.com/import/{number},Row {number}\n" for number in range(3_000))
    file = tmp_path / "links.csv"
    file.write_text(f"url,title\nnonsense,<script>alert(1)</script>\n{rows}")
    one.goto("/dashboard/transfer")
    one.page.get_by_label("File", exact=True).set_input_files(file)
    one.page.get_by_role("button", name="Import").click()
    one.page.get_by_text("Done, with 1 row left out").wait_for()
    assert "3,000" in one.page.locator(".run-report").inner_text()
    assert one.page.url.endswith("/dashboard/transfer")
    assert not one.grave_findings()
    with one.page.expect_download() as downloaded:
        one.page.get_by_role("button", name="Download CSV").click()
    assert "https://example.com/import/2999,Row 2999" in Path(downloaded.value.path()).read_text()


def test_an_import_needs_no_script(window: OpenWindow, ann: Any, tmp_path: Path) -> None:
    """Without one the same form leads to a page that says what was done."""
    one = window(script=False, state=ann)
    file = tmp_path / "links.ndjson"
    file.write_text('{"url": "https://example.com/plain"}\n{"url": "javascript:alert(1)"}\n')
    one.goto("/dashboard/transfer")
    one.page.get_by_label("File", exact=True).set_input_files(file)
    one.page.get_by_role("button", name="Import").click()
    one.page.get_by_text("Done, with 1 row left out").wait_for()
