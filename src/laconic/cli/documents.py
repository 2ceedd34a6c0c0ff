"""The JSON of links and keys: what the API answers, field by field.

Written again here because importing the API takes half a second; a test holds the two together.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from laconic.clock import SECOND, now, to_rfc3339
from laconic.links.model import Created, Link
from laconic.oversight.model import BlockedHost, Report, Takedown
from laconic.redirect.model import is_expired
from laconic.workspaces.domains.model import DNS_LABEL, HTTP_PATH, Domain
from laconic.workspaces.model import ApiKey, User, Workspace

ShortUrl = Callable[[int, str], str]
"""The short URL of a domain and a code."""


def target_of(link: Link) -> str:
    """Where a visitor is sent."""
    return link.target_url or link.original_url


def state_of(link: Link) -> str:
    """In the words of `list --state`."""
    if link.gone_reason == "expired" or is_expired(link.expires_at, now()):
        return "expired"
    if link.gone_reason == "taken_down":
        return "taken down"
    return "active" if link.is_active else "disabled"


def when(moment: int | None) -> str | None:
    return None if moment is None else to_rfc3339(moment)


def to_the_second(moment: int | None) -> str:
    """For people; empty when there is none."""
    return "" if moment is None else to_rfc3339(moment - moment % SECOND)


def created_document(created: Created, short_url: ShortUrl) -> dict[str, Any]:
    link = created.link
    document = {
        "id": str(link.id),
        "short_code": link.short_code,
        "short_url": short_url(link.domain_id, link.short_code),
        "original_url": link.original_url,
        "created_at": when(link.created_at),
        "expires_at": when(link.expires_at),
        "title": link.title,
        "redirect_status": link.redirect_status,
    }
    return {**document, "existing": True} if created.existing else document


def link_document(link: Link, short_url: ShortUrl) -> dict[str, Any]:
    return {
        "id": str(link.id),
        "short_code": link.short_code,
        "short_url": short_url(link.domain_id, link.short_code),
        "original_url": link.original_url,
        "title": link.title,
        "description": link.description,
        "metadata": json.loads(link.metadata),
        "created_at": when(link.created_at),
        "updated_at": when(link.updated_at),
        "expires_at": when(link.expires_at),
        "is_active": bool(link.is_active),
        "click_count": link.click_count,
        "redirect_status": link.redirect_status,
    }


def domain_document(domain: Domain, default_id: int) -> dict[str, Any]:
    text = domain.proof_text
    proof = {
        "dns": {"name": f"{DNS_LABEL}.{domain.host}", "type": "TXT", "value": text},
        "http": {"url": f"http://{domain.host}{HTTP_PATH}", "body": text},
    }
    return {
        "id": str(domain.id),
        "host": domain.host,
        "is_default": domain.id == default_id,
        "is_shared": domain.is_shared,
        "is_subdomain": domain.is_subdomain,
        "verified_at": when(domain.verified_at),
        "lapsed_at": when(domain.lapsed_at),
        "root_target": domain.root_target,
        "not_found_target": domain.not_found_target,
        "created_at": when(domain.created_at),
        "proof": None if domain.is_served and domain.lapsed_at is None else proof,
    }


def takedown_document(takedown: Takedown, short_url: ShortUrl) -> dict[str, Any]:
    return {
        "short_code": takedown.short_code,
        "short_url": short_url(takedown.domain_id, takedown.short_code),
        "original_url": takedown.original_url,
        "workspace_id": str(takedown.workspace_id),
        "reason": takedown.reason,
        "taken_down_at": when(takedown.created_at),
    }


def block_document(blocked: BlockedHost) -> dict[str, Any]:
    return {
        "host": blocked.host,
        "includes_subdomains": blocked.includes_subdomains,
        "reason": blocked.reason,
        "created_at": when(blocked.created_at),
    }


def report_document(report: Report, short_url: ShortUrl) -> dict[str, Any]:
    return {
        "id": str(report.id),
        "short_code": report.short_code,
        "short_url": short_url(report.domain_id, report.short_code),
        "original_url": report.original_url,
        "target": report.target,
        "workspace_id": str(report.workspace_id),
        "reason": report.reason,
        "message": report.message,
        "contact": report.contact,
        "address": report.address,
        "state": report.state,
        "created_at": when(report.created_at),
        "reviewed_at": when(report.reviewed_at),
    }


def key_document(key: ApiKey) -> dict[str, Any]:
    return {
        "id": str(key.id),
        "name": key.name,
        "key_prefix": key.key_prefix,
        "scopes": sorted(key.scopes),
        "created_by": None if key.created_by is None else str(key.created_by),
        "created_at": when(key.created_at),
        "expires_at": when(key.expires_at),
        "last_used_at": when(key.last_used_at),
        "is_active": key.is_active,
        "replaced_by": None if key.replaced_by is None else str(key.replaced_by),
    }


def workspace_document(workspace: Workspace) -> dict[str, Any]:
    return {
        "id": str(workspace.id),
        "name": workspace.name,
        "slug": workspace.slug,
        "settings": asdict(workspace.settings),
        "created_at": when(workspace.created_at),
        "updated_at": when(workspace.updated_at),
    }


def user_document(user: User) -> dict[str, Any]:
    return {
        "id": str(user.id),
        "email": user.email,
        "full_name": user.full_name,
        "role": user.role,
        "is_operator": user.is_operator,
        "has_password": user.password_hash is not None,
        "created_at": when(user.created_at),
        "updated_at": when(user.updated_at),
        "last_login_at": when(user.last_login_at),
    }
