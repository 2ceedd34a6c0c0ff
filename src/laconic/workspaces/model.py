"""Tenants, and who is calling."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from laconic.clicks.keeping import PrivacyLevel
from laconic.errors import ChoiceRefused

# Made by the first migration: they exist in every installation.
DEFAULT_WORKSPACE_ID = 1
DEFAULT_DOMAIN_ID = 1

LINKS_READ = "links:read"
LINKS_WRITE = "links:write"
# Implied by links:write. Alone it is what anyone has where LACONIC_OPEN is set; no key can hold it.
LINKS_CREATE = "links:create"
# Of people: to manage the API keys that they themselves have made. No key can hold it; `admin` implies it.
OWN_KEYS = "keys:own"
ANALYTICS_READ = "analytics:read"
KEYS_ALLOCATE = "keys:allocate"
ADMIN = "admin"
OPERATOR = "operator"
SCOPES = frozenset({LINKS_READ, LINKS_WRITE, ANALYTICS_READ, KEYS_ALLOCATE, ADMIN, OPERATOR})
TENANT_SCOPES = SCOPES - {OPERATOR}


Role = Literal["admin", "member", "viewer"]
ROLES: Final[tuple[Role, ...]] = ("admin", "member", "viewer")
SCOPES_OF_ROLE: Final[Mapping[str, frozenset[str]]] = {
    "admin": TENANT_SCOPES | {OWN_KEYS},
    "member": frozenset({LINKS_READ, LINKS_WRITE, ANALYTICS_READ, OWN_KEYS}),
    "viewer": frozenset({LINKS_READ, ANALYTICS_READ}),
}

# What audit_event.actor_kind says.
ActorKind = Literal["user", "api_key", "open", "anyone", "command", "system", "operator"]


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever a request acts for, and where it came from."""

    workspace_id: int
    scopes: frozenset[str]
    user_id: int | None = None
    api_key_id: int | None = None
    kind: ActorKind = "open"
    address: str | None = None
    session_id: int | None = None

    @property
    def code_holder(self) -> str:
        """The name under which this caller takes codes ahead; empty for those who cannot."""
        if self.api_key_id is not None:
            return f"key:{self.api_key_id}"
        if self.user_id is not None:
            return f"user:{self.user_id}"
        return "open" if KEYS_ALLOCATE in self.scopes else ""

    def may(self, scope: str) -> bool:
        if scope == LINKS_CREATE and self.may(LINKS_WRITE):
            return True
        return scope in self.scopes or (ADMIN in self.scopes and scope in _TENANT)

    @property
    def id(self) -> int | None:
        """Of the user or the key, whichever it is."""
        return self.api_key_id if self.kind == "api_key" else self.user_id

    @property
    def is_named(self) -> bool:
        """Is there somebody whom an audit trail can name?"""
        return self.kind not in ("open", "anyone")


_TENANT: Final = TENANT_SCOPES | {OWN_KEYS}


def command_actor(workspace_id: int) -> Actor:
    """Whoever has a shell on the server."""
    return Actor(workspace_id, TENANT_SCOPES | {OPERATOR, OWN_KEYS}, kind="command")


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: int
    workspace_id: int
    name: str
    key_prefix: str
    scopes: frozenset[str]
    created_by: int | None
    created_at: int
    expires_at: int | None
    is_active: bool
    last_used_at: int | None = None
    replaced_by: int | None = None


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """A workspace's choices. None: as the installation has it."""

    deterministic: bool = False
    redirect_status: int | None = None
    expires_in_hours: int | None = None
    click_retention_days: int | None = None
    privacy: PrivacyLevel | None = None

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "WorkspaceSettings":
        """Of a row; what another release has added is left alone."""
        return cls(**{name: value for name, value in stored.items() if name in cls.__dataclass_fields__})


@dataclass(frozen=True, slots=True)
class Workspace:
    id: int
    name: str
    slug: str
    created_at: int
    updated_at: int
    settings: WorkspaceSettings = field(default_factory=WorkspaceSettings)
    is_deleted: bool = False


@dataclass(frozen=True, slots=True)
class User:
    """A person in a workspace. `password_hash` is None for those who come through the identity provider."""

    id: int
    workspace_id: int
    email: str
    full_name: str | None
    role: Role
    is_operator: bool
    created_at: int
    updated_at: int
    last_login_at: int | None
    password_hash: str | None = field(default=None, repr=False)

    @property
    def scopes(self) -> frozenset[str]:
        scopes = SCOPES_OF_ROLE[self.role]
        return scopes | {OPERATOR} if self.is_operator else scopes


@dataclass(frozen=True, slots=True)
class Session:
    """A signed-in browser."""

    id: int
    workspace_id: int
    user_id: int
    created_at: int
    expires_at: int
    last_seen_at: int | None
    rotated_at: int
    address: str | None
    user_agent: str | None


@dataclass(frozen=True, slots=True)
class Invitation:
    """A link that makes whoever opens it a user, once."""

    id: int
    workspace_id: int
    email: str | None
    role: Role
    is_setup: bool
    created_by: int | None
    created_at: int
    expires_at: int
    used_at: int | None


_SLUG = re.compile("[a-z0-9][a-z0-9-]*[a-z0-9]")
_LONGEST_SLUG = 63
# As the schema has it: one @, no white space. Whether a mailbox is there only a letter could tell.
_EMAIL = re.compile(r"[^@\s\x00]+@[^@\s\x00]+")
_LONGEST_EMAIL = 254
LONGEST_NAME = 200
SHORTEST_PASSWORD = 10
# Longer ones cost time and add nothing.
LONGEST_PASSWORD = 1_000


def check_slug(slug: str) -> str:
    if not _SLUG.fullmatch(slug) or len(slug) > _LONGEST_SLUG:
        raise ChoiceRefused(
            "slug", "A slug has 2 to 63 small letters, digits and hyphens, and no hyphen at either end."
        )
    return slug


def check_email(email: str) -> str:
    email = email.strip()
    if not _EMAIL.fullmatch(email) or len(email) > _LONGEST_EMAIL or not email.isprintable():
        raise ChoiceRefused("email", "This is no e-mail address.")
    return email


def check_name(name: str, field_name: str = "name") -> str:
    name = name.strip()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ChoiceRefused(field_name, f"A name has 1 to {LONGEST_NAME} printable characters.")
    return name


def check_password(password: str) -> str:
    """By length alone, as NIST SP 800-63B, section 3.1.1.2, advises."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise ChoiceRefused("password", f"A password has at least {SHORTEST_PASSWORD} characters.")
    return password
