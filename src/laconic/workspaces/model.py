"""Tenants, and who is calling."""

from dataclasses import dataclass

# Made by the first migration: they exist in every installation.
DEFAULT_WORKSPACE_ID = 1
DEFAULT_DOMAIN_ID = 1

LINKS_READ = "links:read"
LINKS_WRITE = "links:write"
# Implied by links:write. Alone it is what anyone has where LACONIC_OPEN is set; no key can hold it.
LINKS_CREATE = "links:create"
ANALYTICS_READ = "analytics:read"
KEYS_ALLOCATE = "keys:allocate"
ADMIN = "admin"
OPERATOR = "operator"
SCOPES = frozenset({LINKS_READ, LINKS_WRITE, ANALYTICS_READ, KEYS_ALLOCATE, ADMIN, OPERATOR})
TENANT_SCOPES = SCOPES - {OPERATOR}


@dataclass(frozen=True, slots=True)
class Actor:
    """Whoever a request acts for."""

    workspace_id: int
    scopes: frozenset[str]
    user_id: int | None = None
    api_key_id: int | None = None

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
        return scope in self.scopes or (ADMIN in self.scopes and scope in TENANT_SCOPES)


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
