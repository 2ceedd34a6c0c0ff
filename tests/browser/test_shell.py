"""The dashboard's frame, in a real browser."""

from typing import Any

import pytest

from tests.browser.conftest import OpenWindow
from tests.browser.window import Scheme, Size


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_the_frame_is_usable_by_everybody(window: OpenWindow, ann: Any, size: Size, scheme: Scheme) -> None:
    """Nothing that axe-core calls serious, and no scrolling sideways, whatever the size and the colours."""
    one = window(size, scheme, state=ann)
    assert one.goto("/dashboard/account") == 200
    assert not one.grave_findings()
    assert not one.has_sideways_scroll()
    if size == "phone":
        one.page.get_by_text("Menu", exact=True).click()
        assert not one.grave_findings()
    one.page.get_by_role("link", name="Overview").first.click()
    one.page.wait_for_url(one.base_url + "/dashboard")
