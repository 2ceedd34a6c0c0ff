"""Which column is which: by what it is called, and where that tells nothing, by what is in it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from laconic.moving.sources.fields import count_of, text_of
from laconic.moving.times import read_moment

FIELDS = ("url", "code", "title", "description", "created", "expires", "clicks", "domain", "tags")

# Without spaces, dashes and letter case; the first that is there has it.
_NAMES: dict[str, tuple[str, ...]] = {
    "url": tuple(
        "longurl originalurl original destinationurl destination targeturl target redirecturl redirectto longlink"
        " url location fullurl".split()
    ),
    "code": tuple(
        "shortcode code slug keyword custombackhalf backhalf alias shorturl shortlink bitlink short link address"
        " path id".split()
    ),
    "title": ("title", "name", "label", "linktitle"),
    "description": ("description", "notes", "note", "comment", "comments"),
    "created": tuple(
        "createdat created datecreated creationdate createddate timestamp dateadded date".split()
    ),
    "expires": tuple(
        "expiresat expires validuntil expirein expirationdate expiration expiry expirydate metavaliduntil".split()
    ),
    "clicks": tuple(
        "clicks visitssummarytotal clickcount totalclicks visitcount visitscount visits totalvisits engagements totalengagements"
        " hits views count".split()
    ),
    "domain": ("domain", "host", "hostname"),
    "tags": ("tags", "tag", "labels"),
}
_URL = re.compile(r"https?://\S+", re.IGNORECASE)
_CODE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MOSTLY = 0.8


def guess_columns(names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Field to column. Only `url` is needed; a link without a code is refused later, by its line."""
    found: dict[str, str] = {}
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in reversed(names)}
    for field, known in _NAMES.items():
        for candidate in known:
            column = plain.get(candidate)
            if column is not None and column not in found.values() and _fits(field, column, rows):
                found[field] = column
                break
    for field in ("url", "code", "created", "clicks"):
        if field not in found:
            column = _by_content(field, [name for name in names if name not in found.values()], rows)
            if column is not None:
                found[field] = column
    return found


def _fits(field: str, column: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    """A column that is called so must not hold something else altogether: Bitly's "link" is short, others' long."""
    values = _values(column, rows)
    if not values or field not in ("url", "code", "created", "clicks"):
        return True
    if field == "code":
        return (
            _share(values, lambda text: _URL.match(text) is not None or "/" in text or _is_code(text)) >= 0.5
        )
    return _share(values, _TESTS[field]) >= 0.5


def _by_content(field: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> str | None:
    fitting = []
    for column in columns:
        values = _values(column, rows)
        if values and _share(values, _TESTS[field]) >= _MOSTLY:
            if field == "code" and len(set(values)) < len(values):
                continue
            fitting.append((sum(map(len, values)) / len(values), column))
    if not fitting:
        return None
    # Of several URLs the long one is where a link leads to.
    return max(fitting)[1] if field == "url" else fitting[0][1]


def _values(column: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return [text for text in (text_of(row.get(column)).strip() for row in rows) if text]


def _share(values: Sequence[str], test: Any) -> float:
    return sum(map(bool, map(test, values))) / len(values)


def _is_code(text: str) -> bool:
    return _CODE.fullmatch(text) is not None


def _is_short_url(text: str) -> bool:
    path = re.sub(r"^https?://", "", text, flags=re.IGNORECASE).partition("/")[2]
    return _is_code(text) or (bool(_URL.match(text)) and _is_code(path.strip("/")))


def _is_time(text: str) -> bool:
    try:
        return read_moment(text) is not None
    except ValueError:
        return False


def _is_count(text: str) -> bool:
    try:
        count_of(text)
    except ValueError:
        return False
    return not re.fullmatch(r"\d{9,}", text)


_TESTS = {"url": _URL.match, "code": _is_short_url, "created": _is_time, "clicks": _is_count}
