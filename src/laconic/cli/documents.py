"""The JSON of links and keys: what the API answers, field by field.

Written again here because importing the API takes half a second; a test holds the two together.
"""

import json
from dataclasses import asdict
from typing import Any

from laconic.clock import SECOND, now, to_rfc3339
from laconic.links.model import Created, Link
from laconic.redirect.model import is_expired
from laconic.workspaces.model import ApiKey, User, Workspace


def short_url(link: Link, base_url: str) -> str:
    return f"{base_url}/{link.short_code}"


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


def created_document(created: Created, base_url: str) -> dict[str, Any]:
    link = created.link
    document = {
        "id": str(link.id),
        "short_code": link.short_code,
        "short_url": short_url(link, base_url),
        "original_url": link.original_url,
        "created_at": when(link.created_at),
        "expires_at": when(link.expires_at),
        "title": link.title,
        "redirect_status": link.redirect_status,
    }
    return {**document, "existing": True} if created.existing else document


def link_document(link: Link, base_url: str) -> dict[str, Any]:
    return {
        "id": str(link.id),
        "short_code": link.short_code,
        "short_url": short_url(link, base_url),
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
