"""Which domain a Host header means, and what is remembered of it."""

import pytest

from laconic.redirect.hosts import Hosts, Site


@pytest.fixture
def hosts() -> Hosts:
    return Hosts(1, {"go.example": 2, "[2001:db8::1]": 3})


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        (b"go.example", 2),
        (b"GO.Example", 2),
        (b"go.example.", 2),
        (b"go.example:8080", 2),
        (b"Go.example.:443", 2),
        (b"[2001:DB8::1]", 3),
        (b"[2001:db8::1]:80", 3),
        (b"go.example:http", 1),
        (b"www.go.example", 1),
        (b":80", 1),
        (b"", 1),
    ],
)
def test_a_name_in_any_spelling(hosts: Hosts, host: bytes, domain: int) -> None:
    """Letter case, port and trailing dot do not matter; an unknown name means the default domain."""
    for _ in range(2):
        assert hosts.domain_of(host) == domain
        assert hosts.prefix_of(host) == b"%d" % domain


def test_a_change_counts_from_the_next_request(hosts: Hosts) -> None:
    """Whoever remembers what a header meant is told; a domain that the name no longer means takes nothing away."""
    told: list[int] = []
    hosts.when_changed(lambda: told.append(1))
    assert hosts.domain_of(b"new.example") == 1
    hosts.put("new.example", Site(4))
    assert hosts.domain_of(b"new.example") == 4
    hosts.drop("new.example", 5)
    hosts.drop("other.example", 4)
    assert hosts.domain_of(b"new.example") == 4
    assert len(told) == 1
    hosts.drop("new.example", 4)
    assert hosts.domain_of(b"new.example") == 1
    assert len(told) == 2


def test_a_domain_has_its_own_pages(hosts: Hosts) -> None:
    """Its root and what it shows for a code that is unknown; the default domain's root is Laconic's."""
    site = Site(4, root_target="https://a.example/", not_found_target="https://a.example/404")
    hosts.put("new.example", site)
    assert hosts.site_of(b"new.example") == site
    assert hosts.not_found_target(b"new.example") == "https://a.example/404"
    assert hosts.site_of(b"unknown.example") is None
    assert hosts.not_found_target(b"unknown.example") is None
    assert hosts.not_found_target(b"go.example") is None
    hosts.put("default.example", Site(1, not_found_target="https://a.example/none"))
    assert hosts.site_of(b"default.example") is None
    assert hosts.not_found_target(b"unknown.example") == "https://a.example/none"


def test_a_hostile_client_fills_no_memory(hosts: Hosts) -> None:
    """A thousand spellings are remembered and no long one; all others are judged each time."""
    assert hosts.domain_of(b"x" * 256) == 1
    assert hosts.domain_of(b"x" * 255) == 1
    assert set(hosts._spellings) == {b"x" * 255}
    for number in range(1_000):
        hosts.domain_of(b"%d.example" % number)
    assert len(hosts._spellings) == 1_000
    assert hosts.domain_of(b"go.example") == 2
