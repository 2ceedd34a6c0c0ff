"""A request that goes round the framework reads like one of the framework's."""

from typing import Any

from starlette.requests import Request

from laconic.web.api.direct import DirectRequest


async def _receive() -> Any:
    raise AssertionError("nobody asked for the body")


def test_headers_are_those_of_the_framework() -> None:
    """The first of several, any bytes, none that is not there, and all names in any order."""
    headers = [(b"host", b"a.example"), (b"x-api-key", b"one"), (b"x-api-key", b"two"), (b"x-odd", b"\xff")]
    scope = {"type": "http", "method": "POST", "headers": headers}
    direct, framework = DirectRequest(scope, _receive), Request(scope, _receive)
    for name in ("host", "x-api-key", "x-odd", "cookie"):
        assert direct.headers.get(name) == framework.headers.get(name)
        assert (name in direct.headers) == (name in framework.headers)
    assert direct.headers["x-api-key"] == "one"
    assert set(direct.headers) == set(framework.headers)
    assert direct.headers.getlist("x-api-key") == ["one", "two"]
