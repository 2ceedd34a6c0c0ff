"""Clicks over time, as a drawing that is right at any width.

Its height is fixed and its width that of the page, so nothing moves when it appears. Lines are stretched to the
width, texts are not: they stand at percentages. No style is written into it, only classes: the
Content-Security-Policy allows no other. A table of the same numbers belongs beside it, for those who cannot see it and
for the script that shows a number under the pointer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from laconic.web.pages.charts.scale import compact, ticks

# Pixels.
HEIGHT: Final = 260
LOW: Final = 150
_TOP, _BOTTOM = 18, 26  # for the uppermost number and for the times
# Units across, whatever the pixels are.
_ACROSS: Final = 1000
_MOST_TIMES: Final = 7


@dataclass(frozen=True, slots=True)
class Line:
    """`kind` is the class by which it is styled; only a filled one has an area below it.

    The last bucket of an open one is not over yet: the way there is drawn apart, so that a day that has just begun does
    not look like a fall.
    """

    kind: str
    values: Sequence[int]
    is_filled: bool = False
    is_open: bool = False


def draw_timeline(
    lines: Sequence[Line], times: Sequence[str], *, labelled_by: str, description: str, height: int = HEIGHT
) -> Markup:
    """`times` are the short names of the buckets; a line may be shorter or longer than they are, and is cut."""
    marks = ticks(max((value for line in lines for value in line.values), default=0))
    plot = height - _TOP - _BOTTOM
    parts = [_grid(marks, plot), _plot(lines, len(times), marks[-1], plot), _times(times, height - 6)]
    return Markup(
        '<svg class="timeline" width="100%" height="{}" role="img" aria-labelledby="{}"><desc>{}</desc>{}</svg>'
    ).format(height, labelled_by, description, Markup("").join(parts))


def _y(value: int, top: int, plot: int) -> float:
    """Pixels from the upper edge of the plot."""
    return plot - min(max(value, 0), top) * (plot * 10) // top / 10


def _x(place: int, places: int) -> float:
    return (2 * place + 1) * _ACROSS * 10 // (2 * places) / 10


def _grid(marks: Sequence[int], plot: int) -> Markup:
    line = Markup('<line x1="0" x2="100%" y1="{y}" y2="{y}"/><text x="0" y="{above}">{number}</text>')
    drawn = (
        line.format(y=_TOP + y, above=_TOP + y - 5, number=compact(mark))
        for mark, y in ((mark, _y(mark, marks[-1], plot)) for mark in marks)
    )
    return Markup('<g class="grid">{}</g>').format(Markup("").join(drawn))


def _plot(lines: Sequence[Line], places: int, top: int, plot: int) -> Markup:
    drawn = Markup("").join(_line(line, places, top, plot) for line in lines)
    return Markup(
        '<svg y="{}" width="100%" height="{}" viewBox="0 0 {} {}" preserveAspectRatio="none">{}</svg>'
    ).format(_TOP, plot, _ACROSS, plot, drawn)


def _line(line: Line, places: int, top: int, plot: int) -> Markup:
    points = [
        (_x(place, places), _y(value, top, plot)) for place, value in enumerate(line.values) if place < places
    ]
    if not points:
        return Markup("")
    if len(points) == 1:
        # One moment has no course: its height, over the whole width.
        points = [(0.0, points[0][1]), (float(_ACROSS), points[0][1])]
    area = f"{_path(points)}L{points[-1][0]:g} {plot}L{points[0][0]:g} {plot}Z" if line.is_filled else ""
    filled = Markup('<path class="area {}" d="{}"/>').format(line.kind, area) if area else Markup("")
    stroke = Markup('<path class="line {}" d="{}"/>').format
    if line.is_open and len(points) > 2:
        last = stroke(f"{line.kind} open", _path(points[-2:]))
        return filled + stroke(line.kind, _path(points[:-1])) + last
    return filled + stroke(line.kind, _path(points))


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in points)


def _times(times: Sequence[str], y: int) -> Markup:
    """A few of them, the first and the last included; every other one only where there is room."""
    places = len(times)
    every = max(-(-(places - 1) // (_MOST_TIMES - 1)), 1)
    chosen = range((places - 1) % every // 2, places, every)
    text = Markup('<text class="{kind}" x="{x:g}%" y="{y}">{time}</text>')
    drawn = (
        text.format(
            kind="when also" if number % 2 else "when",
            x=round(_x(place, places) * 100 / _ACROSS, 2),
            y=y,
            time=times[place],
        )
        for number, place in enumerate(chosen)
    )
    return Markup('<g class="times">{}</g>').format(Markup("").join(drawn))
