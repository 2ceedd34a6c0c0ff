"""Rules for a link's small fields, and for when it expires."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.clock import DAY, HOUR, LAST_MOMENT, SECOND
from laconic.errors import ChoiceRefused
from laconic.links.fields import check_status, check_text, check_texts, metadata_text
from laconic.links.model import LARGEST_METADATA_BYTES, LinkDraft, check_expiry, expiry_of

NOW = 1_800_000_000 * SECOND

values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text("abé😀", max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc", max_size=5), values, max_size=4))
def test_p10_metadata_text_is_what_was_given(metadata: dict[str, Any]) -> None:
    """Reading it again gives the same values."""
    assert json.loads(metadata_text(metadata)) == metadata


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": float("nan")},
        {"a": [float("inf")]},
        {"a": "\0"},
        {"a\0": 1},
        {"a": ["x", {"b": "\ud800"}]},
        {"\udfff": 1},
        {"a": "x" * LARGEST_METADATA_BYTES},
        {"a": "ü" * (LARGEST_METADATA_BYTES // 2)},
        {"a": 10**5000},
    ],
)
def test_p10_metadata_that_cannot_be_kept_is_refused(metadata: dict[str, Any]) -> None:
    """What no engine can store and give back unchanged, and what is too large."""
    with pytest.raises(ChoiceRefused) as refused:
        metadata_text(metadata)
    assert refused.value.field == "metadata"


def test_metadata_has_a_depth() -> None:
    """Sixteen levels."""
    nested: Any = 1
    for _ in range(15):
        nested = {"a": nested}
    assert json.loads(metadata_text(nested)) == nested
    with pytest.raises(ChoiceRefused):
        metadata_text({"a": nested})


@given(st.text(max_size=100))
def test_p10_text_is_kept_or_refused(text: str) -> None:
    """Refused is what holds U+0000 or half of a surrogate pair, and nothing else."""
    is_sound = "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
    try:
        check_text("title", text)
    except ChoiceRefused:
        assert not is_sound
    else:
        assert is_sound


def test_texts_have_lengths() -> None:
    """In characters, not bytes."""
    check_texts("😀" * 500, "ü" * 5_000)
    check_texts(None, None)
    for title, description, field in (("x" * 501, None, "title"), (None, "x" * 5_001, "description")):
        with pytest.raises(ChoiceRefused) as refused:
            check_texts(title, description)
        assert refused.value.field == field


@pytest.mark.parametrize("status", [200, 300, 303, 304, 305, 306, 309, 0, -301, 10**30])
def test_status_is_one_of_four(status: int) -> None:
    """301, 302, 307 and 308 send a visitor on as a link does."""
    with pytest.raises(ChoiceRefused):
        check_status(status)
    for good in (301, 302, 307, 308):
        check_status(good)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"expires_in_hours": 1}, NOW + HOUR),
        ({"expires_in_hours": 8_760}, NOW + 365 * DAY),
        ({"expires_in_seconds": 1}, NOW + SECOND),
        ({"expires_in_seconds": 10**12}, NOW + 36_500 * DAY),
        ({"expires_at": NOW + 1}, NOW + 1),
        ({"expires_at": LAST_MOMENT}, LAST_MOMENT),
    ],
)
def test_expiry_in_three_ways(fields: dict[str, Any], expected: int | None) -> None:
    """Hours, seconds or a moment; a century is as good as for ever."""
    assert expiry_of(LinkDraft("https://a.com", **fields), NOW) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"expires_at": NOW},
        {"expires_at": NOW - 1},
        {"expires_at": LAST_MOMENT + 1},
        {"expires_in_hours": 1, "expires_in_seconds": 1},
        {"expires_in_hours": 1, "expires_at": NOW + 1},
        {"expires_in_seconds": 1, "expires_at": NOW + 1},
        {"expires_in_hours": 1, "expires_in_seconds": 1, "expires_at": NOW + 1},
    ],
)
def test_expiry_that_cannot_be_is_refused(fields: dict[str, Any]) -> None:
    """Not in the future, past the end of time, or said twice."""
    with pytest.raises(ChoiceRefused):
        expiry_of(LinkDraft("https://a.com", **fields), NOW)


def test_new_expiry_lies_ahead() -> None:
    """For edits too."""
    check_expiry(NOW + 1, NOW)
    with pytest.raises(ChoiceRefused):
        check_expiry(NOW, NOW)
