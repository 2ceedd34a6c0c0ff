"""Domains as their workspace sees them, and what may be one."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from laconic.errors import ChoiceRefused
from laconic.outside.addresses import is_local_name
from laconic.workspaces.model import DEFAULT_DOMAIN_ID

LONGEST_HOST = 253
# RFC 1123, section 2.1, in ASCII. The last label is no number: that would be an address.
_LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
# What makes a text more than a name: the URL parser would read past it.
_BEYOND = re.compile(r"[/\\?#@:%\x00-\x1f]")
_ADDRESS = re.compile(r"(.*\.)?[0-9]+|.*:.*|\[.*")

DNS_LABEL = "_laconic"
HTTP_PATH = "/.well-known/laconic-verify.txt"


@dataclass(frozen=True, slots=True)
class Domain:
    """A host that answers redirects, with its own namespace of codes."""

    id: int
    workspace_id: int | None
    host: str
    is_default: bool
    verified_at: int | None
    root_target: str | None
    not_found_target: str | None
    created_at: int
    proof: str | None
    is_subdomain: bool
    is_deleted: bool
    revision: int = 0
    # The operator has vouched for it: no proof is looked for again.
    is_trusted: bool = False
    # When the proof was last looked for, and since when it is missing.
    checked_at: int | None = None
    lapsed_at: int | None = None

    @property
    def is_shared(self) -> bool:
        return self.id == DEFAULT_DOMAIN_ID

    @property
    def is_served(self) -> bool:
        return self.verified_at is not None and not self.is_deleted

    @property
    def proof_text(self) -> str:
        """What DNS or the host itself has to say."""
        return f"laconic-verify={self.proof}"


@dataclass(frozen=True, slots=True)
class DomainDraft:
    host: str
    root_target: str | None = None
    not_found_target: str | None = None


@dataclass(frozen=True, slots=True)
class DomainEdit:
    """New values for a domain; a field that is not named in `fields` stays as it is."""

    fields: frozenset[str]
    is_default: bool | None = None
    root_target: str | None = None
    not_found_target: str | None = None


def name_of(text: str, canonical: Callable[[str], str]) -> str:
    """The name that somebody wrote, as domains are compared; empty when it cannot be one."""
    name = "" if len(text) > LONGEST_HOST or _BEYOND.search(text) else canonical(text)
    return name if len(name) <= LONGEST_HOST and _NAME.fullmatch(name) else ""


def host_of(text: str, canonical: Callable[[str], str], *, allow_private: bool) -> str:
    """The host that somebody wrote, as browsers send it: ASCII, lower case, without outer dots."""
    host = name_of(text, canonical)
    if not host or _ADDRESS.fullmatch(host):
        raise ChoiceRefused("host", "A domain is a host name such as go.example.com, without port and path.")
    if not allow_private and ("." not in host or is_local_name(host)):
        raise ChoiceRefused("host", f"{host} is a name inside private networks only.")
    return host
