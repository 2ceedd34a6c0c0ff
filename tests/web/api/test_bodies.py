"""Bodies are bounded before they are whole, and an early end is told from a bad one."""

from typing import Any

import pytest
from starlette.requests import Request

from laconic.web.api.bodies import read_body
from laconic.web.api.problems import NOT_JSON, TOO_LARGE, Problem

_LIMIT = 10


def request(*messages: dict[str, Any], length: int | None = None) -> Request:
    """One whose body comes in these messages; to ask for one more than there are is an error."""
    waiting = iter(messages)

    async def receive() -> Any:
        return next(waiting)

    headers = [] if length is None else [(b"content-length", b"%d" % length)]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


def piece(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


async def test_pieces_are_put_together() -> None:
    """As many as come, up to the limit itself."""
    assert await read_body(request(piece(b"12345", more=True), piece(b"67890")), _LIMIT) == b"1234567890"
    assert await read_body(request({"type": "http.request"}), _LIMIT) == b""


async def test_who_says_that_it_is_too_large_need_not_send_it() -> None:
    """Nothing is waited for: with "Expect: 100-continue" nothing would come."""
    with pytest.raises(Problem) as raised:
        await read_body(request(length=_LIMIT + 1), _LIMIT)
    assert raised.value.kind is TOO_LARGE


async def test_what_grows_too_large_is_not_read_on() -> None:
    """The second piece is one byte too many, and the third is never asked for."""
    with pytest.raises(Problem) as raised:
        await read_body(request(piece(b"12345", more=True), piece(b"678901", more=True)), _LIMIT)
    assert raised.value.kind is TOO_LARGE


async def test_a_client_that_leaves_has_sent_no_body() -> None:
    """Half of a body is never taken for a whole one."""
    with pytest.raises(Problem) as raised:
        await read_body(request(piece(b"12345", more=True), {"type": "http.disconnect"}), _LIMIT)
    assert raised.value.kind is NOT_JSON
