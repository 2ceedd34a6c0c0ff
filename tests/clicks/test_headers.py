"""The language that a visitor prefers."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from laconic.clicks import headers
from laconic.clicks.headers import Languages


@pytest.mark.parametrize(
    ("header", "language"),
    [
        (b"de", "de"),
        (b"de-AT,de;q=0.9,en;q=0.8", "de"),
        (b"EN-us", "en"),
        (b"pt_BR", "pt"),
        (b"en;q=0.5, fr;q=0.9", "fr"),
        (b"en;q=0.9, fr;q=0.9", "en"),
        (b"en;q=0, fr;q=0.1", "fr"),
        (b"en;q=0", ""),
        (b"*", ""),
        (b"*;q=0.9, yue-HK;q=0.5", "yue"),
        (b"en ; Q=0.3 , da", "da"),
        (b"zh-Hant-TW", "zh"),
        (b"i-klingon, de;q=0.1", "de"),
        (b"", ""),
        (b",,;q=1,", ""),
        (b"en;q=nan, de;q=2, fr;q=x, es;level=1, it;q=-1, nl;q=0.1", "nl"),
        (b"C", ""),
        ("ü-DE".encode(), ""),
        (b"english", ""),
    ],
)
def test_first_language(header: bytes, language: str) -> None:
    """The best one by quality, the first of equals, without its region; nothing of what is no language."""
    assert Languages()[header] == language


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many headers come, only so many are remembered."""
    monkeypatch.setattr(headers, "_MOST_LANGUAGES", 3)
    languages = Languages()
    assert [languages[f"de;q=0.{number}".encode()] for number in range(1, 9)] == ["de"] * 8
    assert len(languages) <= 3


@given(st.binary(max_size=128) | st.text("denq;=,.-0123456789 *", max_size=60).map(str.encode))
@example(b"de;q=1e400")
@example(b"de;q=" + b"9" * 100)
def test_no_bytes_are_too_strange(header: bytes) -> None:
    """Two or three small letters, or nothing."""
    language = Languages()[header]
    assert language == "" or (language.isascii() and language.islower() and len(language) in (2, 3))
