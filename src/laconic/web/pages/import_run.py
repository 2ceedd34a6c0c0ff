"""An import under way: rows in, links made by whoever makes links in bulk, and what has become of the rows so far.

It is told while it goes on: as lines of a page, or, to the page's script, as documents.
"""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from starlette.responses import Response

from laconic import clock
from laconic.errors import LaconicError
from laconic.web.api.bulk import Outbox
from laconic.web.api.imports import ImportOrder, Imports
from laconic.web.pages.import_lines import FileReader
from laconic.web.pages.upload import Upload

_MOST_SHOWN = 200
_TELL_SECONDS = 0.25
# Rows that are rewritten without giving the loop to others: about half a millisecond.
_SLICE = 64
_MADE = re.compile(rb'\{"line":\d+,"status":(200|201),')
_SWITCHED_OFF = "is_active: "


@dataclass(frozen=True, slots=True)
class Refusal:
    """A row that became no link. `row` is its number in the file, as a spreadsheet counts."""

    row: int | None
    words: str


@dataclass(slots=True)
class Report:
    """What has become of the rows so far."""

    first_row: int
    made: int = 0
    existing: int = 0
    refused: int = 0
    bytes_read: int = 0
    problem: str | None = None
    refusals: list[Refusal] = field(default_factory=list)
    _rest: bytes = b""

    @property
    def rows(self) -> int:
        return self.made + self.existing + self.refused

    def take(self, results: bytes) -> None:
        """Result lines as the bulk create gives them, cut anywhere."""
        *lines, self._rest = (self._rest + results).split(b"\n")
        for line in lines:
            quick = _MADE.match(line)
            if quick is not None:
                self._count(int(quick[1]))
            elif line:
                self._judge(json.loads(line))

    def _judge(self, result: dict[str, Any]) -> None:
        if not self._count(result["status"]):
            self.refused += 1
            if len(self.refusals) < _MOST_SHOWN:
                number = result.get("line")
                row = None if number is None else number + self.first_row - 1
                self.refusals.append(Refusal(row, _words(result["detail"])))

    def _count(self, status: int) -> bool:
        self.made += status == 201
        self.existing += status == 200
        return status in (200, 201)


def _words(detail: str) -> str:
    if detail.startswith(_SWITCHED_OFF):
        return "This link is switched off in the file. It was left out: imported links work at once."
    return detail


class Teller(Protocol):
    """How the run is told."""

    media_type: str

    def begin(self) -> bytes: ...

    def progress(self, report: Report) -> bytes: ...

    def end(self, report: Report) -> bytes: ...


class ImportResponse(Response):
    """Reads the file while it answers, which the framework's own streaming response cannot."""

    def __init__(
        self,
        upload: Upload,
        reader: FileReader,
        imports: Imports,
        order: ImportOrder,
        teller: Teller,
        headers: dict[str, str],
    ) -> None:
        super().__init__(headers=headers, media_type=teller.media_type)
        del self.headers["content-length"]
        self._upload = upload
        self._reader = reader
        self._imports = imports
        self._order = order
        self._teller = teller
        self._report = Report(reader.first_row)
        self._tell_at = 0.0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        outbox = Outbox()
        sender = asyncio.create_task(outbox.send_all(send))
        outbox.put(self._teller.begin())

        def take(results: bytes) -> None:
            self._report.take(results)
            if clock.monotonic() >= self._tell_at:
                self._tell_at = clock.monotonic() + _TELL_SECONDS
                outbox.put(self._teller.progress(self._report))

        try:
            await self._imports.run(self._order, self._lines(), take)
            outbox.put(self._teller.end(self._report))
        finally:
            outbox.finish()
            await sender

    async def _lines(self) -> AsyncIterator[bytes]:
        """What is wrong with the file as a whole ends it here, and what was read before is made all the same."""
        try:
            async for chunk in self._upload.chunks():
                self._report.bytes_read += len(chunk)
                async for lines in self._slices(chunk, is_end=False):
                    yield lines
            async for lines in self._slices(b"", is_end=True):
                yield lines
        except LaconicError as error:
            self._report.problem = str(error)

    async def _slices(self, chunk: bytes, *, is_end: bool) -> AsyncIterator[bytes]:
        lines: list[bytes] = []
        for line in self._reader.feed(chunk, is_end=is_end):
            lines.append(line)
            if len(lines) == _SLICE:
                yield b"".join(lines)
                lines = []
                await asyncio.sleep(0)
        if lines:
            yield b"".join(lines)
