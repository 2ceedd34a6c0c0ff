"""CSV that a spreadsheet takes for text and numbers, never for a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

# What makes a spreadsheet compute a cell (OWASP, CSV injection). User agents and referrers are written by anybody.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def csv_lines(rows: Iterable[Sequence[Any]]) -> str:
    """RFC 4180: lines that end with CR LF. A text that could be a formula gets an apostrophe before it."""
    text = io.StringIO()
    csv.writer(text).writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value.lstrip(" ").startswith(FORMULA_STARTS):
        return "'" + value
    return value
