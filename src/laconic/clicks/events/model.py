"""A raw click as it is kept, and its place among all others."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from laconic.clock import LAST_MOMENT, to_rfc3339

COLUMNS = (
    "id",
    "short_link_id",
    "clicked_at",
    "ip_address",
    "visitor_hash",
    "user_agent",
    "referer",
    "country",
    "city",
    "device_type",
    "browser",
    "os",
    "language",
)
# The fields that are shown, in this order, in JSON and CSV alike.
FIELDS = ("id", "short_code", "clicked_at", "visitor", "ip_address", *COLUMNS[5:])

_LARGEST_ID = (1 << 63) - 1
_PLACE = re.compile(r"([0-9]{1,18})-([0-9]{1,19})")


class Place(NamedTuple):
    """Clicks are ordered by their time, and by id where times are the same."""

    clicked_at: int
    id: int

    def __str__(self) -> str:
        return f"{self.clicked_at}-{self.id}"

    @classmethod
    def from_text(cls, text: str) -> "Place | None":
        """What `str` made; None for anything else."""
        found = _PLACE.fullmatch(text)
        place = cls(int(found[1]), int(found[2])) if found else None
        return place if place and place.clicked_at <= LAST_MOMENT and place.id <= _LARGEST_ID else None


BEFORE_ALL = Place(0, 0)
BEHIND_ALL = Place(LAST_MOMENT, _LARGEST_ID)


@dataclass(slots=True)
class ClickEvent:
    """One click. Not frozen: exports make millions."""

    id: int
    short_link_id: int
    clicked_at: int
    ip_address: str | None
    visitor_hash: bytes | None
    user_agent: str | None
    referer: str | None
    country: str | None
    city: str | None
    device_type: str
    browser: str | None
    os: str | None
    language: str | None

    @property
    def place(self) -> Place:
        return Place(self.clicked_at, self.id)

    def values(self, short_code: str) -> tuple[Any, ...]:
        """Under FIELDS."""
        return (
            str(self.id),
            short_code,
            to_rfc3339(self.clicked_at),
            bytes(self.visitor_hash).hex() if self.visitor_hash is not None else None,
            self.ip_address,
            self.user_agent,
            self.referer,
            self.country,
            self.city,
            self.device_type,
            self.browser,
            self.os,
            self.language,
        )

    def document(self, short_code: str) -> dict[str, Any]:
        return dict(zip(FIELDS, self.values(short_code), strict=True))
