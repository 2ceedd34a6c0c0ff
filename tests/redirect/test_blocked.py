"""Hosts that no visitor is sent to."""

import pytest

from laconic.redirect.blocked import BlockedHosts


@pytest.fixture
def blocked() -> BlockedHosts:
    blocked = BlockedHosts()
    blocked.put("bad.example", includes_subdomains=True)
    blocked.put("one.example", includes_subdomains=False)
    blocked.put("[2001:db8::1]", includes_subdomains=False)
    return blocked


@pytest.mark.parametrize(
    ("name", "is_blocked"),
    [
        ("bad.example", True),
        ("bad.example.", True),
        ("www.bad.example", True),
        ("a.b.c.bad.example", True),
        ("notbad.example", False),
        ("bad.example.org", False),
        ("one.example", True),
        ("www.one.example", False),
        ("example", False),
        ("", False),
    ],
)
def test_a_name_and_what_lies_below_it(blocked: BlockedHosts, name: str, is_blocked: bool) -> None:
    """Subdomains only where the operator has said so."""
    assert blocked.blocks(name) == is_blocked
    assert blocked.blocks_location(f"https://{name}/a") == is_blocked
    assert not BlockedHosts().blocks(name)


@pytest.mark.parametrize(
    "location",
    [
        "https://bad.example",
        "HTTP://BAD.example:8080/a",
        "https://bad.example?a",
        "https://bad.example#a",
        "http://[2001:db8::1]:80/",
    ],
)
def test_the_host_of_a_location(blocked: BlockedHosts, location: str) -> None:
    """Whatever stands behind it; one that the operator lets go is free again."""
    assert blocked.blocks_location(location)
    assert not BlockedHosts().blocks_location(location)
    assert not blocked.blocks_location("https://good.example/?to=https://bad.example/")
    blocked.drop("bad.example")
    blocked.drop("[2001:db8::1]")
    blocked.drop("never.example")
    assert not blocked.blocks_location(location)
