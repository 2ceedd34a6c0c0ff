"""Counter in, code number out: no number twice, none left out, no pattern to follow."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.codes.alphabet import BASE, encode
from laconic.codes.permutation import SECRET_BYTES, Permutation

SECRET = bytes(range(SECRET_BYTES))
secrets = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_p2_every_number_is_hit_exactly_once(length: int) -> None:
    """Exhaustively for short codes, whose halves are as uneven as they can be."""
    permutation = Permutation(SECRET, length)
    assert sorted(permutation.map(range(permutation.size))) == list(range(BASE**length))


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_with_arrays_and_without_it_is_the_same(length: int) -> None:
    """Which way a code was made cannot be told from it: two ways would make one code of two counters."""
    permutation = Permutation(SECRET, length)
    counters = range(0, permutation.size, permutation.size // 60)
    highs, lows = permutation.halves(counters)
    low = BASE ** (length // 2)
    assert permutation.map(counters) == [
        int(high) * low + int(n) for high, n in zip(highs, lows, strict=True)
    ]


@given(
    secrets,
    st.integers(1, 8).flatmap(lambda length: st.tuples(st.just(length), st.integers(0, BASE**length - 1))),
)
def test_invert_undoes_it(secret: bytes, case: tuple[int, int]) -> None:
    """For any secret and length; what can be inverted never maps two counters to one number."""
    length, counter = case
    permutation = Permutation(secret, length)
    number = permutation(counter)
    assert 0 <= number < permutation.size
    assert permutation.invert(number) == counter
    assert permutation(permutation.invert(counter)) == counter


def test_codes_in_a_row_look_unrelated() -> None:
    """Each place of the code takes every character about equally often, and neighbours share no more than chance."""
    permutation = Permutation(SECRET, 7)
    codes = [encode(number, 7) for number in permutation.map(range(20_000))]
    assert len(set(codes)) == len(codes)
    for place in range(7):
        counts = [0] * 128
        for code in codes:
            counts[ord(code[place])] += 1
        used = [count for count in counts if count]
        # 323 on average; twenty standard deviations are 360.
        assert len(used) == 62
        assert max(used) < 700
    same = sum(a == b for pair in pairwise(codes) for a, b in zip(*pair, strict=True))
    # One in 62 by chance: 2,258.
    assert 1_800 < same < 2_800
    steps = [after - before for before, after in pairwise(permutation.map(range(1_000)))]
    assert len(set(steps)) == len(steps)


def test_secret_and_length_decide() -> None:
    """Another installation makes other codes, and so does another length."""
    first = Permutation(SECRET, 7).map(range(100))
    assert first == Permutation(SECRET, 7).map(range(100))
    assert not set(first) & set(Permutation(bytes(SECRET_BYTES), 7).map(range(100)))
    shorter = [encode(number, 6) for number in Permutation(SECRET, 6).map(range(100))]
    assert not {encode(number, 7)[:6] for number in first} & set(shorter)


def test_codes_of_an_installation_never_change() -> None:
    """A release that permuted otherwise would make codes that were given before: these were, by the first one."""
    codes = [encode(number, 7) for number in Permutation(SECRET, 7).map(range(4))]
    assert codes == ["jSRxXoa", "w0NtwxB", "IYRU8x7", "ZNz8M96"]


@pytest.mark.parametrize("counter", [-1, 62**7, 62**9])
def test_counter_outside_is_refused(counter: int) -> None:
    """It would wrap around to a code that was given before."""
    with pytest.raises(ValueError, match="outside"):
        Permutation(SECRET, 7)(counter)


def test_short_secret_is_refused() -> None:
    """A weak key would make codes that can be guessed."""
    with pytest.raises(ValueError, match="32 bytes"):
        Permutation(b"short", 7)


@pytest.mark.parametrize("length", [0, 16, 31, 33, 64])
def test_a_secret_of_another_length_is_refused(length: int) -> None:
    """AES would take some of them, and make other codes of the same counters."""
    with pytest.raises(ValueError, match="the secret has 32 bytes"):
        Permutation(bytes(length), 7)
