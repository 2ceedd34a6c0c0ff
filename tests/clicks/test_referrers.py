"""Which page sent a visitor."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laconic.clicks import referrers as referrers_module
from laconic.clicks.referrers import DIRECT, Referrer, Referrers


@pytest.mark.parametrize(
    ("header", "text", "host"),
    [
        ("https://example.com/", "https://example.com/", "example.com"),
        ("https://www.Example.com/a?b=c", "https://www.example.com/a?b=c", "example.com"),
        ("HTTPS://m.example.com:8443/A", "https://m.example.com:8443/A", "m.example.com"),
        ("https://user:secret@example.com/x#top", "https://example.com/x", "example.com"),
        ("https://user:se@cret@example.com", "https://example.com", "example.com"),
        ("http://example.com?q=a@b#c", "http://example.com?q=a@b", "example.com"),
        ("https://example.com./", "https://example.com/", "example.com"),
        ("https://192.0.2.7/x", "https://192.0.2.7/x", "192.0.2.7"),
        ("http://[2001:db8::1]:80/x", "http://[2001:db8::1]:80/x", "[2001:db8::1]"),
        (
            "android-app://com.google.android.gm/",
            "android-app://com.google.android.gm/",
            "com.google.android.gm",
        ),
        ("https://bücher.example/ä", "https://bücher.example/ä", "bücher.example"),
        ("https://www.de/", "https://www.de/", "de"),
    ],
)
def test_what_is_kept(header: str, text: str, host: str) -> None:
    """The page without password and fragment; its host in small letters, without port and "www."."""
    assert Referrers()[header.encode()] == Referrer(text, host)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"-",
        b"example.com",
        b"about:blank",
        b"javascript:alert(1)",
        b"file:///etc/passwd",
        b"https://",
        b"https:///x",
        b"https://a b/",
        b"https://<script>/",
        b"https://" + b"a" * 300 + b"/",
        b"https://[zz]/",
    ],
)
def test_what_is_no_page(header: bytes) -> None:
    """Counted as direct, and nothing of it is kept."""
    assert Referrers()[header] == DIRECT


def test_length_is_bounded() -> None:
    """A long address is cut; its host is whole."""
    referrer = Referrers()[b"https://example.com/" + b"a" * 2000]
    assert referrer.host == "example.com"
    assert referrer.text == "https://example.com/" + "a" * 1004


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pages come, only so many are remembered."""
    monkeypatch.setattr(referrers_module, "_MOST_REFERRERS", 3)
    referrers = Referrers()
    for number in range(8):
        assert referrers[f"https://example.com/{number}".encode()].text == f"https://example.com/{number}"
    assert len(referrers) <= 3


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: f"https://{text}".encode()))
@example(b"https://" + b"@" * 2000)
@example(b"https://" + b"a@" * 1000 + b"/")
def test_no_bytes_are_too_strange(header: bytes) -> None:
    """Whatever is sent, what is kept can be stored, and holds neither password nor fragment."""
    text, host = Referrers()[header]
    assert (text is None) == (host == "")
    assert "\0" not in (text or "")
    assert "#" not in (text or "")
    assert host == host.lower()
    assert len(host) <= 253
    assert "@" not in (text or "").partition("://")[2].partition("/")[0].partition("?")[0]
