"""Codes that are never given out."""

import pytest

from laconic.codes.maker import CodeMaker
from laconic.codes.unwanted import is_wanted
from tests.codes.works import SECRET


@pytest.mark.parametrize("code", ["aFuckb3", "xxSHITx", "sh1tABC", "5h1tABC", "n4z1abc", "abPORNc"])
def test_words_nobody_wants(code: str) -> None:
    """In any letter case, inside other characters, and with digits for letters."""
    assert not is_wanted(code)


@pytest.mark.parametrize("code", ["a0bOcde", "Oabcde0", "1abcdel", "Iabc1de", "lxbxyyI"])
def test_look_alikes_in_one_code(code: str) -> None:
    """Whoever types it from paper could not tell which is which."""
    assert not is_wanted(code)


@pytest.mark.parametrize("code", ["abcdefg", "0a0b0c0", "OaObOcO", "1a1b1c1", "support1", "Zq8rT2w"])
def test_others_are_fine(code: str) -> None:
    """One of a kind is no trap: whoever errs finds out by trying the other."""
    assert is_wanted(code)


@pytest.mark.parametrize("code", ["support", "SUPPORT", "reports"])
def test_reserved_words(code: str) -> None:
    """Nor a word that people expect a page behind."""
    assert not is_wanted(code)


def test_few_are_left_out() -> None:
    """The filter costs some codes in a hundred, not half of them."""
    made = CodeMaker(SECRET, 7).make(range(20_000))
    assert 18_500 < len(made) < 19_600
