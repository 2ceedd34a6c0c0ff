"""What travels from one installation to another, whatever the source: links, counted days, single clicks."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from laconic.clicks.moved.model import Pair
from laconic.redirect.model import GoneReason


@dataclass(slots=True)
class MovedLink:
    """A link as the source has it. `domain` is None on its shared or only one."""

    place: str
    """Where it stands in the source, for the report: a line, a row."""
    short_code: str
    original_url: str | None
    created_at: int | None
    domain: str | None = None
    updated_at: int | None = None
    expires_at: int | None = None
    title: str | None = None
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    redirect_status: int | None = None
    is_active: bool = True
    is_deleted: bool = False
    gone_reason: GoneReason | None = None
    clicks: int = 0
    bot_clicks: int = 0
    last_clicked_at: int | None = None
    notes: tuple[str, ...] = ()
    """What could not be kept of it, in a few words that can be counted."""


@dataclass(slots=True)
class MovedDay:
    """Counted clicks of a link within one UTC day; see `Portion`."""

    short_code: str
    domain: str | None
    position: int
    day: int
    quarters: dict[int, Pair]
    dimensions: dict[str, dict[str, Pair]]
    visitors: bytes | None = None


@dataclass(slots=True)
class MovedClick:
    """One click of a log, not yet counted; see `RecordedClick`."""

    short_code: str
    domain: str | None
    position: int
    moment: int
    address: str = ""
    user_agent: str = ""
    referrer: str = ""
    country: str = ""
    city: str = ""
    is_bot: bool | None = None


@dataclass(slots=True)
class KeptClick:
    """One click that is counted already, as `click_event` has it."""

    short_code: str
    domain: str | None
    id: int
    clicked_at: int
    values: tuple[Any, ...]
    """Under the columns of `click_event` behind `clicked_at`."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of the source that is no record."""

    place: str
    reason: str
    detail: str


Record = MovedLink | MovedDay | MovedClick | KeptClick | Unreadable


class Source(Protocol):
    """Where records come from. Read twice, it gives the same ones in the same order, and perhaps more behind them."""

    kind: str
    name: str
    """Which one it is: clicks of a source are added once."""

    async def size(self) -> int | None:
        """About how many records it has, where that is known."""
        ...

    def records(self) -> AsyncIterator[Record]: ...

    async def close(self) -> None: ...
