"""Numbers as codes and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.codes.alphabet import ALPHABET, BASE, decode, encode


@given(
    st.integers(1, 12).flatmap(lambda length: st.tuples(st.just(length), st.integers(0, BASE**length - 1)))
)
def test_decode_undoes_encode(case: tuple[int, int]) -> None:
    """Every number that fits has one code of that length."""
    length, number = case
    code = encode(number, length)
    assert len(code) == length
    assert set(code) <= set(ALPHABET)
    assert decode(code) == number


@pytest.mark.parametrize("length", [1, 2])
def test_every_code_stands_for_one_number(length: int) -> None:
    """Exhaustively where that is possible, in the order of the alphabet."""
    codes = [encode(number, length) for number in range(BASE**length)]
    assert codes == sorted(codes)
    assert len(set(codes)) == BASE**length


def test_alphabet_is_62_letters_and_digits() -> None:
    """Each once, in the order of their bytes."""
    assert len(ALPHABET) == 62
    assert ALPHABET.isalnum()
    assert list(ALPHABET) == sorted(set(ALPHABET))


@pytest.mark.parametrize(("number", "length"), [(BASE, 1), (BASE**2, 2), (BASE**7, 7), (BASE**8 + 5, 8)])
def test_number_that_does_not_fit_is_refused(number: int, length: int) -> None:
    """Rather than cut: two numbers would share a code."""
    with pytest.raises(ValueError, match="does not fit"):
        encode(number, length)
