"""Rules for a link's small fields: title, description, metadata, status."""

import json
from collections.abc import Mapping
from typing import Any

from laconic.errors import ChoiceRefused
from laconic.links.model import LARGEST_METADATA_BYTES, LONGEST_DESCRIPTION, LONGEST_TITLE
from laconic.redirect.model import REDIRECT_STATUSES

_DEEPEST = 16


def check_status(status: int) -> None:
    if status not in REDIRECT_STATUSES:
        raise ChoiceRefused("redirect_status", "The status of a redirect is 301, 302, 307 or 308.")


def check_texts(title: str | None, description: str | None) -> None:
    if title is not None and len(title) > LONGEST_TITLE:
        raise ChoiceRefused("title", f"A title has at most {LONGEST_TITLE} characters.")
    if description is not None and len(description) > LONGEST_DESCRIPTION:
        raise ChoiceRefused("description", f"A description has at most {LONGEST_DESCRIPTION} characters.")
    for field, text in (("title", title), ("description", description)):
        if text is not None:
            check_text(field, text)


def check_text(field: str, text: str) -> None:
    """What no engine can store and give back unchanged is refused (P10)."""
    if "\0" in text:
        raise ChoiceRefused(field, "The character U+0000 is not allowed.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ChoiceRefused(field, "Half of a surrogate pair is not a character.") from None


def metadata_text(metadata: Mapping[str, Any]) -> str:
    """The JSON that is stored for a caller's own data."""
    _check_values(metadata, _DEEPEST)
    try:
        text = json.dumps(metadata, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise ChoiceRefused("metadata", "Numbers must be finite.") from None
    if len(text.encode()) > LARGEST_METADATA_BYTES:
        raise ChoiceRefused("metadata", f"Metadata takes at most {LARGEST_METADATA_BYTES} bytes.")
    return text


def _check_values(value: Any, depth: int) -> None:
    if depth == 0:
        raise ChoiceRefused("metadata", f"Metadata is at most {_DEEPEST} levels deep.")
    if isinstance(value, str):
        check_text("metadata", value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            check_text("metadata", key)
            _check_values(inner, depth - 1)
    elif isinstance(value, list):
        for inner in value:
            _check_values(inner, depth - 1)
