"""The map of countries: a square for each, darker where more clicks came from."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from markupsafe import Markup

from laconic.web.pages.charts.countries import Tile, country_name, tiles
from laconic.web.pages.charts.scale import percent, shades

_SIDE: Final = 24  # from one tile to the next
_TILE: Final = 18  # the square itself; its edge is drawn around it, 4 wide, with round corners


@cache
def _size() -> tuple[int, int]:
    places = tiles().values()
    return (
        (max(tile.column for tile in places) + 1) * _SIDE,
        (max(tile.row for tile in places) + 1) * _SIDE,
    )


@cache
def _blank() -> str:
    """All tiles as one path: what the coloured ones lie upon."""
    return "".join(
        "M{} {}h{side}v{side}h-{side}z".format(*_corner(tile), side=_TILE) for tile in tiles().values()
    )


def _corner(tile: Tile) -> tuple[int, int]:
    edge = (_SIDE - _TILE) // 2
    return tile.column * _SIDE + edge, tile.row * _SIDE + edge


def draw_world(clicks: Mapping[str, int], *, labelled_by: str, description: str) -> Markup:
    """`clicks` by country code. What has no tile is left out: it belongs into the list beside the map."""
    shown = {code: number for code, number in clicks.items() if number > 0 and code in tiles()}
    whole = sum(number for number in clicks.values() if number > 0)
    drawn = Markup("").join(
        _country(code, number, shade, whole)
        for (code, number), shade in zip(shown.items(), shades(list(shown.values())), strict=True)
    )
    width, height = _size()
    return Markup(
        '<svg class="world" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-labelledby="{by}">'
        '<desc>{desc}</desc><path class="shade0" d="{blank}"/>{drawn}</svg>'
    ).format(w=width, h=height, by=labelled_by, desc=description, blank=_blank(), drawn=drawn)


def _country(code: str, number: int, shade: int, whole: int) -> Markup:
    x, y = _corner(tiles()[code])
    return Markup(
        '<g class="shade{shade}"><title>{name}: {number}, {share:g} %</title>'
        '<rect x="{x}" y="{y}" width="{side}" height="{side}"/><text x="{middle}" y="{base}">{code}</text></g>'
    ).format(
        shade=shade,
        name=country_name(code),
        number=f"{number:,}",
        share=percent(number, whole),
        x=x,
        y=y,
        side=_TILE,
        middle=x + _TILE // 2,
        base=y + _TILE // 2 + 3,
        code=code,
    )
