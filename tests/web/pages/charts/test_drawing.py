"""Numbers in, drawings out: whatever the numbers, the drawing is well-formed, finite and says no more than it should."""

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as some

from laconic.web.pages.charts.countries import country_name, tiles
from laconic.web.pages.charts.languages import language_name
from laconic.web.pages.charts.scale import SHADES, compact, percent, shades, ticks
from laconic.web.pages.charts.timeline import HEIGHT, Line, draw_timeline
from laconic.web.pages.charts.world import draw_world

_COUNTS = some.integers(min_value=0, max_value=10**24)
_SERIES = some.lists(_COUNTS, max_size=60)
# What XML cannot hold at all, in whatever spelling, never reaches a page: names of buckets are our own.
_TEXT = some.text(some.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="￾￿"))
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_PLACES = ("x", "y", "x1", "x2", "y1", "y2", "width", "height", "d", "viewBox")


def _parse(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)


def _numbers(drawing: str) -> list[float]:
    return [
        float(number)
        for element in _parse(drawing).iter()
        for name in _PLACES
        for number in _NUMBER.findall(element.get(name, ""))
    ]


def _timeline(values: list[int], *, times: list[str] | None = None, description: str = "") -> str:
    names = [str(place) for place in range(len(values))] if times is None else times
    lines = [Line("people", values, is_filled=True), Line("before", values[::-1])]
    return str(draw_timeline(lines, names, labelled_by="heading", description=description))


@given(_SERIES)
def test_a_timeline_of_any_numbers_stays_inside_its_frame(values: list[int]) -> None:
    """Empty, one point, all zeros, astronomic: every coordinate is finite and inside the drawing."""
    numbers = _numbers(_timeline(values))
    assert all(math.isfinite(number) and -10 <= number <= 1000 for number in numbers)
    paths = [element.get("d", "") for element in _parse(_timeline(values)).iter("path")]
    assert len(paths) == (3 if values else 0)


@given(_TEXT, _TEXT)
def test_texts_of_a_timeline_are_text_and_nothing_else(time: str, description: str) -> None:
    """A bucket's name or a description that looks like markup is shown, not obeyed."""
    drawing = _parse(_timeline([1, 2], times=[time, "b"], description=description))
    assert drawing.findtext("desc") == description
    assert time in [element.text or "" for element in drawing.iter("text")]
    tags = {element.tag for element in drawing.iter()}
    assert tags <= {"svg", "desc", "g", "line", "text", "path"}


def test_a_timeline_reaches_from_the_ground_to_its_top() -> None:
    """Nothing is at the plot's lower edge, a round number at its upper one."""
    path = next(element for element in _parse(_timeline([0, 100])).iter("path"))
    assert path.get("class") == "area people"
    ys = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path.get("d", ""))]
    assert min(ys) == 0
    assert max(ys) == ys[0] == ys[-1]
    assert max(ys) < HEIGHT


def test_no_drawing_has_a_style_of_its_own() -> None:
    """The Content-Security-Policy would refuse it."""
    assert "style" not in _timeline([1, 2, 3])
    assert "style" not in draw_world({"DE": 3}, labelled_by="heading", description="")


@given(some.dictionaries(some.sampled_from(sorted(tiles())), _COUNTS))
def test_the_map_shows_every_country_with_clicks(clicks: dict[str, int]) -> None:
    """And those without stay blank; every shade is one that has a colour."""
    drawing = _parse(draw_world(clicks, labelled_by="heading", description=""))
    names = {element.findtext("title", "").rpartition(":")[0] for element in drawing.iter("g")}
    assert names == {country_name(code) for code, number in clicks.items() if number}
    kinds = {element.get("class") for element in drawing.iter("g")}
    assert kinds <= {f"shade{shade}" for shade in range(1, SHADES + 1)}


@pytest.mark.parametrize("code", ["", "ZZ", "<b>", "A" * 1000, '"'])
def test_a_country_that_nobody_knows_is_left_off_the_map(code: str) -> None:
    """The list beside the map has it."""
    drawing = draw_world({code: 5}, labelled_by="heading", description="<script>alert(1)</script>")
    assert "<g" not in drawing
    assert "<script" not in drawing


def test_every_country_stands_somewhere_on_its_own() -> None:
    """No two countries share a tile, and only lands without people have none."""
    assert len(set(tiles().values())) == len(tiles()) == 245
    assert all(country_name(code) != code for code in tiles())
    assert tiles()["PT"].column < tiles()["DE"].column < tiles()["JP"].column
    assert tiles()["CA"].row < tiles()["MX"].row < tiles()["CL"].row


@given(_COUNTS)
def test_ticks_are_few_and_reach_the_largest_number(most: int) -> None:
    """Whole numbers, evenly apart, from nothing to at least the largest."""
    marks = ticks(most)
    assert marks[0] == 0
    assert marks[-1] >= max(most, 1)
    assert 2 <= len(marks) <= 6
    assert len({later - earlier for earlier, later in pairwise(marks)}) == 1


@given(some.lists(_COUNTS, min_size=1))
def test_more_clicks_are_never_lighter(values: list[int]) -> None:
    """Shades follow the order of the numbers; nothing is 0, the most the darkest."""
    found = dict(zip(values, shades(values), strict=True))
    ordered = [found[value] for value in sorted(found)]
    assert ordered == sorted(ordered)
    assert all((shade == 0) == (value == 0) for value, shade in found.items())
    assert ordered[-1] == (SHADES if any(values) else 0)


@given(_COUNTS, _COUNTS)
def test_a_share_is_between_nothing_and_all(part: int, whole: int) -> None:
    """Also where the numbers were counted a moment apart and do not fit."""
    assert 0 <= percent(part, whole) <= 100


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1k"),
        (1250, "1.2k"),
        (25_400, "25k"),
        (3_000_000, "3M"),
        (10**16, "10,000T"),
    ],
)
def test_an_axis_says_numbers_shortly(number: int, text: str) -> None:
    """At most a decimal, and none where it would be a nought."""
    assert compact(number) == text


def test_languages_have_names() -> None:
    """As people call them; one that is not listed keeps its code, and so does whatever a program has sent."""
    named = [language_name(code) for code in ("en", "DE", "nb", "tlh", "")]
    assert named == ["English", "German", "Norwegian Bokmål", "tlh", ""]
