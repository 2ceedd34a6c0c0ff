"""Cutting a stream of bytes into JSON documents: lines, or the elements of one array."""

import codecs
import json
from collections.abc import Iterator
from typing import Protocol

from laconic.web.api.problems import NOT_JSON, TOO_LARGE, Problem

LARGEST_ITEM = 64 * 1024
_TOO_LARGE = Problem(TOO_LARGE, f"One link may take at most {LARGEST_ITEM} bytes.")
_SPACE = " \t\r\n"


class Splitter(Protocol):
    def feed(self, chunk: bytes, *, is_end: bool) -> Iterator[bytes | Problem]:
        """The documents that are whole now. A Problem stands for one that cannot be read."""
        ...


class LineSplitter:
    """NDJSON. Empty lines are passed over; a line that is too long is told once and skipped."""

    def __init__(self) -> None:
        self._rest = b""
        self._is_skipping = False

    def feed(self, chunk: bytes, *, is_end: bool) -> Iterator[bytes | Problem]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if is_end:
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            if self._is_skipping:
                self._is_skipping = False
            elif len(line) > LARGEST_ITEM:
                yield _TOO_LARGE
            elif line.strip():
                yield line
        if len(self._rest) > LARGEST_ITEM:
            if not self._is_skipping:
                yield _TOO_LARGE
            self._is_skipping = True
            self._rest = b""


class ArraySplitter:
    """The elements of a JSON array, each as soon as it is whole. After bad syntax nothing more can be read."""

    def __init__(self) -> None:
        # Bytes that are no UTF-8 come through as they are: the element that has them is refused, and no other.
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._scan = json.JSONDecoder().raw_decode
        self._text = ""
        self._state = "before"

    def feed(self, chunk: bytes, *, is_end: bool) -> Iterator[bytes | Problem]:
        self._text += self._decode(chunk, is_end)
        start = 0
        while self._state != "after":
            start = self._skip_space(start)
            if start == len(self._text):
                break
            step = self._step(start, is_end=is_end)
            if step is None:
                break
            start, item = step
            if item is not None:
                yield item
        self._text = self._text[start:]
        if is_end and self._state != "after":
            self._state = "after"
            yield Problem(NOT_JSON, "The JSON array is not complete.")

    def _skip_space(self, start: int) -> int:
        while start < len(self._text) and self._text[start] in _SPACE:
            start += 1
        return start

    def _step(self, start: int, *, is_end: bool) -> tuple[int, bytes | Problem | None] | None:
        """Reads one token or element; None when more bytes are needed first."""
        character = self._text[start]
        if self._state == "before":
            return self._expect(character == "[", start, "first", "A JSON array begins with [.")
        if self._state == "first" and character == "]":
            return self._expect(True, start, "after", "")
        if self._state == "behind item":
            if character == "]":
                return self._expect(True, start, "after", "")
            return self._expect(character == ",", start, "item", "Elements are separated by commas.")
        return self._read_item(start, is_end=is_end)

    def _expect(
        self, is_there: bool, start: int, then: str, otherwise: str
    ) -> tuple[int, bytes | Problem | None]:
        if is_there:
            self._state = then
            return start + 1, None
        self._state = "after"
        return len(self._text), Problem(NOT_JSON, otherwise)

    def _read_item(self, start: int, *, is_end: bool) -> tuple[int, bytes | Problem | None] | None:
        try:
            _, end = self._scan(self._text, start)
        except (ValueError, RecursionError):
            if not is_end and len(self._text) - start <= LARGEST_ITEM:
                return None
            self._state = "after"
            return len(self._text), Problem(
                NOT_JSON, "An element of the array is not valid JSON, or too large."
            )
        if end == len(self._text) and not is_end:
            # A number may go on in the next chunk; everything else is passed to the caller then.
            return None
        self._state = "behind item"
        item = self._text[start:end].encode("utf-8", "surrogateescape")
        return end, item if len(item) <= LARGEST_ITEM else _TOO_LARGE
