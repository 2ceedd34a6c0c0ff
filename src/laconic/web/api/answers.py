"""How the API answers: JSON that no cache keeps."""

from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

from laconic.web.api.problems import SECURITY_HEADERS

API_HEADERS = {**SECURITY_HEADERS, "cache-control": "no-store"}
_HEAD = [
    *((name.encode(), value.encode()) for name, value in API_HEADERS.items()),
    (b"content-type", b"application/json"),
]


class _JsonResponse(Response):
    """Its head is known, so it is not made of text each time."""

    def __init__(self, body: bytes, status: int) -> None:
        self.status_code = status
        self.background = None
        self.body = body
        self.raw_headers = [*_HEAD, (b"content-length", b"%d" % len(body))]


def json_response(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    if headers is None:
        return _JsonResponse(to_json(document), status)
    return Response(to_json(document), status, {**API_HEADERS, **headers}, media_type="application/json")
