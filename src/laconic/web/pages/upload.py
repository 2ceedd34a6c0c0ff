"""Reading a form with a file while it is still on its way: nothing of the file is kept."""

from collections.abc import AsyncIterator
from typing import Any

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from laconic.web.api.problems import TOO_LARGE, WRONG_TYPE, Kind, Problem

_LARGEST_FIELD = 4_096
_MOST_FIELDS = 20
_NOT_A_FORM = Kind(400, "invalid_request", "The form cannot be read")


class Upload:
    """A form whose last field is the file. `fields` are those before it, and there once `begin` has returned."""

    def __init__(self, request: Request) -> None:
        self.fields: dict[str, str] = {}
        self.file_name: str | None = None
        self._stream = request.stream()
        self._parser = MultipartParser(
            _boundary(request),
            {
                "on_part_begin": self._part_begin,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_part_data": self._part_data,
                "on_part_end": self._part_end,
                "on_end": self._end,
            },
        )
        self._headers: dict[bytes, bytes] = {}
        self._header_name = self._header_text = b""
        self._name = ""
        self._text = b""
        self._pieces: list[bytes] = []
        self._has_name = self._is_file = self._is_over = False

    async def begin(self) -> None:
        """Reads as far as the file's first bytes, or to the end of a form that has none."""
        while not self._is_over and not self._is_file and await self._read():
            pass

    async def chunks(self) -> AsyncIterator[bytes]:
        """The file. A form that breaks off raises: half of a file is not a file."""
        while True:
            pieces, self._pieces = self._pieces, []
            for piece in pieces:
                yield piece
            if self._is_over:
                return
            if not await self._read():
                raise Problem(_NOT_A_FORM, "The upload ended early.")

    async def _read(self) -> bool:
        """Takes the next bytes of the request; False when there are none."""
        try:
            async for chunk in self._stream:
                if chunk:
                    self._parser.write(chunk)
                    return True
        except ClientDisconnect:
            pass
        except MultipartParseError:
            raise Problem(_NOT_A_FORM, "The form is not what a browser sends.") from None
        return False

    # What the parser calls.

    def _part_begin(self) -> None:
        self._headers = {}
        self._text = b""
        self._has_name = False

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        _bound(self._header_name)

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_text += data[start:end]
        _bound(self._header_text)

    def _header_end(self) -> None:
        self._headers[self._header_name.lower()] = self._header_text
        self._header_name = self._header_text = b""

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._know_part()
        if self._is_file:
            self._pieces.append(data[start:end])
            return
        self._text += data[start:end]
        _bound(self._text)

    def _part_end(self) -> None:
        self._know_part()
        if self._is_file:
            self._is_over = True
        elif len(self.fields) < _MOST_FIELDS:
            self.fields[self._name] = self._text.decode("utf-8", "replace")

    def _end(self) -> None:
        self._is_over = True

    def _know_part(self) -> None:
        if self._has_name or self._is_over:
            return
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._has_name = True
        self._name = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options:
            self.file_name = options[b"filename"].decode("utf-8", "replace")
            self._is_file = True


def _bound(text: bytes) -> None:
    if len(text) > _LARGEST_FIELD:
        raise Problem(TOO_LARGE, f"A field of this form may have at most {_LARGEST_FIELD} bytes.")


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary: Any = options.get(b"boundary")
    if kind != b"multipart/form-data" or not boundary:
        raise Problem(WRONG_TYPE, "This is the page's own form. Programs send NDJSON to /api/v1/urls/bulk.")
    return bytes(boundary)
