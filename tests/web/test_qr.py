"""/api/v1/urls/{code}/qr: pictures of short URLs."""

import asyncio
import re
import struct
import zlib

import httpx
import pytest
import segno

from tests.web.site import BASE_URL, Site


def modules_of(png: bytes) -> tuple[int, list[str]]:
    """Width and rows of a one-bit picture, 1 for dark."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, colour = struct.unpack(">IIBB", png[16:26])
    assert (width, depth, colour) == (height, 1, 3)
    start = png.index(b"IDAT") + 4
    (length,) = struct.unpack(">I", png[start - 8 : start - 4])
    raw = zlib.decompress(png[start : start + length])
    stride = 1 + (width + 7) // 8
    rows = [raw[offset + 1 : offset + stride] for offset in range(0, len(raw), stride)]
    return width, ["".join(f"{byte:08b}" for byte in row)[:width] for row in rows]


async def test_png_shows_the_short_url(site: Site) -> None:
    """Every module of the picture is the one that the short URL's code has, at exactly the size asked for."""
    code = await site.make_link()
    answer = await site.client.get(f"/api/v1/urls/{code}/qr?format=png&size=300&margin=2&error=q")
    assert answer.headers["content-type"] == "image/png"
    expected = [list(row) for row in segno.make_qr(f"{BASE_URL}/{code}", error="q").matrix]
    width, rows = modules_of(answer.content)
    assert (width, len(rows)) == (300, 300)
    scale = 300 // (len(expected) + 4)
    first = (300 - scale * len(expected)) // 2
    seen = [
        [int(rows[first + y * scale][first + x * scale]) for x in range(len(expected))]
        for y in range(len(expected))
    ]
    assert seen == expected
    assert sum(row.count("1") for row in rows) == scale * scale * sum(map(sum, expected))


async def test_svg_shows_the_short_url(site: Site) -> None:
    """The SVG's path covers as many modules as the code has dark ones, in the colours asked for."""
    code = await site.make_link()
    answer = await site.client.get(f"/api/v1/urls/{code}/qr?size=500&margin=0&dark=1a2b3c&light=%23FFE")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert 'width="500" height="500"' in answer.text
    assert 'fill="#1a2b3c"' in answer.text
    assert 'fill="#ffffee"' in answer.text
    matrix = segno.make_qr(f"{BASE_URL}/{code}", error="m").matrix
    assert f'viewBox="0 0 {len(matrix)} {len(matrix)}"' in answer.text
    runs = re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", answer.text)
    seen = {(int(x) + step, int(y)) for x, y, length in runs for step in range(int(length))}
    assert seen == {(x, y) for y, row in enumerate(matrix) for x, dark in enumerate(row) if dark}


async def test_light_may_be_transparent(site: Site) -> None:
    """No ground in the SVG, a transparent first colour in the PNG."""
    code = await site.make_link()
    svg = await site.client.get(f"/api/v1/urls/{code}/qr?light=transparent")
    assert svg.text.count("fill=") == 1
    png = await site.client.get(f"/api/v1/urls/{code}/qr?format=png&light=transparent")
    assert b"tRNS\0" in png.content


@pytest.mark.parametrize(
    "query",
    [
        "format=gif",
        "size=31",
        "size=2049",
        "size=9999999999",
        "size=ten",
        "size=",
        "margin=-1",
        "margin=17",
        "dark=red",
        "dark=12345",
        "dark=%23",
        "dark=000000%0A",
        "dark=transparent",
        "light=%22%3E%3Cscript%3E",
        "error=x",
        "error=",
        "dark=fff",
        "format=png&size=32&margin=4",
    ],
)
async def test_bad_values_are_named(site: Site, query: str) -> None:
    """422 with the field at fault, for values out of bounds and for codes that nobody could read."""
    code = await site.make_link()
    answer = await site.client.get(f"/api/v1/urls/{code}/qr?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    fields = {pair.partition("=")[0] for pair in query.split("&")} | {"light"}
    assert answer.json()["errors"][0]["field"] in fields


async def test_follows_the_link(site: Site) -> None:
    """Unknown is 404, deleted 410, malformed 400, another domain's 404."""
    code = await site.make_link()
    assert (await site.client.get("/api/v1/urls/unknown1/qr")).status_code == 404
    assert (await site.client.get("/api/v1/urls/a.b/qr")).status_code == 400
    assert (await site.client.get(f"/api/v1/urls/{code}/qr?domain=other.example")).status_code == 404
    assert (await site.client.get(f"/api/v1/urls/{code}/qr?domain=localhost")).status_code == 200
    await site.client.delete(f"/api/v1/urls/{code}")
    assert (await site.client.get(f"/api/v1/urls/{code}/qr")).status_code == 410


async def test_needs_the_scope(closed_site: Site) -> None:
    """A key that may read links may see their pictures; without one it is 401, with too little 403."""
    services = closed_site.services
    made, _ = await services.api_keys.create(1, "writer", frozenset({"links:write", "links:read"}))
    poor, _ = await services.api_keys.create(1, "poor", frozenset({"analytics:read"}))
    closed_site.client.headers["authorization"] = f"Bearer {made}"
    code = await closed_site.make_link()
    path = f"/api/v1/urls/{code}/qr"
    assert (await closed_site.client.get(path)).status_code == 200
    assert (
        await closed_site.client.get(path, headers={"authorization": f"Bearer {poor}"})
    ).status_code == 403
    del closed_site.client.headers["authorization"]
    assert (await closed_site.client.get(path)).status_code == 401


async def test_many_at_once(client: httpx.AsyncClient, site: Site) -> None:
    """A crowd is served a few at a time, or asked to come back; nothing else happens to it."""
    code = await site.make_link()
    paths = [f"/api/v1/urls/{code}/qr?format=png&size={size}" for size in range(300, 400)]
    answers = await asyncio.gather(*(client.get(path) for path in paths))
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= 50
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 503)
