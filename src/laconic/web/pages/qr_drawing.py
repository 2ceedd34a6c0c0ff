"""QR codes as SVG and PNG. segno encodes; the pictures are drawn here, exactly as large as asked for.

Finding the best mask takes 5 to 8 ms: drawing is done in threads, few at a time, and the last pictures are kept.
"""

import asyncio
import base64
import struct
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import segno

from laconic.errors import ChoiceRefused, Unavailable

_AT_ONCE = 2
# More than these would wait longer than people do.
_MOST_WAITING = 50
_MOST_KEPT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class QrStyle:
    """`size` in pixels, `margin` in modules (the standard asks for 4); `light` None is transparent."""

    size: int = 320
    margin: int = 4
    dark: str = "#000000"
    light: str | None = "#ffffff"
    error: str = "m"


Draw = Callable[[str, QrStyle], bytes]
Matrix = tuple[bytes, ...]


@lru_cache(maxsize=512)
def _encode(text: str, error: str) -> Matrix:
    """Rows of modules, 1 for dark, without margin. `error` is the least: a higher level that fits is taken."""
    return tuple(bytes(row) for row in segno.make_qr(text, error=error).matrix)


def draw_svg(text: str, style: QrStyle) -> bytes:
    matrix = _encode(text, style.error)
    side = len(matrix) + 2 * style.margin
    path = "".join(
        f"M{start + style.margin} {y + style.margin}h{length}v1h-{length}z"
        for y, row in enumerate(matrix)
        for start, length in _runs(row)
    )
    ground = f'<path fill="{style.light}" d="M0 0h{side}v{side}H0z"/>' if style.light else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{style.size}" height="{style.size}"'
        f' viewBox="0 0 {side} {side}" shape-rendering="crispEdges">'
        f'{ground}<path fill="{style.dark}" d="{path}"/></svg>'
    ).encode()


def _runs(row: bytes) -> Iterator[tuple[int, int]]:
    """Where dark modules that touch begin, and how many they are."""
    start = 0
    while (start := row.find(1, start)) >= 0:
        end = row.find(0, start)
        end = len(row) if end < 0 else end
        yield start, end - start
        start = end


def draw_png(text: str, style: QrStyle) -> bytes:
    """Two colours, one bit a pixel. Modules are whole pixels; what is left over widens the margin."""
    matrix = _encode(text, style.error)
    scale = style.size // (len(matrix) + 2 * style.margin)
    if scale < 1:
        raise ChoiceRefused(
            "size", f"The size must be {len(matrix) + 2 * style.margin} or more for this code."
        )
    before = (style.size - scale * len(matrix)) // 2
    blank = _pack("0" * style.size)
    rows = [blank] * before
    for row in matrix:
        bits = "".join(("1" if module else "0") * scale for module in row)
        rows += [_pack(("0" * before + bits).ljust(style.size, "0"))] * scale
    rows += [blank] * (style.size - len(rows))
    palette = bytes.fromhex((style.light or "#ffffff")[1:] + style.dark[1:])
    # PNG, third edition, sections 11.2 and 11.3: a depth of 1 bit, colour type 3 (palette).
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", struct.pack(">IIBBBBB", style.size, style.size, 1, 3, 0, 0, 0)),
            _chunk(b"PLTE", palette),
            _chunk(b"tRNS", b"\x00") if style.light is None else b"",
            _chunk(b"IDAT", zlib.compress(b"".join(rows), 6)),
            _chunk(b"IEND", b""),
        )
    )


def _pack(bits: str) -> bytes:
    """A row: filter 0, then eight pixels a byte."""
    width = -(-len(bits) // 8)
    return b"\x00" + int(bits.ljust(width * 8, "0"), 2).to_bytes(width, "big")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def data_uri(svg: bytes) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()


class QrPainter:
    """Draws off the loop, few at a time, and remembers the last pictures."""

    def __init__(self) -> None:
        self._turn = asyncio.Semaphore(_AT_ONCE)
        self._waiting = 0
        self._kept: OrderedDict[tuple[Draw, str, QrStyle], bytes] = OrderedDict()
        self._kept_bytes = 0

    async def paint(self, draw: Draw, text: str, style: QrStyle) -> bytes:
        key = (draw, text, style)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if self._waiting >= _MOST_WAITING:
            raise Unavailable("Too many pictures are being drawn at this moment.")
        self._waiting += 1
        try:
            async with self._turn:
                picture = await asyncio.to_thread(draw, text, style)
        finally:
            self._waiting -= 1
        self._keep(key, picture)
        return picture

    def _keep(self, key: tuple[Draw, str, QrStyle], picture: bytes) -> None:
        self._kept_bytes += len(picture) - len(self._kept.get(key, b""))
        self._kept[key] = picture
        while self._kept_bytes > _MOST_KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popitem(last=False)[1])

    async def inline_svg(self, text: str) -> str | None:
        """For a page, which goes on without it when too many want one."""
        try:
            return data_uri(await self.paint(draw_svg, text, QrStyle()))
        except Unavailable:
            return None
