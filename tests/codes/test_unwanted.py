"""Codes that are never given out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.codes.alphabet import ALPHABET
from laconic.codes.maker import FEW, MANY, CodeMaker
from laconic.codes.many import wanted_of
from laconic.codes.rules import RESERVED_WORDS
from laconic.codes.unwanted import BEGINNINGS, is_wanted
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


@pytest.mark.parametrize("prefix", ["", "x"])
def test_few_at_a_time_are_the_same_as_many(prefix: str) -> None:
    """Who makes a few hundred does it without arrays, and leaves out the same ones."""
    maker = CodeMaker(SECRET, 7, prefix=prefix)
    few = [code for start in range(0, 4 * MANY, FEW) for code in maker.make(range(start, start + FEW))]
    assert few == maker.make(range(4 * MANY))
    assert len(few) < 4 * MANY


_pieces = st.one_of(
    st.sampled_from(ALPHABET),
    st.sampled_from(sorted(BEGINNINGS)),
    st.sampled_from(sorted(word for word in RESERVED_WORDS if word.isalnum())),
    st.sampled_from(["Fuck", "sh1t", "n4Z1", "0", "O", "1", "l", "I"]),
)


@given(st.integers(3, 8), st.lists(st.lists(_pieces, min_size=8, max_size=8).map("".join), min_size=1))
def test_many_at_once_are_judged_as_one_is(length: int, texts: list[str]) -> None:
    """The quick look at a whole array lets nothing pass that the slow one at a code does not, and keeps the order."""
    codes = [text[:length] for text in texts]
    characters = np.frombuffer("".join(codes).encode(), np.uint8).reshape(len(codes), length)
    assert wanted_of(characters) == [code for code in codes if is_wanted(code)]
