"""Files of rows: any CSV, and what the APIs of Bitly, Shlink, Kutt and YOURLS answer when asked for links."""

import csv
import gzip
import io
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, tzinfo
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from laconic.errors import ChoiceRefused
from laconic.moving.records import MovedLink, Record, Unreadable
from laconic.moving.sources.fields import count_of, cut, text_of
from laconic.moving.sources.guess import FIELDS, guess_columns
from laconic.moving.times import read_moment

_SAMPLE = 200
_SAMPLE_CHARACTERS = 64 * 1024
# A JSON document is read as a whole.
_LARGEST_DOCUMENT = 256 * 1024 * 1024
_LONGEST_CELL = 1024 * 1024

Row = Mapping[str, Any]


class RowFile:
    """See `Source`. `columns` says which column was taken for what."""

    def __init__(
        self, path: Path, *, kind: str, name: str, columns: Mapping[str, str], zone: tzinfo = UTC
    ) -> None:
        """`columns` overrules the guess, field by field."""
        self.kind = kind
        self.name = name
        self._path = path
        self._zone = zone
        with _opened(path) as file:
            sample = [row for _, row in islice(_rows_of(file), _SAMPLE)]
        names = list(dict.fromkeys(chain.from_iterable(sample)))
        unknown = [f"{field}={column}" for field, column in columns.items() if column not in names]
        if unknown or not columns.keys() <= set(FIELDS):
            raise ChoiceRefused(
                "column",
                f"The file has no such column: {', '.join(unknown)}."
                if unknown
                else f"A column is one of {', '.join(FIELDS)}.",
            )
        guessed = guess_columns([name for name in names if name not in columns.values()], sample)
        self.columns = {
            field: column for field in FIELDS if (column := columns.get(field) or guessed.get(field))
        }
        if "url" not in self.columns:
            raise ChoiceRefused(
                "column", "No column looks like the URLs that links lead to. Say which: --column url=NAME"
            )
        if "code" not in self.columns:
            raise ChoiceRefused("column", "No column looks like codes. Say which: --column code=NAME")

    async def size(self) -> int | None:
        return None

    async def records(self) -> AsyncIterator[Record]:
        with _opened(self._path) as file:
            for place, row in _rows_of(file):
                for record in self._links(place, row):
                    yield record

    async def close(self) -> None:
        pass

    def _links(self, place: str, row: Row) -> Iterator[Record]:
        try:
            yield self._link(place, row, code_of(self._value(row, "code")))
            # Bitly gives a link several codes.
            for other in row.get("custom_bitlinks") or ():
                yield self._link(place, row, code_of(text_of(other)))
        except ValueError as error:
            yield Unreadable(place, "malformed", str(error))

    def _link(self, place: str, row: Row, code: str) -> MovedLink:
        title, notes = cut(self._value(row, "title"))
        tags = row.get(self.columns.get("tags", ""))
        listed = tags if isinstance(tags, list) else re.split(r"[|;,]", text_of(tags))
        names = [tag for tag in (text_of(one).strip() for one in listed) if tag]
        return MovedLink(
            place,
            code,
            self._value(row, "url"),
            read_moment(self._value(row, "created"), self._zone),
            domain=self._value(row, "domain").lower() or None,
            expires_at=read_moment(self._value(row, "expires"), self._zone),
            title=title,
            description=self._value(row, "description") or None,
            metadata={"tags": names} if names else {},
            clicks=count_of(self._value(row, "clicks")),
            notes=notes,
        )

    def _value(self, row: Row, field: str) -> str:
        return text_of(row.get(self.columns.get(field, ""))).strip()


def code_of(text: str) -> str:
    """The code of a short URL, with or without its scheme, or the code itself."""
    if "/" not in text:
        return text
    try:
        parts = urlsplit(text if "://" in text else f"//{text.lstrip('/')}")
    except ValueError:
        return text
    return parts.path.strip("/") if parts.netloc and "." in parts.netloc else text.strip("/")


def _opened(path: Path) -> io.TextIOBase:
    with path.open("rb") as file:
        is_compressed = file.read(2) == b"\x1f\x8b"
    # utf-8-sig: spreadsheets write a mark before the first column's name.
    if is_compressed:
        return gzip.open(path, "rt", encoding="utf-8-sig", errors="replace", newline="")
    return path.open(encoding="utf-8-sig", errors="replace", newline="")


def _rows_of(file: io.TextIOBase) -> Iterator[tuple[str, Row]]:
    head = file.read(_SAMPLE_CHARACTERS)
    if head.lstrip()[:1] in ("{", "["):
        return _json_rows(head, file)
    return _csv_rows(head, file)


def _csv_rows(head: str, file: io.TextIOBase) -> Iterator[tuple[str, Row]]:
    csv.field_size_limit(_LONGEST_CELL)
    try:
        dialect: Any = csv.Sniffer().sniff(head.rpartition("\n")[0] or head, ",;\t|")
    except csv.Error:
        dialect = csv.excel
    reader = csv.reader(_lines(head, file), dialect)
    try:
        first = next(reader, [])
        if any(re.match(r"https?://", cell.strip(), re.IGNORECASE) for cell in first):
            names = [f"column{number}" for number in range(1, len(first) + 1)]
            yield "line 1", dict(zip(names, first, strict=True))
        else:
            names = [name.strip() or f"column{number}" for number, name in enumerate(first, 1)]
        for cells in reader:
            if any(cells):
                yield f"line {reader.line_num}", dict(zip(names, cells, strict=False))
    except csv.Error as error:
        raise ChoiceRefused("source", f"Line {reader.line_num} is no CSV: {error}.") from None


def _lines(head: str, file: io.TextIOBase) -> Iterator[str]:
    """The head was read already; its last line may go on."""
    lines = head.splitlines(keepends=True)
    last = lines.pop() if lines else ""
    yield from lines
    yield last + file.readline() if not last.endswith("\n") else last
    yield from file


def _json_rows(head: str, file: io.TextIOBase) -> Iterator[tuple[str, Row]]:
    first = head.lstrip().partition("\n")[0]
    if _is_object(first) and head.lstrip()[len(first) :].strip():
        for number, line in enumerate(_lines(head.lstrip(), file), 1):
            if line.strip():
                yield f"line {number}", _flat(_parsed(line, f"Line {number}"))
        return
    text = head + file.read(_LARGEST_DOCUMENT)
    if len(text) > _LARGEST_DOCUMENT:
        raise ChoiceRefused("source", "The JSON document is too large: write one object a line.")
    for number, row in enumerate(_listed(_parsed(text, "The file")), 1):
        yield f"entry {number}", _flat(row)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _parsed(text: str, what: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise ChoiceRefused("source", f"{what} is no JSON: {error}.") from None


def _listed(document: Any, depth: int = 3) -> list[Any]:
    """The first list of objects in it; YOURLS answers an object of objects."""
    if isinstance(document, list):
        return [one for one in document if isinstance(one, dict)]
    if isinstance(document, dict) and depth:
        values = list(document.values())
        if values and all(isinstance(value, dict) for value in values) and depth < 3:
            return values
        for value in values:
            found = _listed(value, depth - 1)
            if found:
                return found
    return []


def _flat(row: Any, before: str = "") -> dict[str, Any]:
    """Objects inside objects by their path: visitsSummary.total."""
    found: dict[str, Any] = {}
    for name, value in (row if isinstance(row, dict) else {}).items():
        if isinstance(value, dict):
            found |= _flat(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found
