"""When two targets count as the same."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.errors import Refused
from laconic.links.normalize import digest, normalize
from laconic.links.targets import TargetRules

RULES = TargetRules(own_hosts=(), max_length=100_000, allow_private=True)


@pytest.mark.parametrize(
    ("given_url", "normalized"),
    [
        ("HTTP://Example.COM", "http://example.com"),
        ("https://example.com/", "https://example.com"),
        ("https://example.com:443/a/", "https://example.com/a"),
        ("http://example.com:443/a/", "http://example.com:443/a"),
        ("https://example.com/a//", "https://example.com/a"),
        ("https://Bücher.example/é", "https://xn--bcher-kva.example/%C3%A9"),
        ("https://example.com/%c3%a9?q=%c3%a9", "https://example.com/%C3%A9?q=%C3%A9"),
        ("https://example.com/?b=2&a=1", "https://example.com?a=1&b=2"),
        ("https://example.com/?a=2&a=1&a=2", "https://example.com?a=1&a=2&a=2"),
        ("https://example.com/?b&a=&a", "https://example.com?a&a=&b"),
        ("https://example.com/?ab=1&a=2", "https://example.com?a=2&ab=1"),
        ("https://example.com/?&&a=1&", "https://example.com?a=1"),
        ("https://example.com/?", "https://example.com"),
        ("https://example.com/p/?utm_source=x&id=7&UTM_Medium=y&fbclid=z", "https://example.com/p?id=7"),
        ("https://example.com/?utm%5fsource=x&gclid=1&msclkid=2&mc_cid=3&igshid=4", "https://example.com"),
        ("https://example.com/?ref=a&utm=b&source=c", "https://example.com?ref=a&source=c&utm=b"),
        ("https://example.com/a/#Part/", "https://example.com/a#Part/"),
        ("https://example.com/a/?x=1#?utm_source=1", "https://example.com/a?x=1#?utm_source=1"),
        ("https://example.com/x/../y/./", "https://example.com/y"),
    ],
)
def test_the_normalised_form(given_url: str, normalized: str) -> None:
    """Case, default port, trailing slash, order and tracking go; all else stays."""
    assert normalize(RULES.check(given_url).location) == normalized


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://example.com/", "https://example.com/"),
        ("https://example.com/", "https://www.example.com/"),
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/#a", "https://example.com/#b"),
        ("https://example.com/?a=1", "https://example.com/?a=2"),
        ("https://example.com/?a=1&a=2", "https://example.com/?a=1"),
        ("https://example.com/?a", "https://example.com/?a="),
        ("https://example.com/?A=1", "https://example.com/?a=1"),
        ("https://example.com:8443/", "https://example.com/"),
        ("https://example.com/a%2Fb", "https://example.com/a/b"),
    ],
)
def test_different_targets_stay_apart(one: str, other: str) -> None:
    """What may show another page is another target."""
    assert normalize(one) != normalize(other)
    assert digest(normalize(one)) != digest(normalize(other))


def test_the_digest_is_sixteen_bytes_and_never_changes() -> None:
    """It is stored: another function would make every link for reuse unknown."""
    assert digest("https://example.com").hex() == "8112b64f4d4dfb2814c42b5857d1c011"


pieces = st.sampled_from(
    [
        *"/ // /. /.. ? & = # % %2 %2f %C3 ; + ' \" \\ | ^ { } a A b é ß .".split(),
        *("utm_a", "utm_a=1", "gclid=", "a=", "a=1", " ", "\t"),
    ]
)


@given(
    st.sampled_from(["http://", "https://", "HTTP:"]),
    st.sampled_from(
        ["a.b", "A.B.", "a.b:80", "a.b:443", "bücher.example", 'a"b.c', "xn--a.b", "[2001:db8::A]"]
    ),
    st.one_of(st.text(max_size=30), st.lists(pieces, max_size=12).map("".join)),
)
def test_normalising_twice_changes_nothing(scheme: str, host: str, rest: str) -> None:
    """The normalised form is its own normalised form, and that of the serialisation too."""
    try:
        target = RULES.check(scheme + host + rest)
    except Refused:
        return
    normalized = normalize(target.location)
    assert normalize(normalized) == normalized
    assert normalize(target.original_url) == normalized


def test_every_real_url_has_a_normalised_form() -> None:
    """Real URLs keep their form when normalised twice."""
    file = Path(__file__).parents[3] / "shared" / "data" / "urls_real.txt"
    if not file.exists():
        pytest.skip(f"{file.parent} is missing: the public test cases are not part of the repository")
    for line in file.read_text().splitlines():
        normalized = normalize(RULES.check(line).location)
        assert normalize(normalized) == normalized
