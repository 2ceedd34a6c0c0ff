"""What a look-up makes of a row."""

from dataclasses import replace

import pytest

from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.lookup import block
from tests.redirect.links import LINK


@pytest.fixture
def blocked() -> BlockedHosts:
    blocked = BlockedHosts()
    blocked.put("example.com", includes_subdomains=False)
    return blocked


@pytest.mark.parametrize("changes", [{}, {"is_active": False, "gone_reason": "expired"}])
def test_a_link_to_a_blocked_host_is_gone(blocked: BlockedHosts, changes: dict[str, object]) -> None:
    """While the host is blocked, and also one that the reaper has retired too early."""
    link = replace(LINK, **changes)  # type: ignore[arg-type]
    assert block(link, blocked) == replace(LINK, is_active=False, gone_reason="blocked")
    assert block(link, BlockedHosts()) == link


@pytest.mark.parametrize(
    "changes",
    [
        {"is_deleted": True, "gone_reason": "deleted"},
        {"is_deleted": True, "is_active": False, "gone_reason": "expired"},
        {"is_active": False, "gone_reason": "disabled"},
        {"is_active": False, "gone_reason": None},
        {"location": None},
        {"location": "https://example.org/"},
    ],
)
def test_what_is_gone_already_keeps_its_reason(blocked: BlockedHosts, changes: dict[str, object]) -> None:
    """And what leads nowhere, or elsewhere, is left as it is."""
    link = replace(LINK, **changes)  # type: ignore[arg-type]
    assert block(link, blocked) is link
