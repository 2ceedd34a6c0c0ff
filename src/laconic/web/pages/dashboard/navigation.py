"""What the dashboard's navigation offers, and to whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from laconic.workspaces.model import ADMIN, ANALYTICS_READ, LINKS_READ, OPERATOR, OWN_KEYS, Actor

HOME: Final = "/dashboard"
SIGN_IN: Final = "/dashboard/sign-in"


@dataclass(frozen=True, slots=True)
class Section:
    """A page of the navigation; `name` is what a page says it belongs to. Only those with the scope see it."""

    name: str
    label: str
    path: str
    icon: str
    scope: str


_GROUPS: Final[Mapping[str, Sequence[Section]]] = {
    "Workspace": (
        Section("overview", "Overview", HOME, "chart", ANALYTICS_READ),
        Section("links", "Links", "/dashboard/links", "link", LINKS_READ),
        Section("transfer", "Import and export", "/dashboard/transfer", "transfer", LINKS_READ),
        Section("domains", "Domains", "/dashboard/domains", "globe", LINKS_READ),
        Section("members", "Members", "/dashboard/members", "people", ADMIN),
        Section("keys", "API keys", "/dashboard/keys", "key", OWN_KEYS),
        Section("audit", "Audit trail", "/dashboard/audit", "clock", ADMIN),
        Section("settings", "Settings", "/dashboard/settings", "sliders", ADMIN),
    ),
    "Operator": (
        Section("health", "Health", "/dashboard/operator", "pulse", OPERATOR),
        Section("codes", "Code pool", "/dashboard/operator/codes", "grid", OPERATOR),
        Section("cleanup", "Clean-up", "/dashboard/operator/cleanup", "broom", OPERATOR),
        Section("takedowns", "Takedowns", "/dashboard/operator/takedowns", "shield", OPERATOR),
        Section("reports", "Reports", "/dashboard/operator/reports", "flag", OPERATOR),
        Section("blocked", "Blocked hosts", "/dashboard/operator/blocked", "stop", OPERATOR),
        Section("workspaces", "Workspaces", "/dashboard/operator/workspaces", "boxes", OPERATOR),
    ),
}


def navigation_for(actor: Actor) -> dict[str, list[Section]]:
    """The groups that hold something for this caller."""
    groups = {
        title: [section for section in sections if actor.may(section.scope)]
        for title, sections in _GROUPS.items()
    }
    return {title: sections for title, sections in groups.items() if sections}
