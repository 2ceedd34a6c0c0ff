"""What a look-up makes of a row."""

from dataclasses import replace

import pytest

from laconic.redirect.blocked import BlockedHosts
from laconic.redirect.lookup import Lookup, block
from laconic.storage.database import Database
from tests.redirect.links import LINK, NOON


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


@pytest.mark.parametrize("reason", ["Court order", None])
async def test_a_link_that_was_taken_down_says_why(database: Database, reason: str | None) -> None:
    """In the operator's words; while it is being undone there may be none."""
    columns = ("id", "workspace_id", "domain_id", "short_code", "original_url", "is_active", "gone_reason")
    row = (7, 1, 1, "gone", "https://example.com/", False, "taken_down", NOON, NOON)
    await database.copy_in("short_link", (*columns, "created_at", "updated_at"), [row])
    if reason is not None:
        await database.copy_in(
            "takedown", ("link_id", "workspace_id", "reason", "created_at"), [(7, 1, reason, NOON)]
        )
    link = await Lookup(database)(1, "gone")
    assert link is not None
    assert (link.gone_reason, link.note) == ("taken_down", reason)
