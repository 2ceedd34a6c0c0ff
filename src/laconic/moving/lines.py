"""Laconic's own form of an export: one JSON object a line. docs/moving.md and docs/moving.schema.json describe it."""

import base64
import binascii
import ipaddress
import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from laconic.clicks.moved.model import Pair, Portion
from laconic.clock import DAY, MINUTE, to_rfc3339
from laconic.links.model import Link
from laconic.moving.records import KeptClick, MovedDay, MovedLink, Record
from laconic.moving.times import read_moment

FORMAT = 1

_QUARTER = 15 * MINUTE
_EVENT_FIELDS = ("user_agent", "referer", "country", "city", "device_type", "browser", "os", "language")
_REASONS = (None, "expired", "deleted", "disabled", "taken_down")
_DEVICES = ("desktop", "mobile", "tablet", "bot", "unknown")


def written(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def head_record(source: str, workspace: str, version: str, moment: int) -> dict[str, Any]:
    return {
        "record": "export",
        "format": FORMAT,
        "source": source,
        "workspace": workspace,
        "version": version,
        "exported_at": to_rfc3339(moment),
    }


def link_record(domain: str | None, link: Link, bot_clicks: int) -> dict[str, Any]:
    return {
        "record": "link",
        "domain": domain,
        "short_code": link.short_code,
        "original_url": link.original_url,
        "title": link.title,
        "description": link.description,
        "metadata": json.loads(link.metadata),
        "created_at": to_rfc3339(link.created_at),
        "updated_at": to_rfc3339(link.updated_at),
        "expires_at": _time(link.expires_at),
        "redirect_status": link.redirect_status,
        "is_active": bool(link.is_active),
        "is_deleted": bool(link.is_deleted),
        "gone_reason": link.gone_reason,
        "clicks": link.click_count,
        "bot_clicks": bot_clicks,
        "last_clicked_at": _time(link.last_clicked_at),
    }


def day_record(domain: str | None, code: str, portion: Portion) -> dict[str, Any]:
    return {
        "record": "day",
        "domain": domain,
        "short_code": code,
        "day": date.fromordinal(_DAY_ZERO + portion.day).isoformat(),
        "quarters": {_clock_time(moment): pair for moment, pair in portion.quarters.items()},
        "dimensions": portion.dimensions,
        "visitors": None if portion.visitors is None else base64.b64encode(portion.visitors).decode(),
    }


def read_record(text: str, place: str) -> tuple[str, Any]:
    """Which record a line holds, and what is in it. ValueError: it is none; the text says why."""
    try:
        document = json.loads(text)
    except ValueError:
        raise ValueError("The line is not JSON.") from None
    if not isinstance(document, dict):
        raise ValueError("The line is no JSON object.")
    kind = document.get("record")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        try:
            return str(kind), reader(document, place)
        except (KeyError, TypeError, AttributeError, OverflowError, binascii.Error) as error:
            what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise ValueError(f"The line is no {kind}: {what}.") from None
    if kind in ("export", "end"):
        return str(kind), document
    raise ValueError(f"A record of the kind {str(kind)[:40]!r} is not known.")


def _link(document: dict[str, Any], place: str) -> Record:
    reason = document.get("gone_reason")
    if reason not in _REASONS:
        raise ValueError(f"gone_reason is none of {', '.join(filter(None, _REASONS))}.")
    metadata = document.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise TypeError("metadata is no object")
    return MovedLink(
        place,
        _text(document, "short_code") or "",
        _text(document, "original_url"),
        read_moment(document["created_at"]),
        domain=_text(document, "domain"),
        updated_at=read_moment(document.get("updated_at")),
        expires_at=read_moment(document.get("expires_at")),
        title=_text(document, "title"),
        description=_text(document, "description"),
        metadata=metadata,
        redirect_status=document.get("redirect_status"),
        is_active=bool(document.get("is_active", True)),
        is_deleted=bool(document.get("is_deleted", False)),
        gone_reason=reason,
        clicks=_count(document.get("clicks", 0)),
        bot_clicks=_count(document.get("bot_clicks", 0)),
        last_clicked_at=read_moment(document.get("last_clicked_at")),
    )


def _day(document: dict[str, Any], place: str) -> Record:
    day = date.fromisoformat(document["day"]).toordinal() - _DAY_ZERO
    if day < 0:
        raise ValueError("The day lies before 1970.")
    sketch = _text(document, "visitors")
    return MovedDay(
        _text(document, "short_code") or "",
        _text(document, "domain"),
        day,
        day,
        {day * DAY + _offset(time): _pair(pair) for time, pair in document["quarters"].items()},
        {
            _storable(dimension): {_storable(value): _pair(pair) for value, pair in values.items()}
            for dimension, values in document.get("dimensions", {}).items()
        },
        None if sketch is None else base64.b64decode(sketch, validate=True),
    )


def _click(document: dict[str, Any], place: str) -> Record:
    moment = read_moment(document["clicked_at"])
    if moment is None:
        raise TypeError("clicked_at is empty")
    visitor = _text(document, "visitor")
    texts = [
        None if text is None else _storable(text)
        for text in (_text(document, name) for name in _EVENT_FIELDS)
    ]
    if texts[4] not in _DEVICES:
        raise TypeError(f"device_type is none of {', '.join(_DEVICES)}")
    return KeptClick(
        _text(document, "short_code") or "",
        _text(document, "domain"),
        int(document["id"]),
        moment,
        (_network(document), None if visitor is None else bytes.fromhex(visitor), *texts),
    )


_READERS: dict[str, Callable[[dict[str, Any], str], Record]] = {"link": _link, "day": _day, "click": _click}
_DAY_ZERO = datetime(1970, 1, 1, tzinfo=UTC).toordinal()


def _time(moment: int | None) -> str | None:
    return None if moment is None else to_rfc3339(moment)


def _clock_time(moment: int) -> str:
    minutes = moment % DAY // MINUTE
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def _offset(time: str) -> int:
    hours, _, minutes = time.partition(":")
    offset = (int(hours) * 60 + int(minutes)) * MINUTE
    if not 0 <= offset < DAY or offset % _QUARTER:
        raise ValueError(f"{time!r} is no quarter of an hour.")
    return offset


def _text(document: dict[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} is no text")
    return value


def _storable(text: str) -> str:
    """Checked where no verb of links does."""
    if "\0" in text:
        raise ValueError("The character U+0000 is not allowed.")
    text.encode()
    return text


def _network(document: dict[str, Any]) -> str | None:
    text = _text(document, "ip_address")
    if text is not None:
        ipaddress.ip_interface(text)
    return text


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 62:
        raise TypeError("a count is a whole number from 0 on")
    return value


def _pair(value: Any) -> Pair:
    clicks, bots = value
    return _count(clicks), _count(bots)
