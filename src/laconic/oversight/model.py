"""What the operator keeps: takedowns, blocked hosts, and what visitors report."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

ReportReason = Literal["phishing", "malware", "spam", "illegal", "other"]
ReportState = Literal["open", "dismissed", "upheld"]
REPORT_REASONS: Final[tuple[ReportReason, ...]] = get_args(ReportReason)

LONGEST_REASON = 500
LONGEST_MESSAGE = 2_000
LONGEST_CONTACT = 254


@dataclass(frozen=True, slots=True)
class Takedown:
    """A link that the operator has taken down, whoever owns it."""

    link_id: int
    workspace_id: int
    domain_id: int
    short_code: str
    original_url: str | None
    reason: str
    created_at: int


@dataclass(frozen=True, slots=True)
class BlockedHost:
    host: str
    includes_subdomains: bool
    reason: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a visitor says about a link. `target` is where it led then, `original_url` where it leads now."""

    id: int
    link_id: int
    workspace_id: int
    domain_id: int
    short_code: str
    original_url: str | None
    reason: ReportReason
    message: str | None
    contact: str | None
    target: str
    address: str | None
    state: ReportState
    created_at: int
    reviewed_at: int | None


@dataclass(frozen=True, slots=True)
class ReportDraft:
    reason: str
    message: str = ""
    contact: str = ""
    address: str = ""
