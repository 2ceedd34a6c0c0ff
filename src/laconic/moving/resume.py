"""Going on with an export that was cut off: what its file has whole, and where the rest begins."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from laconic.clicks.events.model import Place
from laconic.errors import ChoiceRefused
from laconic.moving.times import read_moment


@dataclass(slots=True)
class Written:
    """How much so far."""

    links: int = 0
    days: int = 0
    clicks: int = 0


@dataclass(slots=True)
class Beginning:
    """What is kept of a cut file. Its last link is not: of that one's days some may be missing."""

    head: dict[str, Any]
    size: int
    """Bytes, before any compression."""
    written: Written = field(default_factory=Written)
    link: tuple[str | None, str] | None = None
    """Domain and code of the first link that is to be written again."""
    click: Place | None = None
    """Behind this one the rest begins, and no link is missing."""


def read_beginning(lines: Iterable[bytes]) -> Beginning | None:
    """None where not even the first line is whole. Reads no further than to the first line that is no record."""
    found: Beginning | None = None
    size = 0
    so_far = Written()
    for line in lines:
        record = _record(line)
        kind = record.get("record")
        if found is None:
            if kind != "export":
                return None
            found = Beginning(record, len(line))
        elif kind == "link":
            found.size, found.written = size, replace(so_far)
            found.link = (record.get("domain"), str(record.get("short_code")))
            so_far.links += 1
        elif kind == "day":
            so_far.days += 1
        elif kind == "click":
            so_far.clicks += 1
            found.size, found.written = size + len(line), replace(so_far)
            found.click = _place(record)
        else:
            break
        size += len(line)
    return found


def _record(line: bytes) -> dict[str, Any]:
    """Empty where the line is none: cut off, or never written, as a file may end after a loss of power."""
    try:
        document = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _place(record: dict[str, Any]) -> Place:
    try:
        return Place(read_moment(record["clicked_at"]) or 0, int(record["id"]))
    except (KeyError, TypeError, ValueError):
        raise ChoiceRefused("resume", "The file has a click that this release cannot read.") from None
