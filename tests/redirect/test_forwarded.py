"""Whose word on a visitor's address is taken."""

import pytest

from laconic.redirect.forwarded import TrustedProxies

PROXIES = TrustedProxies(["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "172.16.0.1/12"])


@pytest.mark.parametrize(
    ("address", "trusted"),
    [
        ("10.1.2.3", True),
        ("192.0.2.7", True),
        ("192.0.2.8", False),
        ("172.20.0.1", True),
        ("::ffff:10.1.2.3", True),
        ("2001:db8::1%eth0", True),
        ("2001:db9::1", False),
        ("unix:", False),
        ("", False),
    ],
)
def test_only_named_proxies_are_trusted(address: str, trusted: bool) -> None:
    """IPv4 on a socket for both is IPv4, and a zone says nothing."""
    assert PROXIES.trusts(address) == trusted
    assert not TrustedProxies([]).trusts(address)


@pytest.mark.parametrize(
    ("forwarded", "visitor"),
    [
        (b"203.0.113.5", b"203.0.113.5"),
        (b"198.51.100.1, 203.0.113.5", b"203.0.113.5"),
        (b"203.0.113.5,10.0.0.2 , 10.0.0.3", b"203.0.113.5"),
        (b"10.0.0.2,10.0.0.3", b"10.0.0.2"),
        (b"203.0.113.5, unknown, 10.0.0.3", b"10.0.0.3"),
        (b"\xff", b"10.0.0.9"),
        (b"", b"10.0.0.9"),
        (b"::ffff:203.0.113.5", b"203.0.113.5"),
        (b"fe80::1%zone", b"fe80::1"),
    ],
)
def test_the_visitor_is_the_last_that_is_no_proxy_of_ours(forwarded: bytes, visitor: bytes) -> None:
    """What stands before it anybody could have written; what is no address ends the chain."""
    assert PROXIES.visitor_address(b"10.0.0.9", forwarded) == visitor
