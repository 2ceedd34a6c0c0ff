"""Regions never make the same code, on one database or on two, whenever they are added."""

import asyncio

import pytest

from laconic.codes.alphabet import ALPHABET
from laconic.codes.maker import CodeMaker
from laconic.errors import SettingInvalid
from laconic.settings import read_settings
from laconic.storage.database import Database
from tests.codes.works import SECRET, Works


def test_a_region_has_its_first_character() -> None:
    """All its codes begin with it, and have the length that was asked for."""
    codes = CodeMaker(SECRET, 7, region="eu", prefix="A").make(range(5_000))
    assert {(code[0], len(code)) for code in codes} == {("A", 7)}
    assert len(set(codes)) == len(codes)
    assert {code[1] for code in codes} == set(ALPHABET)


def test_regions_of_one_secret_scatter_differently() -> None:
    """Who sees the codes of one region learns nothing about those of another."""
    tails = [
        {code[1:] for code in CodeMaker(SECRET, 7, region=name, prefix=first).make(range(5_000))}
        for name, first in (("eu", "A"), ("us", "B"))
    ]
    assert not tails[0] & tails[1]


def test_p2_every_code_of_a_region_is_hit_once() -> None:
    """Exhaustively, for a short length."""
    maker = CodeMaker(SECRET, 3, region="eu", prefix="A")
    numbers = maker.permutation.map(range(maker.size))
    assert maker.size == 62**2
    assert sorted(numbers) == list(range(maker.size))


async def test_p2_two_regions_on_one_database(database: Database) -> None:
    """Each has a cursor, a pool and a first character of its own; neither takes from the other."""
    regions = [
        await Works.open(database, region=name, prefix=first, pool_min_size=500)
        for name, first in (("eu", "A"), ("us", "B"))
    ]
    for works in regions:
        await works.fill()
    taken = await asyncio.gather(*(works.allocator().take(2_000) for works in regions))
    assert [{code[0] for code in codes} for codes in taken] == [{"A"}, {"B"}]
    assert len({*taken[0], *taken[1]}) == 4_000
    assert [(state.region, state.code_length, state.prefix) for state in await regions[0].store.states()] == [
        ("eu", 7, "A"),
        ("us", 7, "B"),
    ]


async def test_p2_a_region_that_is_added_later_takes_longer_codes(database: Database) -> None:
    """The first installation had all codes of seven characters: nobody else may make any of them."""
    first = await Works.open(database)
    late = await Works.open(database, region="us", prefix="B")
    later = await Works.open(database, region="ap", prefix="C")
    assert [works.maker.length for works in (first, late, later)] == [7, 8, 8]
    assert (await Works.open(database, region="us", prefix="B")).maker.length == 8
    codes = [code for works in (first, late, later) for code in await works.allocator().take(1_000)]
    assert len(set(codes)) == 3_000


async def test_p2_a_region_that_changes_its_first_character_takes_longer_codes(database: Database) -> None:
    """And so does one whose first character was another's."""
    await Works.open(database, region="eu", prefix="A")
    assert (await Works.open(database, region="eu", prefix="B")).maker.length == 8
    assert (await Works.open(database, region="us", prefix="A")).maker.length == 8
    assert (await Works.open(database, region="us", prefix="C")).maker.length == 7


async def test_regions_that_start_at_once_do_not_meet(database: Database) -> None:
    """Two without a first character would share all codes: the second takes longer ones."""
    works = await asyncio.gather(*(Works.open(database, region=name) for name in ("a", "b", "c")))
    assert sorted(one.maker.length for one in works) == [7, 8, 9]


async def test_a_region_that_no_length_is_left_for_cannot_start(database: Database) -> None:
    """Twelve characters are the longest; it is told so, and shares nobody's codes."""
    assert (await Works.open(database, region="a", length=12)).maker.length == 12
    with pytest.raises(SettingInvalid, match="no code length free"):
        await Works.open(database, region="b", length=12)


@pytest.mark.parametrize(
    "text", ["eu", "eu=", "eu=AB", "eu=A,us=A", "eu=A,eu=B", "EU=A", "eu=-", "=A", "eu=é"]
)
def test_prefixes_that_cannot_be(text: str) -> None:
    """Each region once, each with one letter or digit of its own."""
    with pytest.raises(SettingInvalid, match="LACONIC_REGION_PREFIXES"):
        read_settings({"LACONIC_REGION_PREFIXES": text})


def test_prefixes_are_read() -> None:
    """In any spacing."""
    settings = read_settings({"LACONIC_REGION_PREFIXES": "eu=A, us = B"})
    assert settings.region_prefixes == (("eu", "A"), ("us", "B"))


@pytest.mark.parametrize("name", ["", "Eu", "e u", "-eu", "x" * 33])
def test_region_names_that_cannot_be(name: str) -> None:
    """A name goes into file names and keys."""
    with pytest.raises(SettingInvalid, match="LACONIC_REGION"):
        read_settings({"LACONIC_REGION": name})
