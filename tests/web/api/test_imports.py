"""Bulk creates when something inside fails: every line has its answer all the same."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from laconic.codes.store import CodeStore
from laconic.web.api.imports import ImportOrder, LocalImports, _plain_url
from tests.web.api.opened import Api
from tests.web.api.routes import URLS

NDJSON = {"content-type": "application/x-ndjson"}


async def exhaust_codes(api: Api) -> None:
    await CodeStore(api.services.database).lease("default", 7, 62**7)


@pytest.mark.parametrize("lines", [1, 40, 5_000])
async def test_line_without_a_code_is_told_so(api: Api, lines: int) -> None:
    """503 for each that needs one, in order, however many; those with a custom code are made."""
    await exhaust_codes(api)
    items = [{"original_url": f"https://example.com/{number}"} for number in range(lines)]
    items.append({"original_url": "https://example.com/", "custom_code": "Still1"})
    items.append({"original_url": "nonsense", "custom_code": "Still2"})
    async with api.client() as client:
        body = "\n".join(map(json.dumps, items))
        answer = await asyncio.wait_for(client.post(f"{URLS}/bulk", content=body, headers=NDJSON), 60)
    results = [json.loads(line) for line in answer.text.splitlines()]
    assert [result["line"] for result in results] == list(range(1, lines + 3))
    assert [result["status"] for result in results] == [503] * lines + [201, 400]
    assert {result["code"] for result in results[:lines]} == {"unavailable"}


async def test_stream_that_breaks_off_is_finished_as_far_as_it_came(api: Api) -> None:
    """What was begun is made and told; the error goes to whoever brought the stream."""
    told: list[bytes] = []

    async def chunks() -> AsyncIterator[bytes]:
        yield b'{"original_url":"https://example.com/1"}\n{"original_url":"https://example.com/2"}\n'
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await LocalImports(api.services).run(ImportOrder(1, None, None, "lines"), chunks(), told.append)
    results = [json.loads(line) for line in b"".join(told).splitlines()]
    assert [(result["line"], result["status"]) for result in results] == [(1, 201), (2, 201)]


def test_order_travels_as_bytes() -> None:
    """What one process writes the other reads."""
    order = ImportOrder(7, None, "key ü\x1f", "array")
    assert ImportOrder.from_bytes(order.to_bytes()) == order


_SPACES = st.text(" \t\r\n\v\f\x85\xa0", max_size=1)


@given(
    st.one_of(st.text(), st.sampled_from(['a"b', "a\\u0041b", "\\ud800", "http:\\/\\/a.b\\/", "\x7f"])),
    st.lists(_SPACES, min_size=6, max_size=6),
    st.booleans(),
)
def test_a_line_that_is_only_a_url_is_read_as_json(text: str, spaces: list[str], is_cut: bool) -> None:
    """The short cut for such lines takes nothing that the parser refuses, and reads the same text."""
    parts = ["{", '"original_url"', ":", f'"{text}"', "}"]
    line = "".join(space + part for space, part in zip(spaces, parts, strict=False)) + spaces[-1]
    data = line.encode("utf-8", "surrogatepass")[: -1 if is_cut else None]
    try:
        document = from_json(data)
    except ValueError:
        document = None
    expected = document["original_url"] if isinstance(document, dict) and len(document) == 1 else None
    assert _plain_url(data) == expected
