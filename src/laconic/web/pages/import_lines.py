"""Files that people have, as the lines that a bulk create takes: CSV of any make, and what Laconic itself exports."""

import codecs
import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from laconic.clicks.csv_text import FORMULA_STARTS
from laconic.web.api.problems import NOT_JSON, Problem
from laconic.web.api.streams import LARGEST_ITEM, ArraySplitter, LineSplitter, Splitter

FileForm = Literal["csv", "json"]

# What other shorteners and spreadsheets call our fields.
_NAMES: Final[dict[str, str]] = {
    **dict.fromkeys(
        "original_url url long_url target target_url destination destination_url link".split(), "original_url"
    ),
    **dict.fromkeys(
        "custom_code short_code code alias slug keyword back_half custom_alias".split(), "custom_code"
    ),
    **dict.fromkeys("title name".split(), "title"),
    **dict.fromkeys("description note notes".split(), "description"),
    **dict.fromkeys("expires_at expires expiry expiration expiration_date valid_until".split(), "expires_at"),
    **{name: name for name in "domain redirect_status metadata is_active".split()},
}
# What an export tells and no import can set.
_TOLD: Final = frozenset(
    "id short_url created_at updated_at click_count clicks last_accessed_at last_clicked_at".split()
)
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_LOCAL_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d)?)")


@dataclass(frozen=True, slots=True)
class Wishes:
    """What whoever sends the file wants done with all of its lines."""

    keep_codes: bool = True
    reuse: bool = False
    domain: str | None = None

    def line(self, fields: dict[str, Any]) -> bytes:
        asked = {name: value for name, value in fields.items() if name not in _TOLD}
        if asked.get("is_active") is True:
            del asked["is_active"]
        if not self.keep_codes:
            asked.pop("custom_code", None)
        if self.domain is not None:
            asked["domain"] = self.domain
        if self.reuse and not asked.get("custom_code"):
            asked["reuse"] = True
        return json.dumps(asked, separators=(",", ":")).encode() + b"\n"


class FileReader(Protocol):
    first_row: int
    """The number that the first link's row has for whoever looks at the file."""

    def feed(self, chunk: bytes, *, is_end: bool) -> Iterator[bytes]:
        """Lines of NDJSON, one for each row that is whole now. A row that cannot be read is one that is refused."""
        ...


class JsonFile:
    """One JSON object a line, as exports and the API have it; or an array of them."""

    first_row = 1

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        self._splitter: Splitter | None = None

    def feed(self, chunk: bytes, *, is_end: bool) -> Iterator[bytes]:
        if self._splitter is None:
            chunk = chunk.removeprefix(codecs.BOM_UTF8)
            self._splitter = ArraySplitter() if chunk.lstrip().startswith(b"[") else LineSplitter()
        for line in self._splitter.feed(chunk, is_end=is_end):
            if not isinstance(line, Problem):
                yield self._line(line)
            elif line.kind is NOT_JSON:
                raise line  # of an array that is broken nothing more can be read
            else:
                yield b"null\n"

    def _line(self, line: bytes) -> bytes:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return line.strip() + b"\n"  # whoever makes the links says what is wrong with it
        if not isinstance(fields, dict):
            return line.strip() + b"\n"
        return self._wishes.line({_NAMES.get(str(name), str(name)): value for name, value in fields.items()})


class CsvFile:
    """A table whose first row names its columns; commas, semicolons or tabs, with or without a byte order mark."""

    first_row = 2

    def __init__(self, wishes: Wishes) -> None:
        self._wishes = wishes
        # Bytes that are no UTF-8 come through as they are: the row that has them is refused, and no other.
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape").decode
        self._rest = ""
        self._record = ""
        self._columns: list[str | None] | None = None
        self._delimiter = ","

    def feed(self, chunk: bytes, *, is_end: bool) -> Iterator[bytes]:
        text = self._rest + self._decode(chunk, is_end)
        # Not splitlines: it takes more for an end of line than any writer of CSV does.
        *lines, self._rest = text.split("\n")
        if is_end:
            lines.append(self._rest)
            self._rest = ""
        for line in lines:
            yield from self._take(line, is_end=False)
        if is_end and self._record:
            yield from self._take("", is_end=True)
        if len(self._record) + len(self._rest) > LARGEST_ITEM:
            # A quotation mark that is never closed would swallow the rest of the file.
            self._record = self._rest = ""
            yield b"null\n"

    def _take(self, line: str, *, is_end: bool) -> Iterator[bytes]:
        """A record is whole when its quotation marks are even (RFC 4180, section 2.7)."""
        self._record += line + "\n"
        if self._record.count('"') % 2 and not is_end:
            return
        record, self._record = self._record.strip("\r\n"), ""
        if not record.strip():
            return
        if self._columns is None:
            self._columns = self._read_head(record)
            return
        yield self._line(self._cells(record), self._columns)

    def _read_head(self, record: str) -> list[str | None]:
        self._delimiter = max(",;\t", key=record.count)
        columns = [_NAMES.get(_plain(name)) for name in self._cells(record)]
        if "original_url" not in columns:
            raise Problem(
                NOT_JSON,
                "The first row has to name the columns, and one of them has to be original_url (or url).",
            )
        return columns

    def _cells(self, record: str) -> list[str]:
        return next(csv.reader([record], delimiter=self._delimiter), [])

    def _line(self, cells: Iterable[str], columns: list[str | None]) -> bytes:
        fields: dict[str, Any] = {}
        for name, cell in zip(columns, cells, strict=False):
            text = _bare(cell)
            if name is not None and text and name not in fields:
                fields[name] = _VALUES.get(name, str)(text)
        return self._wishes.line(fields)


FILES: Final[dict[FileForm, type[CsvFile] | type[JsonFile]]] = {"csv": CsvFile, "json": JsonFile}


def form_of(file_name: str) -> FileForm:
    """By its name, as everybody else tells them apart."""
    return "json" if file_name.lower().endswith((".ndjson", ".jsonl", ".json")) else "csv"


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _bare(cell: str) -> str:
    """Without the apostrophe that an export puts before what a spreadsheet would compute."""
    text = cell.strip()
    return text[1:] if text.startswith("'") and text[1:].lstrip(" ").startswith(FORMULA_STARTS) else text


def _moment(text: str) -> str:
    """Days and times without a zone are UTC, as all times of Laconic are."""
    if _DAY.fullmatch(text):
        return f"{text}T00:00:00Z"
    local = _LOCAL_TIME.fullmatch(text)
    if local is None:
        return text
    return f"{local[1]}T{local[2]}{'' if local[2].count(':') == 2 else ':00'}Z"


def _number(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else text


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _choice(text: str) -> bool | str:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
        text.lower(), text
    )


_VALUES: Final[dict[str, Any]] = {
    "expires_at": _moment,
    "redirect_status": _number,
    "metadata": _document,
    "is_active": _choice,
}
