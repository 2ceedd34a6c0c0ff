"""What the routes of workspaces, people and keys share: ids, moments and pages."""

import re

from laconic.clock import to_rfc3339
from laconic.errors import ChoiceRefused, RecordUnknown
from laconic.ids import LARGEST_ID

_ID = re.compile("[0-9]{1,19}")


def parse_id(text: str, kind: str) -> int:
    """What cannot be an id is an id that nobody has."""
    if not _ID.fullmatch(text) or int(text) > LARGEST_ID:
        raise RecordUnknown(kind)
    return int(text)


def parse_cursor(text: str | None) -> int:
    if text is None:
        return 0
    if not _ID.fullmatch(text) or int(text) > LARGEST_ID:
        raise ChoiceRefused("cursor", "This is no cursor of ours.")
    return int(text)


def moment_text(moment: int | None) -> str | None:
    return None if moment is None else to_rfc3339(moment)
