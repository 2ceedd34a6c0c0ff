"""Reading a form with a file while it arrives, wherever its bytes are cut."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from starlette.requests import Request

from laconic.web.api.problems import Problem
from laconic.web.pages.upload import Upload


def request_of(body: bytes, content_type: str, size: int = 1_000_000) -> Request:
    pieces = [body[start : start + size] for start in range(0, len(body), size)] or [b""]

    async def receive() -> dict[str, Any]:
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    headers = [(b"content-type", content_type.encode())]
    return Request({"type": "http", "method": "POST", "path": "/", "headers": headers}, receive)


def form(fields: dict[str, str], file: tuple[str, bytes] | None) -> tuple[bytes, str]:
    """As a client writes it."""
    parts: dict[str, Any] = {name: (None, value) for name, value in fields.items()}
    if file is not None:
        parts["file"] = file
    sent = httpx.Request("POST", "http://localhost/", files=parts)
    return sent.read(), sent.headers["content-type"]


async def content_of(upload: Upload) -> bytes:
    chunks: AsyncIterator[bytes] = upload.chunks()
    return b"".join([chunk async for chunk in chunks])


@pytest.mark.parametrize("size", [1, 3, 64, 1_000_000])
async def test_a_file_comes_out_as_it_went_in(size: int) -> None:
    """With the fields before it known before its first byte; line ends and what looks like an edge are its own."""
    content = bytes(range(256)) + b"\r\n--not the edge\r\n--"
    upload = Upload(request_of(*form({"token": "t", "codes": "ü"}, ("a.csv", content)), size))
    await upload.begin()
    assert upload.fields == {"token": "t", "codes": "ü"}
    assert upload.file_name == "a.csv"
    assert await content_of(upload) == content


async def test_a_form_without_a_file_has_none() -> None:
    """It ends, and nothing is read."""
    upload = Upload(request_of(*form({"token": "t"}, None)))
    await upload.begin()
    assert (upload.file_name, await content_of(upload)) == (None, b"")


async def test_half_a_file_is_not_a_file() -> None:
    """A form that breaks off is told, after what came."""
    body, content_type = form({"token": "t"}, ("a.csv", b"x" * 100))
    upload = Upload(request_of(body[:-60], content_type))
    await upload.begin()
    with pytest.raises(Problem, match="ended early"):
        await content_of(upload)


@pytest.mark.parametrize(
    "field", [b'name="token"\r\n\r\n' + b"x" * 9_000, b'name="' + b"x" * 9_000 + b'"\r\n\r\n']
)
async def test_a_field_is_bounded(field: bytes) -> None:
    """Only the file may be long: nothing else is kept in memory without end."""
    body = b"--edge\r\nContent-Disposition: form-data; " + field + b"\r\n--edge--\r\n"
    upload = Upload(request_of(body, "multipart/form-data; boundary=edge"))
    # The parser has a bound of its own for names.
    with pytest.raises(Problem, match=r"at most|not what a browser sends"):
        await upload.begin()


@pytest.mark.parametrize(
    "content_type", ["text/plain", "multipart/form-data", "", "multipart/form-data; boundary="]
)
async def test_another_kind_of_body_is_refused(content_type: str) -> None:
    """415 before anything is read."""
    with pytest.raises(Problem, match="own form"):
        Upload(request_of(b"", content_type))


async def test_nonsense_is_refused() -> None:
    """What no browser sends."""
    upload = Upload(request_of(b"nonsense without an edge", "multipart/form-data; boundary=edge"))
    with pytest.raises(Problem, match="not what a browser sends"):
        await upload.begin()
