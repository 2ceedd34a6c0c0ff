"""Times as other programs write them."""

import re
from datetime import UTC, datetime, tzinfo
from typing import Any

from laconic.clock import LAST_MOMENT, SECOND, from_datetime

# +00 and +0000 for +00:00, as databases write it.
_SHORT_ZONE = re.compile(r"(?<=\d)([+-]\d{2})(\d{2})?$")
_FRACTION = re.compile(r"\.(\d+)")
# Seconds since 1970 have ten digits for the next 260 years, milliseconds thirteen.
_MOST_SECONDS = 99_999_999_999
_FORMATS = (
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d",
    "%b %d, %Y",
    "%B %d, %Y",
    "%d %b %Y",
)


def read_moment(value: Any, zone: tzinfo = UTC) -> int | None:
    """A moment; None for none, such as MySQL's 0000-00-00. ValueError: this is no time.

    `zone` is that of times which do not name one.
    """
    if value is None or value == "" or str(value).startswith("0000-00-00"):
        return None
    if isinstance(value, bool):
        raise ValueError("no time")
    text = str(value).strip()
    if re.fullmatch(r"\d{9,14}(\.\d+)?", text):
        number = float(text)
        moment = int(number * (SECOND if number <= _MOST_SECONDS else SECOND // 1000))
    else:
        moment = from_datetime(_parsed(text, zone))
    if not 0 <= moment <= LAST_MOMENT:
        raise ValueError("the time lies outside what can be stored")
    return moment


def _parsed(text: str, zone: tzinfo) -> datetime:
    text = text.removesuffix(" UTC").removesuffix(" GMT")
    iso = _FRACTION.sub(lambda match: f".{match[1][:6]:0<6}", text)
    if re.match(r"\d{4}-\d{2}-\d{2}[T ]", iso):
        iso = _SHORT_ZONE.sub(lambda match: f"{match[1]}:{match[2] or '00'}", iso)
    try:
        found = datetime.fromisoformat(iso)
    except ValueError:
        found = _in_some_format(text)
    return found if found.tzinfo else found.replace(tzinfo=zone)


def _in_some_format(text: str) -> datetime:
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007
        except ValueError:
            continue
    raise ValueError(f"{text[:40]!r} is no time")
