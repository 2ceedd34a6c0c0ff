"""A cost against a size, as a small SVG that needs no script and no font of its own.

Sizes by powers of ten to the right, the cost from 0 upwards: a law that holds shows as a shape, flat for what does not
grow, a straight slope for what grows with the logarithm.
"""

import math
from collections.abc import Mapping
from html import escape

from bench.report import number

_WIDTH, _HEIGHT = 640, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 34, 44
_ROUND = (1, 2, 5)
_STYLE = (
    "text{font:12px sans-serif;fill:#57606a}.title{font-weight:bold;fill:#24292f}"
    "line{stroke:#d0d7de}polyline{fill:none;stroke:#0969da;stroke-width:2}circle{fill:#0969da}"
    "rect{fill:#ffffff}"
)


def draw(title: str, of: str, unit: str, points: Mapping[int, float]) -> str:
    """Points are joined in the order of their sizes; each says its value."""
    sizes = sorted(points)
    first, last = math.floor(math.log10(sizes[0])), math.ceil(math.log10(sizes[-1]))
    last = max(last, first + 1)
    step = _step(max(points.values()))
    top = step * max(1, math.ceil(max(points.values()) / step))

    def x(size: float) -> float:
        share = (math.log10(size) - first) / (last - first)
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(cost: float) -> float:
        return round(_HEIGHT - _BOTTOM - cost / top * (_HEIGHT - _TOP - _BOTTOM), 1)

    parts = [f'<text class="title" x="{_LEFT}" y="18">{escape(title)}, {escape(unit)}</text>']
    for place in range(round(top / step) + 1):
        at = y(place * step)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4}" text-anchor="end">{number(place * step)}</text>')
    parts += [
        f'<text x="{x(10**power)}" y="{_HEIGHT - 24}" text-anchor="middle">{_short(10**power)}</text>'
        for power in range(first, last + 1)
    ]
    parts.append(
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(of)}</text>'
    )
    joined = " ".join(f"{x(size)},{y(points[size])}" for size in sizes)
    parts.append(f'<polyline points="{joined}"/>')
    for size in sizes:
        across, down = x(size), y(points[size])
        parts.append(f'<circle cx="{across}" cy="{down}" r="3.5"/>')
        parts.append(f'<text x="{across}" y="{down - 8}" text-anchor="middle">{number(points[size])}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style>"
        f'<rect width="{_WIDTH}" height="{_HEIGHT}"/>{"".join(parts)}</svg>\n'
    )


def _step(most: float) -> float:
    """A round number of which about four make the axis."""
    wanted = most / 4 or 1.0
    power = 10.0 ** math.floor(math.log10(wanted))
    return next((digit * power for digit in _ROUND if digit * power >= wanted), 10 * power)


def _short(size: int) -> str:
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if size >= unit:
            return f"{size // unit}{name}"
    return str(size)
