"""Links as their owner sees them, and what it takes to make or change one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from laconic.clock import DAY, HOUR, LAST_MOMENT, SECOND
from laconic.errors import ChoiceRefused
from laconic.redirect.model import GoneReason, LinkRow, is_expired

LONGEST_TITLE = 500
LONGEST_DESCRIPTION = 5_000
LARGEST_METADATA_BYTES = 16 * 1024
LONGEST_EXPIRY_HOURS = 8_760

_LONGEST_EXPIRY = 100 * 365 * DAY


@dataclass(slots=True)
class Link:
    """A tenant's record: code to original_url, with its settings and dates.

    Not frozen: a frozen one takes three times as long to make, and bulk imports make thirty thousand a second.
    """

    id: int
    workspace_id: int
    domain_id: int
    short_code: str
    original_url: str
    target_url: str | None
    title: str | None
    description: str | None
    metadata: str
    created_at: int
    updated_at: int
    expires_at: int | None
    is_active: bool
    is_deleted: bool
    gone_reason: GoneReason | None
    redirect_status: int
    version: int
    click_count: int = 0
    last_clicked_at: int | None = None

    def is_live(self, moment: int) -> bool:
        return self.is_active and not self.is_deleted and not is_expired(self.expires_at, moment)

    @property
    def is_blanked(self) -> bool:
        """Long gone: where it led is no longer known."""
        return self.original_url is None  # type: ignore[redundant-expr, unused-ignore]

    def row(self) -> LinkRow:
        """What a look-up of it would read."""
        return LinkRow(
            link_id=self.id,
            location=self.target_url or self.original_url,
            redirect_status=self.redirect_status,
            expires_at=self.expires_at,
            is_active=self.is_active,
            is_deleted=self.is_deleted,
            gone_reason=self.gone_reason,
            version=self.version,
        )


@dataclass(slots=True)
class LinkDraft:
    """What a caller asks for; nothing in it has been judged yet but its shape."""

    original_url: str
    custom_code: str | None = None
    expires_in_hours: int | None = None
    expires_in_seconds: int | None = None
    expires_at: int | None = None
    title: str | None = None
    description: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    redirect_status: int | None = None
    reuse: bool | None = None
    # Who asks, where a custom code was taken ahead.
    code_holder: str = ""
    domain_id: int | None = None
    """Null: the workspace's default domain."""


@dataclass(frozen=True, slots=True)
class LinkEdit:
    """New values for a link; a field that is not named in `fields` stays as it is."""

    fields: frozenset[str]
    original_url: str | None = None
    title: str | None = None
    description: str | None = None
    metadata: Mapping[str, Any] | None = None
    expires_at: int | None = None
    is_active: bool | None = None
    redirect_status: int | None = None


@dataclass(slots=True)
class Created:
    """A link that a create gave back; `existing` when it was there before."""

    link: Link
    existing: bool = False


def expiry_of(draft: LinkDraft, moment: int, default_hours: int | None = None) -> int | None:
    """The moment a draft asks for, in whichever of the three ways, or else the workspace's default."""
    if draft.expires_in_hours is draft.expires_in_seconds is draft.expires_at is None:
        return None if default_hours is None else moment + default_hours * HOUR
    asked = [
        name
        for name in ("expires_in_hours", "expires_in_seconds", "expires_at")
        if getattr(draft, name) is not None
    ]
    if len(asked) > 1:
        raise ChoiceRefused(asked[1], f"Only one of {' and '.join(asked)} may be given.")
    if draft.expires_in_hours is not None:
        return moment + draft.expires_in_hours * HOUR
    if draft.expires_in_seconds is not None:
        return moment + min(draft.expires_in_seconds * SECOND, _LONGEST_EXPIRY)
    if draft.expires_at is not None:
        check_expiry(draft.expires_at, moment)
    return draft.expires_at


def check_expiry(expires_at: int, moment: int) -> None:
    if not moment < expires_at <= LAST_MOMENT:
        raise ChoiceRefused("expires_at", "The expiry must lie in the future.")
