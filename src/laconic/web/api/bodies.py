"""Reading a request's body: bounded, of the right type, of the right shape."""

import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from laconic.web.api.problems import NOT_JSON, TOO_LARGE, WRONG_SHAPE, WRONG_TYPE, Problem

M = TypeVar("M", bound=BaseModel)

LARGEST_BODY = 256 * 1024
_MOST_ERRORS = 20
# What the parser says of half of a surrogate pair, and of nothing else.
_LONE_SURROGATE = re.compile("lone leading surrogate|unexpected end of hex escape")


def media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def require_json(request: Request) -> None:
    """A page on another site cannot send this type without asking first, so open mode rests on it."""
    if media_type(request) != "application/json":
        raise Problem(WRONG_TYPE, "Send the body as Content-Type: application/json.")


async def read_body(request: Request, limit: int = LARGEST_BODY) -> bytes:
    # Who says so beforehand need not send it: with "Expect: 100-continue" nothing of it ever comes.
    if int(request.headers.get("content-length", 0)) > limit:
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    goes_on = True
    while goes_on:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise Problem(NOT_JSON, "The body ended early.")
        chunks.append(message.get("body", b""))
        size += len(chunks[-1])
        if size > limit:
            raise _too_large(limit)
        goes_on = message.get("more_body", False)
    return b"".join(chunks)


def _too_large(limit: int) -> Problem:
    return Problem(TOO_LARGE, f"The body may have at most {limit} bytes.")


async def read_model(request: Request, model: type[M]) -> M:
    require_json(request)
    return model_from_json(model, await read_body(request))


async def read_asked(request: Request, model: type[M]) -> tuple[M, bytes]:
    """The same, with the bytes: what must be the same when an Idempotency-Key comes again."""
    require_json(request)
    body = await read_body(request)
    return model_from_json(model, body), body


def model_from_json(model: type[M], body: bytes) -> M:
    """Strict: a number in quotes is not a number, and a field nobody knows is a mistake worth telling."""
    try:
        return model.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise problem_of(error) from None


def problem_of(error: ValidationError) -> Problem:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    if found and found[0]["type"] == "json_invalid":
        reason = found[0]["msg"].removeprefix("Invalid JSON: ")
        if _LONE_SURROGATE.match(reason):
            # RFC 8259, section 8.2: the grammar allows it, and it is no character all the same (P10).
            return Problem(WRONG_SHAPE, f"Half of a surrogate pair is not a character ({reason}).")
        return Problem(NOT_JSON, reason.capitalize() + ".")
    listed = [_told(one) for one in found[:_MOST_ERRORS]]
    detail = "; ".join(
        f"{one['field']}: {one['detail']}" if one["field"] else one["detail"] for one in listed[:3]
    )
    return Problem(WRONG_SHAPE, detail + ".", listed)


def _told(one: Any) -> dict[str, str]:
    field = ".".join(str(part) for part in one["loc"])[:100]
    return {"field": field, "detail": one["msg"]}
