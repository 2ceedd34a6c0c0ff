"""What an import has done, or would do: numbers, and a line for everything that is not simply taken in."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from laconic.moving.records import MovedLink, Unreadable

_MOST_LINES = 1_000


@dataclass(slots=True)
class Report:
    """`tell` is given every line; the first of them are kept, too."""

    tell: Callable[[dict[str, Any]], None] = lambda _: None
    links: Counter[str] = field(default_factory=Counter)
    """By what became of them: added, present, differs, changed, conflict, refused."""
    clicks_added: int = 0
    """By so many the totals have grown."""
    clicks_dated: int = 0
    raw_clicks: int = 0
    clicks_without_link: int = 0
    """Of links that were not taken in, or that the source does not know itself."""
    unreadable: int = 0
    is_cut_short: bool = False
    """The file ends before its end."""
    clicks_left_alone: bool = False
    """The file comes from this very installation, which has these clicks."""
    notes: Counter[str] = field(default_factory=Counter)
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Was everything taken in?"""
        missing = self.links["conflict"] + self.links["refused"] + self.unreadable
        return not missing and not self.is_cut_short

    def note_link(
        self, link: MovedLink, what: str, reason: str, detail: str, fields: tuple[str, ...]
    ) -> None:
        self.links[what] += 1
        self.notes.update(link.notes)
        if what != "present" and (what != "added" or link.notes):
            self._line(
                {
                    "place": link.place,
                    "domain": link.domain,
                    "short_code": link.short_code,
                    "original_url": link.original_url,
                    "what": what,
                    "reason": reason or None,
                    "detail": detail or None,
                    "fields": list(fields),
                    "notes": list(link.notes),
                }
            )

    def note_unreadable(self, record: Unreadable) -> None:
        self.unreadable += 1
        self._line(
            {"place": record.place, "what": "unreadable", "reason": record.reason, "detail": record.detail}
        )

    def document(self) -> dict[str, Any]:
        names = ("added", "present", "differs", "changed", "conflict", "refused")
        return {
            "links": {name: self.links[name] for name in names},
            "clicks": {
                "added": self.clicks_added,
                "dated": self.clicks_dated,
                "raw": self.raw_clicks,
                "without_link": self.clicks_without_link,
                "left_alone": self.clicks_left_alone,
            },
            "unreadable": self.unreadable,
            "cut_short": self.is_cut_short,
            "notes": dict(self.notes),
            "lines": self.lines,
        }

    def _line(self, line: dict[str, Any]) -> None:
        self.tell(line)
        if len(self.lines) < _MOST_LINES:
            self.lines.append(line)
