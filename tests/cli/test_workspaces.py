"""key create, key list, key revoke."""

import asyncio
import re

import pytest

from laconic.clock import DAY, now, to_rfc3339
from laconic.errors import NotAuthenticated
from laconic.storage.engines import open_database
from laconic.workspaces.api_keys import ApiKeys
from laconic.workspaces.model import DEFAULT_WORKSPACE_ID, Actor
from laconic.workspaces.store import WorkspaceStore
from tests.cli.conftest import Laconic


def authenticate(url: str, secret: str) -> Actor:
    """As a server does that has just been started."""

    async def ask() -> Actor:
        database = await open_database(url)
        try:
            return await ApiKeys(database, WorkspaceStore(database)).authenticate(secret)
        finally:
            await database.close()

    return asyncio.run(ask())


def test_a_key_is_printed_alone_and_opens_the_door(laconic: Laconic, migrated_url: str) -> None:
    """So that KEY=$(laconic key create …) works; the advice stands on standard error."""
    made = laconic("key", "create", "website")
    assert re.fullmatch(r"lac_live_[0-9A-Za-z]{32}", made.line())
    assert "only this once" in made.err
    assert made.line() not in made.err
    actor = authenticate(migrated_url, made.line())
    assert actor.workspace_id == DEFAULT_WORKSPACE_ID
    assert actor.scopes == {"links:read", "links:write"}


def test_a_key_has_the_scopes_and_the_expiry_that_were_asked_for(laconic: Laconic, migrated_url: str) -> None:
    words = ("--scope", "analytics:read", "--scope", "operator", "--expires-in", "90d")
    made = laconic("key", "create", "reports", *words, "--json").json()
    assert made["scopes"] == ["analytics:read", "operator"]
    assert to_rfc3339(now() + 89 * DAY) < made["expires_at"] <= to_rfc3339(now() + 90 * DAY)
    assert authenticate(migrated_url, made["secret"]).scopes == {"analytics:read", "operator"}


def test_keys_are_listed_without_their_secrets(laconic: Laconic) -> None:
    secret = laconic("key", "create", "a name é").line()
    (line,) = laconic("key", "list").out.splitlines()
    prefix, name, state, scopes, created, expires, last_used = line.split("\t")
    assert secret.startswith(prefix)
    assert (name, state, scopes, expires) == ("a name é", "active", "links:read,links:write", "")
    assert last_used == ""
    assert created.endswith("Z")
    shown = laconic("key", "list", "--json")
    assert [item["key_prefix"] for item in shown.json()["items"]] == [prefix]
    assert secret not in line + shown.out


def test_a_revoked_key_opens_nothing(laconic: Laconic, migrated_url: str) -> None:
    """And is told apart in the list. A second time there is nothing to revoke."""
    made = laconic("key", "create", "website", "--json").json()
    assert laconic("key", "revoke", made["key_prefix"]).line() == f"Revoked {made['key_prefix']}."
    with pytest.raises(NotAuthenticated):
        authenticate(migrated_url, made["secret"])
    assert laconic("key", "list").line().split("\t")[2] == "revoked"
    assert laconic("key", "revoke", made["key_prefix"]).status == 1


def test_revoking_for_programs(laconic: Laconic) -> None:
    prefix = laconic("key", "create", "website", "--json").json()["key_prefix"]
    assert laconic("key", "revoke", prefix, "--json").json() == {"revoked": prefix}


def test_no_keys_says_how_to_make_one(laconic: Laconic) -> None:
    shown = laconic("key", "list")
    assert shown.out == ""
    assert "laconic key create NAME" in shown.err
