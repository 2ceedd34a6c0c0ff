"""Which codes may be asked for, and which can be codes at all."""

import pytest

from laconic.codes.rules import OWN_PATHS, POSSIBLE_CODE, RESERVED_WORDS, CustomCodeRules, is_reserved
from laconic.errors import CodeRefused, SettingInvalid

DEFAULT = CustomCodeRules("^[a-zA-Z0-9]{4,8}$")


@pytest.mark.parametrize("code", ["abcd", "ABCD", "1234", "aB3dE6gH"])
def test_four_to_eight_letters_or_digits_are_allowed(code: str) -> None:
    """By the default pattern."""
    assert DEFAULT.refusal(code) is None
    DEFAULT.check(code)


@pytest.mark.parametrize(
    "code", ["", "abc", "abcdefghi", "abc-d", "abcd\n", "\nabcd", "abc d", "äbcd", "abcd\0", "１２３４"]
)
def test_other_shapes_are_refused(code: str) -> None:
    """The whole code must match: no line end, no digit of another script slips through."""
    with pytest.raises(CodeRefused) as refused:
        DEFAULT.check(code)
    assert refused.value.reason == "shape"


@pytest.mark.parametrize("word", ["admin", "ADMIN", "aDmIn", "health", "Stats", "login", "docs", "api"])
def test_reserved_words_are_refused_in_any_case(word: str) -> None:
    """Whatever the pattern allows."""
    assert CustomCodeRules("^[a-zA-Z0-9_-]{1,20}$").refusal(word) == "reserved"


@pytest.mark.parametrize("pattern", [".*", "[a-z/]+", "^.{1,99}$", r"\w+"])
def test_pattern_cannot_widen_what_can_be_stored(pattern: str) -> None:
    """At most 20 of [a-zA-Z0-9_-], whatever the settings say."""
    rules = CustomCodeRules(pattern)
    for code in ("a/b", "a.b", "ü", "a" * 21, "a b", "a+", "", "%61"):
        assert rules.refusal(code) == "shape"


def test_pattern_can_be_widened_to_what_the_design_allows() -> None:
    """One to twenty, with hyphen and underscore."""
    rules = CustomCodeRules("[a-zA-Z0-9_-]{1,20}")
    for code in ("x", "a-b_c", "_", "-", "a" * 20):
        assert rules.refusal(code) is None


def test_pattern_that_is_none_stops_the_start() -> None:
    """With the setting's name."""
    with pytest.raises(SettingInvalid, match="LACONIC_CUSTOM_CODE_PATTERN"):
        CustomCodeRules("[a-z")


def test_every_own_path_is_reserved() -> None:
    """A code can never stand in the way of a page: the router and the rule read the same constant."""
    assert {path for path in OWN_PATHS if path} <= RESERVED_WORDS
    assert all(is_reserved(word.upper()) for word in RESERVED_WORDS)
    assert all(word == word.lower() for word in RESERVED_WORDS)


def test_possible_codes_are_wider_than_any_setting() -> None:
    """A link made under older settings goes on working."""
    for code in ("a", "A-_9", "x" * 64):
        assert POSSIBLE_CODE.fullmatch(code)
    for code in ("", "x" * 65, "a.b", "ä", "a\n"):
        assert not POSSIBLE_CODE.fullmatch(code)
